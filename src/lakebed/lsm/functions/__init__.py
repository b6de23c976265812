"""The aggregate functions of merge engines, each over a whole section at once."""
