"""From a snapshot and a condition to splits."""
