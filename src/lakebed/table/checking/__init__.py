"""Whether all that a table says of itself is so."""
