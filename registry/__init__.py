"""A registry of signed server power measurements and the models made from them."""

__version__ = "0.1.0"
