"""One bucket: its sorted runs and sections, the merge kernel, the write buffer."""
