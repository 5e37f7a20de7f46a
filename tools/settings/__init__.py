"""Settings, and where each value comes from."""
