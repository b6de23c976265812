"""Statements about views and functions, which a catalog on a file system does not store."""
