"""Published networks layer by layer, at any input size, with random weights."""
