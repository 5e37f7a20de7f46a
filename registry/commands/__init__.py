"""Subcommands of `registry`, one subject a file: parse, call, print."""
