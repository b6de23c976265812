"""What a table says of itself, as tables: snapshots, files, partitions ... (`t$snapshots`)."""
