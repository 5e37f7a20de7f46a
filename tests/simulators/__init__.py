"""Stand-ins for what the project meets outside: registries, machines, services."""
