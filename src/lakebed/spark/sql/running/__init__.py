"""Statements that run others."""
