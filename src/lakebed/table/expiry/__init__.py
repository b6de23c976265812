"""Snapshots that expire, and the files that go with them."""
