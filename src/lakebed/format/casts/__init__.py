"""What a value becomes when its column changed its type: the casts of Paimon's Java readers.

They are not SQL's: an integer that does not fit wraps, a DECIMAL that does not fit is null.
"""
