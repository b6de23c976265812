"""Compaction of a table: which buckets, what becomes of their files, and the commit of that."""
