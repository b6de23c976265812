"""BinaryRow, the row of keys, partitions and bounds."""
