"""What of a machine disturbs measurements, read and never changed."""
