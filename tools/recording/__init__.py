"""Sources and counters read together at a steady pace."""
