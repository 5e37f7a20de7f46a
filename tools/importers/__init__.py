"""Turns measurements that others published or saved into bundles of this registry."""
