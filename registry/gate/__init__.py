"""What a change must pass before it may enter the registry."""
