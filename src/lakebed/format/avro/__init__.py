"""Avro: manifests, and data files."""
