"""What the bytes mean: the codecs of the on-disk format."""
