"""Eviction of models from bounded memory, simulated on a load plan."""
