"""Statements that make a table of another."""
