"""Looks after the repository on GitHub: its settings, its keys, what it published."""
