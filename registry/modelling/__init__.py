"""From verified bundles to power models with honest errors."""
