"""Statements that change what a table is: its columns, options, name, partitions."""
