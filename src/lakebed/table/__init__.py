"""One table over time: snapshots, scan, read, write, commit."""
