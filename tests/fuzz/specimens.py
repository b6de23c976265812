"""The tables that are damaged: small golden ones, which together have every kind of file.

What no golden table has is made here from what one has: a consumer, changelogs that outlive their
snapshots, and data files of codecs that the real engine was not told to use.
"""

import io
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

import pyarrow as pa
from pyarrow import orc

from lakebed.format.avro.container import encode_long, read_container

DATABASE = Path(__file__).resolve().parent.parent / "golden" / "warehouse" / "db.db"

Files = dict[str, bytes]
OrcCodec = Literal["ZLIB", "LZ4"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Specimen:
    """A table to damage.

    Attributes:
        name: What it is called in a report.
        golden: The golden table that it is made of.
        change: What it has that the golden table has not.
    """

    name: str
    golden: str
    change: Callable[[Files], Files] = field(default=lambda files: files)

    @property
    def files(self) -> Mapping[str, bytes]:
        """Contents by path in the table."""
        return _files(self)

    @property
    def branches(self) -> list[str]:
        """Names of the branches."""
        found = {path.split("/")[1] for path in self.files if path.startswith("branch/")}
        return sorted(name.removeprefix("branch-") for name in found)


@cache
def _files(specimen: Specimen) -> Files:
    root = DATABASE / specimen.golden
    found = sorted(path for path in root.rglob("*") if path.is_file())
    return specimen.change({str(path.relative_to(root)): path.read_bytes() for path in found})


def kind_of(path: str) -> str:
    """Which kind of file stands at a path in a table."""
    *directories, name = path.split("/")
    place = "branch's " if directories[0] == "branch" else ""
    extension = name.rsplit(".", 1)[-1] if "." in name else ""
    if extension == "index":
        return "file index"
    if extension:
        return f"{extension} {'changelog' if name.startswith('changelog') else 'data'}"
    if name in {"LATEST", "EARLIEST"}:
        return f"{place}hint"
    for prefix in ("manifest-list", "index-manifest"):
        if name.startswith(prefix):
            return prefix.replace("-", " ")
    return place + directories[-1]


def _with_consumer(files: Files) -> Files:
    return files | {"consumer/consumer-reader": b'{\n  "nextSnapshot" : 4\n}'}


def _with_expired_snapshots(files: Files) -> Files:
    kept = {"changelog/EARLIEST": b"1", "changelog/LATEST": b"3", "snapshot/EARLIEST": b"4"}
    moved = {f"snapshot/snapshot-{each}": f"changelog/changelog-{each}" for each in (1, 2, 3)}
    return {moved.get(path, path): data for path, data in files.items()} | kept


def _with_avro_codecs(files: Files) -> Files:
    codecs = iter((("deflate", _deflated), ("null", bytes), ("snappy", _snapped)))
    return {
        path: _avro(data, *next(codecs)) if path.endswith(".avro") else data
        for path, data in files.items()
    }


def _avro(data: bytes, codec: str, compress: Callable[[bytes], bytes]) -> bytes:
    container = read_container(data, "")
    (records,) = container.blocks
    sync = bytes(range(16))
    texts = (b"avro.schema", container.schema.encode(), b"avro.codec", codec.encode())
    members = b"".join(encode_long(len(text)) + text for text in texts)
    block = compress(records)
    sizes = encode_long(container.count) + encode_long(len(block))
    return b"Obj\x01" + encode_long(2) + members + b"\x00" + sync + sizes + block + sync


def _deflated(records: bytes) -> bytes:
    return zlib.compress(records, wbits=-zlib.MAX_WBITS)


def _snapped(records: bytes) -> bytes:
    packed: bytes = pa.compress(records, codec="snappy", asbytes=True)
    return packed + zlib.crc32(records).to_bytes(4, "big")


def _with_orc_codecs(files: Files) -> Files:
    codecs: Iterator[OrcCodec] = iter(("ZLIB", "LZ4"))
    return {
        path: _orc(data, next(codecs)) if path.endswith(".orc") else data
        for path, data in files.items()
    }


def _orc(data: bytes, codec: OrcCodec) -> bytes:
    out = io.BytesIO()
    orc.write_table(orc.ORCFile(io.BytesIO(data)).read(), out, compression=codec)
    return out.getvalue()


SPECIMENS = (
    Specimen(name="compressions", golden="append_compressions"),
    Specimen(name="parquet", golden="append_types_parquet"),
    Specimen(name="avro", golden="append_types_avro"),
    Specimen(name="avro codecs", golden="append_types_avro", change=_with_avro_codecs),
    Specimen(name="orc", golden="append_types_orc"),
    Specimen(name="nested orc codecs", golden="append_nested_orc", change=_with_orc_codecs),
    Specimen(name="nested", golden="append_nested"),
    Specimen(name="deletion vectors", golden="append_dv"),
    Specimen(name="deletion vectors of keys", golden="pk_dv"),
    Specimen(name="hash index", golden="pk_dynamic_bucket"),
    Specimen(name="file index", golden="append_index"),
    Specimen(name="expired snapshots", golden="cl_lookup", change=_with_expired_snapshots),
    Specimen(name="statistics", golden="defaults_comments"),
    Specimen(name="tags and branches", golden="tags_branches"),
    Specimen(name="consumer", golden="rollback_expire", change=_with_consumer),
    Specimen(name="thin mode", golden="pk_thin_mode"),
    Specimen(name="evolution", golden="evolve_pk"),
    Specimen(name="folding", golden="pu_sequence_groups"),
    Specimen(name="partitions", golden="partition_names"),
    Specimen(name="nanoseconds", golden="append_java_types"),
    Specimen(name="variant", golden="variant"),
    Specimen(name="row tracking", golden="row_tracking"),
    Specimen(name="input changelog", golden="cl_input"),
)
