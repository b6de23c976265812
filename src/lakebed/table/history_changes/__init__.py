"""Branches that are made, renamed, deleted and fast-forwarded, and tables that are rolled back."""
