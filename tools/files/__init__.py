"""Files that the kit writes, each whole or not at all."""
