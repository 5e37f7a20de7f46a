"""What a maintainer looks at before approving: one packet for each change."""
