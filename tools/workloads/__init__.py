"""Workloads that come with the kit, and large models made to measure."""
