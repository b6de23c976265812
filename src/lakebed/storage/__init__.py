"""Bytes: how files are read, written once, listed and deleted on every store."""
