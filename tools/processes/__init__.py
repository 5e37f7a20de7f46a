"""Programs that the kit starts, limits in time, and ends with all they started."""
