"""Experiments: commands run, repeated and compared, with all that was observed."""
