"""What other tools recorded, as Chrome trace events."""
