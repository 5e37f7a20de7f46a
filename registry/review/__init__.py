"""The packet that a maintainer reads before approving a change."""
