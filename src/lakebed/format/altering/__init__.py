"""How a schema becomes the next one: what can be changed, and what may not be."""
