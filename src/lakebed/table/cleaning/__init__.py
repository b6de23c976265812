"""Files that nobody names, and names whose files are lost."""
