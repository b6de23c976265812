"""Statistics of columns: as manifests keep them, and as writers make them."""
