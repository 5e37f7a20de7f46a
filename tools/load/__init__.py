"""Load on a system under test: what is asked for, when, and how long it took."""
