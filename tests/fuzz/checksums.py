"""Which bytes of a file the format guards, so that a change of one must not pass for data.

Found with as little of Lakebed as it takes: a reader that forgets a checksum must not make the
bytes unguarded here, too.
"""

import re

import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.specimens import Files, kind_of
from lakebed.format.avro.codec import read_records
from lakebed.format.parquet.thrift_compact import read_struct_at

_SYNC_LENGTH = 16
_SNAPPY = re.compile(rb"avro\.codec\x0csnappy")


def guarded_bytes(files: Files, path: str) -> list[range]:
    """The guarded ranges of bytes of a file of a table."""
    data = files[path]
    kind = kind_of(path)
    if kind.startswith("parquet"):
        return _parquet_pages(data)
    if kind == "index":
        return _deletion_vectors(files, path.rsplit("/", 1)[-1])
    if data.startswith(b"Obj\x01"):
        return _avro_frame(data)
    return []


def _parquet_pages(data: bytes) -> list[range]:
    """The pages that have a checksum, without their headers."""
    ranges = []
    metadata = pq.ParquetFile(pa.BufferReader(data)).metadata
    for group in range(metadata.num_row_groups):
        for index in range(metadata.num_columns):
            column = metadata.row_group(group).column(index)
            starts = [column.dictionary_page_offset, column.data_page_offset]
            position = min(start for start in starts if start)
            end = position + column.total_compressed_size
            while position < end:
                header, start = read_struct_at(data, position)
                numbers = {field.number: field.value for field in header}
                size = numbers[3]
                assert isinstance(size, int)
                position = start + (size >> 1)
                if 4 in numbers:
                    ranges.append(range(start, position))
    return ranges


def _deletion_vectors(files: Files, name: str) -> list[range]:
    """The vectors that a manifest knows, with size and checksum."""
    ranges = []
    for path, data in files.items():
        if kind_of(path) != "index manifest":
            continue
        for record in read_records(data, path):
            vectors = record["_DELETIONS_VECTORS_RANGES"]
            if record["_FILE_NAME"] == name and isinstance(vectors, list):
                ranges += [range(each["f1"], each["f1"] + each["f2"] + 8) for each in vectors]
    return ranges


def _avro_frame(data: bytes) -> list[range]:
    """Magic and sync markers; of snappy the blocks, too, which end in a checksum."""
    sync = data[-_SYNC_LENGTH:]
    places = [match.start() for match in re.finditer(re.escape(sync), data)]
    if _SNAPPY.search(data):
        return [range(4), range(places[0], len(data))]
    return [range(4), *(range(place, place + _SYNC_LENGTH) for place in places)]


def header_length(data: bytes) -> int | None:
    """Where the header of an Avro file ends: what is cut there is a whole file of no records."""
    if not data.startswith(b"Obj\x01"):
        return None
    return data.index(data[-_SYNC_LENGTH:]) + _SYNC_LENGTH
