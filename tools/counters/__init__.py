"""Counters of use: processor time, memory, processes."""
