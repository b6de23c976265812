"""Partitions that expire, and partitions that are done."""
