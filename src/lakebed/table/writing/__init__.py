"""From rows to files, and from files to a snapshot."""
