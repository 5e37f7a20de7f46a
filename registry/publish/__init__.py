"""From models to release folders that the clients of Kepler load."""
