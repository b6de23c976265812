"""Statements that change rows: UPDATE, DELETE, MERGE."""
