"""How data files of any format are opened: the one place that knows which formats there are.

The format of a file is its extension and nothing else: the files of one table may differ, by
`file.format.per.level` or because the option was changed. Text files bear the extension of their
codec behind that of their format (`.csv.zst`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo

import pyarrow as pa

from lakebed.errors import UnsupportedError
from lakebed.format.avro.rows import avro_shape, read_avro, stream_avro
from lakebed.format.file_rows import FileShape, Mask, check_columns, check_row_count
from lakebed.format.orc.read import orc_shape, read_orc, stream_orc
from lakebed.format.orc.timestamps import LtzStorage
from lakebed.format.packed_changelog import unpacked
from lakebed.format.parquet.read import parquet_shape, read_parquet, stream_parquet
from lakebed.format.text.csv import read_csv
from lakebed.format.text.json import read_json
from lakebed.format.text.values import TEXT_CODECS
from lakebed.format.time_zone import time_zone_name
from lakebed.format.types import DataField
from lakebed.options.values import parse_boolean
from lakebed.storage.file_io import FileIO

__all__ = ["FileOrigin", "file_shape", "read_file", "stream_file"]

_LTZ_KEY = "orc.timestamp-ltz.legacy.type"
_SHAPES = {"avro": avro_shape, "orc": orc_shape, "parquet": parquet_shape}
_TEXTS = {"csv": read_csv, "json": read_json}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOrigin:
    """What some files do not say of themselves.

    Attributes:
        fields: All columns of the schema that wrote the file, in order; text files need them.
        options: Options of the table: `csv.*`, `json.*`, `orc.*`.
        time_zone: Where local times of text and ORC files become instants.
    """

    fields: Sequence[DataField] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    time_zone: tzinfo = UTC

    @property
    def ltz(self) -> LtzStorage:
        """How ORC files keep TIMESTAMP_LTZ values."""
        return LtzStorage(
            is_legacy=parse_boolean(self.options.get(_LTZ_KEY, "true"), _LTZ_KEY),
            local_zone=time_zone_name(self.time_zone),
        )


_UNKNOWN = FileOrigin()


def read_file(
    file_io: FileIO,
    path: str,
    *,
    schema: pa.Schema,
    row_count: int | None = None,
    keep: Mask | None = None,
    use_threads: bool = False,
    origin: FileOrigin = _UNKNOWN,
) -> pa.Table:
    """The rows of a data file.

    Args:
        file_io: The store.
        path: The file; its extension is its format.
        schema: The columns wanted, at least one, by the file's own names, in the types wanted.
        row_count: Rows that the file must have; None where that is not known.
        keep: Which rows are wanted; None for all.
        use_threads: Whether decoding may use more than the calling thread, where it can.
        origin: What the file does not say of itself.

    Raises:
        CorruptTableError: The bytes are not what the name, the schema and the count promise.
        UnsupportedError: A format, a codec or a type that Lakebed does not read.
        NotFoundError: The file is missing.
    """
    file_io, path = unpacked(file_io, path)
    match _format_of(path):
        case "avro":
            return read_avro(file_io, path, schema=schema, row_count=row_count, keep=keep)
        case "orc":
            return read_orc(
                file_io, path, schema=schema, row_count=row_count, keep=keep, ltz=origin.ltz
            )
        case "parquet":
            return read_parquet(
                file_io,
                path,
                schema=schema,
                row_count=row_count,
                keep=keep,
                use_threads=use_threads,
            )
        case _:
            rows = _read_text(file_io, path, schema=schema, row_count=row_count, origin=origin)
            return rows if keep is None else rows.filter(pa.array(keep))


def stream_file(
    file_io: FileIO,
    path: str,
    *,
    schema: pa.Schema,
    row_count: int | None = None,
    batch_rows: int,
    origin: FileOrigin = _UNKNOWN,
) -> Iterator[pa.Table]:
    """The rows of a data file, at most `batch_rows` at a time; else as `read_file`.

    A text file is decoded whole before its first rows come.
    """
    file_io, path = unpacked(file_io, path)
    match _format_of(path):
        case "avro":
            yield from stream_avro(
                file_io, path, schema=schema, row_count=row_count, batch_rows=batch_rows
            )
        case "orc":
            yield from stream_orc(
                file_io,
                path,
                schema=schema,
                row_count=row_count,
                batch_rows=batch_rows,
                ltz=origin.ltz,
            )
        case "parquet":
            yield from stream_parquet(
                file_io, path, schema=schema, row_count=row_count, batch_rows=batch_rows
            )
        case _:
            rows = _read_text(file_io, path, schema=schema, row_count=row_count, origin=origin)
            for start in range(0, rows.num_rows, batch_rows):
                yield rows.slice(start, batch_rows)


def file_shape(
    file_io: FileIO, path: str, *, columns: list[str], row_count: int | None = None
) -> FileShape:
    """Rows and uncompressed bytes of some columns, without decoding any.

    Args:
        file_io: The store.
        path: The file.
        columns: Names in the file.
        row_count: What the manifest says, for text files, which do not say it themselves.
    """
    file_io, path = unpacked(file_io, path)
    kind = _format_of(path)
    if kind in _TEXTS:
        return FileShape(row_count or 0, file_io.size(path))
    return _SHAPES[kind](file_io, path, columns=columns)


def _read_text(
    file_io: FileIO, path: str, *, schema: pa.Schema, row_count: int | None, origin: FileOrigin
) -> pa.Table:
    read = _TEXTS[_format_of(path)]
    rows = read(
        file_io, path, fields=origin.fields, options=origin.options, time_zone=origin.time_zone
    )
    check_row_count(rows.num_rows, path, row_count)
    check_columns(rows.schema.names, path, schema)
    return rows.select(schema.names)


def _format_of(path: str) -> str:
    name = path.rsplit("/", 1)[-1].lower()
    stem, _, extension = name.rpartition(".")
    if extension in TEXT_CODECS:
        extension = stem.rpartition(".")[2]
    if extension not in _SHAPES and extension not in _TEXTS:
        raise UnsupportedError(
            f"{path}: data files of format {extension!r} cannot be read yet, only "
            f"{', '.join(sorted({*_SHAPES, *_TEXTS}))}"
        )
    return extension
