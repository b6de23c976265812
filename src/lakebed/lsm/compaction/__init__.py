"""What of a bucket is compacted, and how: policies over what the manifests say of its files.

Picking is of values alone: no file is opened, and the time comes in as an argument. `rewriting`
makes the rows of what was picked.
"""
