"""The three kinds of fit: nonnegative linear, monotone trees, monotone power curve."""
