"""A table's snapshots, schemas, tags and manifests, and what is live in them."""
