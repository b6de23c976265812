"""How does a scan become a frame?

Files whose rows are the table's rows, under the names of today, go to Spark's own Parquet reader:
no row passes through Python, and Catalyst prunes. Where deletion vectors mark some of their rows,
it leaves these out if that costs less (`marked_files`). The rest is read in Python workers, by few
and large tasks, and only surviving rows of needed columns cross to the JVM. Tables of metadata are
small: their rows are made here, in the driver.
"""

import pickle
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Protocol, TypeVar
from urllib.parse import urlsplit

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from lakebed.format.types import DataField
from lakebed.spark.marked_files import MarkedFiles
from lakebed.spark.names import quoted
from lakebed.spark.registry import Registry
from lakebed.spark.sizes import numbers, row_size
from lakebed.spark.types import is_native, to_arrow_schema, to_spark_schema
from lakebed.spark.worker import ReadSplits, to_schema
from lakebed.spark.workers import check_workers
from lakebed.table.planning.split import Split
from lakebed.table.reading.read import SplitReader
from lakebed.table.reading.scan import Scan
from lakebed.table.reading.scan_plan import RowReader
from lakebed.table.system.metadata_scan import MetadataScan

# A task that reads more than this takes long enough to be cut.
_GROUP_BYTES = 256 << 20
# Spark takes these in a path for patterns.
_PATTERN_SIGNS = frozenset("*?[]{}\\")


class Weighted(Protocol):
    """What has a size to be read."""

    @property
    def size_bytes(self) -> int:
        """Bytes on disk."""
        ...


Piece = TypeVar("Piece", bound=Weighted)


def scan_frame(spark: SparkSession, registry: Registry, scan: Scan | MetadataScan) -> DataFrame:
    """The rows of a scan as a frame.

    Raises:
        UnsupportedError: A column has a type that frames lack.
    """
    if isinstance(scan, MetadataScan):
        return _local_frame(spark, scan)
    frames = registry.frames
    known = frames.find(spark, scan) if frames is not None else None
    if known is not None:
        return known
    planned = _planned_frame(spark, registry, scan)
    # What is kept is never given out itself: a join of it with what comes later would be one of
    # the same attributes.
    kept = frames.find(spark, scan) if frames is not None else None
    return planned if kept is None else kept


def _planned_frame(spark: SparkSession, registry: Registry, scan: Scan) -> DataFrame:
    plan = scan.plan()
    fields = [plan.reader.table_schema.field(name) for name in plan.reader.columns]
    schema = to_spark_schema(fields)
    whole: list[Split] = []
    marked: list[Split] = []
    merging: list[Split] = []
    for split in plan.splits:
        if not plan.reader.reads_as_stored(split):
            merging.append(split)
        else:
            (marked if _is_marked(split) else whole).append(split)
    if not _reads_natively(spark, registry, fields, splits=[*whole, *marked]):
        whole, marked, merging = [], [], [*whole, *marked, *merging]
    marked_files = MarkedFiles.of(scan, marked)
    if marked and not marked_files.are_worth_it(spark, columns=len(fields)):
        marked, merging = [], [*marked, *merging]
    frames = []
    as_they_are = [
        file.path
        for split in (*whole, *marked)
        for file in split.files
        if file.deletion_vector is None
    ]
    if as_they_are:
        stored = _stored_schema(plan.reader)
        rows = _native_frame(spark, stored, as_they_are)
        frames.append(rows.select(*(quoted((name,)) for name in schema.names)))
    if marked:
        frames.append(marked_files.unmarked(_native_frame(spark, schema, marked_files.paths)))
    if merging:
        reader = _keeping_winners(plan.reader)
        stored = _stored_schema(plan.reader)
        frame = split_frame(spark, registry, merging, reader=reader, schema=schema, stored=stored)
        frames.append(frame)
    if not frames:
        return spark.createDataFrame([], schema)
    frame = reduce(DataFrame.unionAll, frames)
    # Marks are more than a place of a file: 16 MB of them, at most.
    if registry.frames is not None and not marked:
        file_count = sum(split.file_count for split in plan.splits)
        registry.frames.keep(frame, scan, file_count=file_count)
    return frame


def _keeping_winners(reader: RowReader) -> RowReader:
    """A reader that merges the same files once in each worker that reads them again."""
    return replace(reader, keeps_winners=True) if isinstance(reader, SplitReader) else reader


def _is_marked(split: Split) -> bool:
    return any(file.deletion_vector is not None for file in split.files)


def split_frame(
    spark: SparkSession,
    registry: Registry,
    splits: Sequence[Weighted],
    *,
    reader: object,
    schema: StructType,
    stored: StructType | None = None,
) -> DataFrame:
    """Rows that are read in Python workers, by few and large tasks.

    Args:
        spark: The session.
        registry: Its registry.
        splits: What is read, at least one.
        reader: Reads a split (`worker.Rows`); travels to tasks.
        schema: Columns and types of the rows.
        stored: Those of the files, of which these are read; None for the same.
    """
    check_workers(spark, registry)
    groups = grouped(splits, count=registry.parallelism(spark))
    read = ReadSplits(
        pickle.dumps(reader),
        tuple(pickle.dumps(group) for group in groups),
        to_arrow_schema(schema),
    )
    size = sum(split.size_bytes for split in splits)
    if stored is not None:
        size = size * row_size(schema) // row_size(stored)
    return numbers(spark, len(groups), size_bytes=size).mapInArrow(read, schema)


def _local_frame(spark: SparkSession, scan: MetadataScan) -> DataFrame:
    schema = to_spark_schema([scan.table_schema.field(name) for name in scan.columns])
    arrow = to_arrow_schema(schema)
    rows = pa.Table.from_batches([to_schema(each, arrow) for each in scan.to_batches()], arrow)
    # PySpark cannot make a frame of a table without rows that has, for instance, lists.
    return spark.createDataFrame(rows if rows.num_rows else [], schema)


def grouped(splits: Sequence[Piece], *, count: int) -> list[list[Piece]]:
    """Splits in groups of about equal size: one a core, or more where they are large.

    The largest go first, each to the lightest group.
    """
    total = sum(split.size_bytes for split in splits)
    wanted = min(len(splits), max(count, -(-total // _GROUP_BYTES)))
    groups: list[list[Piece]] = [[] for _ in range(wanted)]
    weights = [0] * wanted
    for split in sorted(splits, key=lambda each: each.size_bytes, reverse=True):
        lightest = weights.index(min(weights))
        groups[lightest].append(split)
        weights[lightest] += split.size_bytes
    return groups


def _stored_schema(reader: RowReader) -> StructType:
    """What files hold, beside the columns that are read.

    Of their share Spark concludes how much of the files is read, and by that how to join.
    """
    fields = reader.table_schema.fields
    if len({field.name.lower() for field in fields}) < len(fields):
        # Names that differ in nothing but their case are one to Spark, and refused.
        return to_spark_schema([reader.table_schema.field(name) for name in reader.columns])
    return to_spark_schema(
        [field for field in fields if field.name in reader.columns or is_native(field.type)]
    )


def _native_frame(spark: SparkSession, schema: StructType, paths: Sequence[str]) -> DataFrame:
    # Files that Spark did not write have no calendar to convert from.
    return (
        spark.read.schema(schema)
        .option("mergeSchema", "false")
        .option("datetimeRebaseMode", "CORRECTED")
        .option("int96RebaseMode", "CORRECTED")
        .parquet(*map(_uri, paths))
    )


def _reads_natively(
    spark: SparkSession, registry: Registry, fields: Iterable[DataField], *, splits: Sequence[Split]
) -> bool:
    paths = [path for split in splits for path in split.file_paths]
    if not paths or not all(is_native(field.type) for field in fields):
        return False
    if any(not path.endswith(".parquet") or _PATTERN_SIGNS & set(path) for path in paths):
        return False
    uri = urlsplit(_uri(paths[0]))
    store = f"{uri.scheme}://{uri.netloc}"
    if store not in registry.visible_stores:
        registry.visible_stores[store] = _is_visible(spark, _uri(paths[0]))
    return registry.visible_stores[store]


def _is_visible(spark: SparkSession, path: str) -> bool:
    """Whether Spark's JVM has a file system for the path; the answer comes with the schema."""
    try:
        return bool(spark.read.parquet(path).columns)
    except Exception:  # noqa: BLE001 - of a missing file system Spark says so in Java's own errors
        return False


def _uri(path: str) -> str:
    """The path with its scheme: a bare one would be Spark's default file system."""
    return path if urlsplit(path).scheme else f"file://{path}"
