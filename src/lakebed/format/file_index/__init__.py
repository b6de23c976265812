"""Indexes that a writer made over the columns of one data file (format.md 14)."""
