"""A table as a stream: what is there, and then each change, once and in order."""
