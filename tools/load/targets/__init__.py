"""Systems under test that load can be run on: programs, web services, functions."""
