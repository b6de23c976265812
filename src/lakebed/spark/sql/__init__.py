"""SQL text: what it names, what of it Lakebed runs, and what goes to Spark as it came."""
