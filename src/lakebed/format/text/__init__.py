"""CSV and JSON data files."""
