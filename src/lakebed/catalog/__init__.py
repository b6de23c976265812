"""Where tables are found by name."""
