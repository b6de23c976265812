"""Which options decide what rows and files of a table are, and are not acted on?"""

from lakebed.options.option import BOTH, WRITING, Option
from lakebed.options.rows import promises, refused

# Rows would be merged otherwise, by a reader as by a writer.
_MERGING_OTHERWISE = refused(
    "fields.<f>.default-value | text | | what older versions read for null", changes=BOTH
) + refused(
    """
    sequence.snapshot-ordering | boolean | false | whether the snapshot id orders a key's rows
    primary-key.nullable | boolean | false | whether key columns may be null
    pk-clustering-override | boolean | false | whether files are sorted by other columns
    """,
    changes=BOTH,
    immutable=True,
)

# The incoming rows would be understood otherwise; what is stored reads the same.
_ROW_KINDS = refused(
    "write.sequence-number-init-mode | scan/snapshot | scan | where a writer's numbers begin",
    changes=WRITING,
)

# Another branch has other rows.
_BRANCH = refused("branch | text | main | the branch that is read and written", changes=BOTH)

# Files would lie elsewhere than where other writers put them; a reader finds them.
_PLACES = refused(
    """
    data-file.external-paths | text | | other places for data files
    data-file.external-paths.specific-fs | text | | the file system of those places
    data-file.external-paths.strategy \
| none/specific-fs/round-robin/entropy-inject/weight-robin | none | how a place is chosen
    data-file.external-paths.weights | text | | how often each place is chosen
    """,
    changes=WRITING,
) + refused(
    """
    data-file.path-directory | text | | the directory below the table that holds partitions
    index-file-in-data-file-dir | boolean | false | whether index files lie beside data files
    """,
    changes=WRITING,
    immutable=True,
)

_FILES = refused(
    """
    file.suffix.include.compression | boolean | false | whether file names show the compression
    manifest.delete-file-drop-stats | boolean | false | whether entries of deletes lose statistics
    fields.<f>.map.storage-layout | text | default | how a map is laid out in files
    fields.<f>.map.shared-shredding.max-columns | integer | | how many columns a map is spread over
    variant.shreddingSchema parquet.variant.shreddingSchema | text | | columns cut out of variants
    variant.inferShreddingSchema | boolean | false | whether such columns are inferred
    """,
    changes=WRITING,
)

# Written by whoever makes the files; a missing row of the index would be a missing row found.
_KEY_INDEXES = refused(
    """
    pk-bitmap.index.columns | names | | columns with a bitmap index in each bucket
    pk-btree.index.columns | names | | columns with a B-tree index in each bucket
    pk-full-text.index.columns | names | | columns with a full-text index in each bucket
    pk-multivalue.index.columns | names | | array columns with an index in each bucket
    pk-vector.index.columns | names | | vector columns with an index in each bucket
    """,
    changes=WRITING,
)

# Columns stored apart, or partial files joined by row id.
_DATA_EVOLUTION = refused(
    """
    data-evolution.enabled | boolean | false | whether files of some columns are joined by row id
    blob-field | names | | columns stored as blobs
    blob-descriptor-field blob.stored-descriptor-fields | names | | blobs stored as descriptors
    blob-view-field | names | | blobs that refer to rows of another table
    """,
    changes=BOTH,
    immutable=True,
)
_APART = refused(
    """
    vector-field | names | | columns stored as vectors
    vector.file.format | text | | the format of files of vectors
    chain-table.enabled | boolean | false | whether branches are read as one chain
    chain-table.chain-partition-keys | names | | the partition columns of the chain
    """,
    changes=BOTH,
)

# Another system keeps a copy of the metadata, which a commit without it would leave behind.
_ICEBERG = refused(
    "metadata.iceberg.storage | word | disabled | where Iceberg metadata is kept",
    changes=WRITING,
) + promises("metadata.iceberg.* | text | | how Iceberg metadata is kept")

DATA: tuple[Option, ...] = (
    *_MERGING_OTHERWISE,
    *_ROW_KINDS,
    *_BRANCH,
    *_PLACES,
    *_FILES,
    *_KEY_INDEXES,
    *_DATA_EVOLUTION,
    *_APART,
    *_ICEBERG,
)
