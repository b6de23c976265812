"""Conditions: their text, their meaning for rows, and for bounds of rows."""
