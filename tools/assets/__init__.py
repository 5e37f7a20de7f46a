"""Models, data and results that are fetched and published by digest."""
