"""How do rows become an Avro data file, block by block (format.md 5, 11)?"""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.avro.container import BlockWriter
from lakebed.format.avro.encode import encode_records, offsets_of
from lakebed.format.avro.write_schema import avro_schema_text
from lakebed.format.data_file_settings import DataFileSettings
from lakebed.format.fitted_rows import fitted
from lakebed.format.types import DataField

__all__ = ["AvroWriter", "check_writable"]

# The format's own writers close a block there.
_BLOCK_BYTES = 64_000
# Rows are encoded in parts of about this size, so that little is held beside them.
_PART_BYTES = 2 << 20


def check_writable(fields: Sequence[DataField]) -> None:
    """Refuses columns that Avro files of the format cannot have.

    Raises:
        UnsupportedError: Names the column and what to use.
    """
    avro_schema_text(fields)


class AvroWriter:
    """Writes one file."""

    def __init__(
        self, sink: pa.NativeFile, fields: Sequence[DataField], settings: DataFileSettings
    ) -> None:
        """Writes nothing yet.

        Args:
            sink: Where the bytes go; whoever opened it closes it.
            fields: The columns of the file.
            settings: How to encode.

        Raises:
            UnsupportedError: A type or a compression that Avro files cannot have.
        """
        self._fields = tuple(fields)
        self._schema = to_arrow_schema(fields)
        self._blocks = BlockWriter(
            sink,
            avro_schema_text(fields),
            compression=settings.compression,
            level=settings.zstd_level,
        )

    def write(self, rows: pa.Table) -> None:
        """Appends rows as blocks of their own.

        Raises:
            InvalidDataError: A null where the type takes none.
        """
        for part in _parts(fitted(rows, self._schema)):
            for batch in part.combine_chunks().to_batches():
                self._write_batch(batch)

    def close(self) -> None:
        """Ends the file."""
        self._blocks.close()

    def _write_batch(self, batch: pa.RecordBatch) -> None:
        encoded = encode_records(batch, self._fields)
        offsets = offsets_of(encoded)
        records = memoryview(encoded.buffers()[2] or b"")
        start = 0
        while start < batch.num_rows:
            full = int(offsets.searchsorted(offsets[start] + _BLOCK_BYTES))
            end = min(max(full, start + 1), batch.num_rows)
            self._blocks.write(end - start, records[offsets[start] : offsets[end]])
            start = end


def _parts(rows: pa.Table) -> Iterator[pa.Table]:
    if rows.num_rows <= 1 or rows.nbytes <= _PART_BYTES:
        yield rows
        return
    middle = rows.num_rows // 2
    yield from _parts(rows.slice(0, middle))
    yield from _parts(rows.slice(middle))
