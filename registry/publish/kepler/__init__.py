"""Models in the exact forms that Kepler's own clients load, and in no other."""
