"""The kit of a contributor: measure, import, pack, sign and check a bundle."""
