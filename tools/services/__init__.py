"""A server under test: built, started, watched and stopped."""
