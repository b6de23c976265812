"""Which deletion vector belongs to which data file of a snapshot (format.md 12, 13)?

The index manifest lists the vectors by bucket and data file; they are joined to the entries of a
plan as columns, without an object a file.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import CorruptTableError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowChunks, python_values
from lakebed.format.deletion_vector import DeletionVectorRef
from lakebed.format.index_manifest import deletion_vector_columns
from lakebed.format.manifest import ArrowField
from lakebed.format.manifest_file import read_index_manifest
from lakebed.storage.file_io import FileIO
from lakebed.table.metadata.index_paths import IndexPaths

__all__ = [
    "DV_COLUMNS",
    "attach_deletion_vectors",
    "deletion_vector_refs",
    "deletion_vectors_of",
    "read_deletion_vectors",
]

_FIELDS: list[ArrowField] = [
    pa.field("dv_path", pa.string()),
    pa.field("dv_offset", pa.int64()),
    pa.field("dv_length", pa.int64()),
    pa.field("dv_cardinality", pa.int64()),
]
DV_COLUMNS = pa.schema(_FIELDS)
"""What `attach_deletion_vectors` adds; all null where a file has no vector, and the last also where
the writer did not say."""

_IDENTITY = (("partition", "partition"), ("bucket", "bucket"), ("file_name", "data_file_name"))


def read_deletion_vectors(
    file_io: FileIO,
    index_manifest: str,
    *,
    paths: IndexPaths,
) -> pa.Table:
    """The deletion vectors of a snapshot, as `index_manifest.DELETION_VECTOR_COLUMNS` and `path`.

    Args:
        file_io: The store.
        index_manifest: Its name, as the snapshot has it.
        paths: Where index files lie.

    Raises:
        CorruptTableError: The file is no index manifest, or gives a data file two vectors.
        NotFoundError: It is missing.
        UnsupportedError: It is of another version.
    """
    source = paths.paths.manifest(index_manifest)
    return deletion_vectors_of(read_index_manifest(file_io, source), source=source, paths=paths)


def deletion_vectors_of(listed: pa.Table, *, source: str, paths: IndexPaths) -> pa.Table:
    """The deletion vectors among the index files of a snapshot, as above.

    Args:
        listed: As `index_manifest.INDEX_COLUMNS`.
        source: The index manifest, for messages.
        paths: Where index files lie.

    Raises:
        CorruptTableError: A data file has two vectors.
    """
    vectors = deletion_vector_columns(listed)
    _check_one_vector_a_file(vectors, source)
    return vectors.append_column("path", paths.of_columns(vectors))


def attach_deletion_vectors(entries: pa.Table, vectors: pa.Table) -> pa.Table:
    """The entries with `DV_COLUMNS`: where the deletion vector of each data file stands.

    Args:
        entries: Live entries, as `format.manifest.ENTRY_COLUMNS`.
        vectors: From `read_deletion_vectors`; those of files that are not among the entries are
            left out.
    """
    found: ArrowChunks = pc.index_in(
        pa.array(_codes(entries, vectors, side=0)),
        value_set=pa.array(_codes(vectors, vectors, side=1)),
    )
    for name in DV_COLUMNS.names:
        column = vectors[name.removeprefix("dv_")].combine_chunks().take(found)
        entries = entries.append_column(DV_COLUMNS.field(name), column)
    return entries


def deletion_vector_refs(entries: pa.Table) -> list[DeletionVectorRef | None]:
    """What `SplitFile.deletion_vector` of each entry is, of entries with `DV_COLUMNS`."""
    columns = [python_values(entries[name]) for name in DV_COLUMNS.names]
    return [
        None
        if path is None
        else DeletionVectorRef(path=path, offset=offset, length=length, cardinality=cardinality)
        for path, offset, length, cardinality in zip(*columns, strict=True)
    ]


def _codes(rows: pa.Table, vectors: pa.Table, *, side: int) -> npt.NDArray[np.int64]:
    """A number for each (partition, bucket, data file) that has a vector; -1 for all others."""
    codes = np.zeros(rows.num_rows, dtype=np.int64)
    known = np.ones(rows.num_rows, dtype=np.bool_)
    for names in _IDENTITY:
        distinct = pc.unique(vectors[names[1]])
        index = pc.fill_null(pc.index_in(rows[names[side]], value_set=distinct), -1).to_numpy()
        codes = codes * max(len(distinct), 1) + index
        known &= index >= 0
    return np.where(known, codes, -1)


def _check_one_vector_a_file(vectors: pa.Table, source: str) -> None:
    codes = _codes(vectors, vectors, side=1)
    distinct, counts = np.unique(codes, return_counts=True)
    if len(distinct) < len(codes):
        position = int(np.flatnonzero(codes == distinct[counts > 1][0])[0])
        name = vectors["data_file_name"][position].as_py()
        raise CorruptTableError(source, f"data file {name} has two deletion vectors")
