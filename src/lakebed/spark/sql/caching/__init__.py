"""Statements that have Spark keep rows, and let go of them."""
