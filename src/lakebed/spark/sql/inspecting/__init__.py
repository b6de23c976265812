"""Statements that tell what is there."""
