"""What the subcommands of `powerkit` do, between parsing and printing."""
