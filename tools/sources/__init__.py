"""Energy sources: what each meter reads, raw, with its unit and its limits."""
