"""Which rows may Spark's own Parquet writer write, and how is it told to?

Those of a table without keys and buckets, where its files are what the table's own writers would
have written: the same physical types, field ids, compression, and about the same size. Rows then
never leave the JVM. An option that Spark's writer could not heed, known or not, leaves the rows to
the tasks of `spark.writer`.
"""

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from lakebed.format.schema import TableSchema
from lakebed.format.types import AtomicType, DataField, TypeRoot
from lakebed.spark.names import quoted
from lakebed.spark.registry import Registry
from lakebed.spark.types import to_spark_schema, to_spark_type
from lakebed.table.parts import TableParts

_FIELD_ID = "parquet.field.id"
_PARTITION = "__lakebed_partition_"
_COUNT = "rows"
# What Spark's writer must be set to; only the session can say it.
_SETTINGS: Mapping[str, str] = {
    "spark.sql.parquet.writeLegacyFormat": "false",
    "spark.sql.parquet.fieldId.write.enabled": "true",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
}
_CODECS = {"zstd": "zstd", "snappy": "snappy", "gzip": "gzip", "none": "uncompressed"}
# Options that Spark's writer is told of, and those that files do not depend on.
_HEEDED = frozenset(
    {
        "bucket",
        "comment",
        "data-file.prefix",
        "dynamic-partition-overwrite",
        "file.block-size",
        "file.compression",
        "file.compression.zstd-level",
        "file.format",
        "metadata.stats-dense-store",
        "metadata.stats-keep-first-n-columns",
        "metadata.stats-mode",
        "owner",
        "path",
        "target-file-row-num",
        "target-file-size",
        "write-only",
    }
)
_HEEDED_FAMILIES = (
    "commit.",
    "manifest.",
    "partition.",
    "read.",
    "scan.",
    "snapshot.",
    "source.",
    "write-buffer-",
    "write.merge-schema",
)
_PARTITION_ROOTS = frozenset(
    {
        TypeRoot.BOOLEAN,
        TypeRoot.TINYINT,
        TypeRoot.SMALLINT,
        TypeRoot.INT,
        TypeRoot.BIGINT,
        TypeRoot.DATE,
        TypeRoot.CHAR,
        TypeRoot.VARCHAR,
    }
)
_ROOTS = _PARTITION_ROOTS | {
    TypeRoot.FLOAT,
    TypeRoot.DOUBLE,
    TypeRoot.DECIMAL,
    TypeRoot.BINARY,
    TypeRoot.VARBINARY,
}
_TIMESTAMPS = frozenset({TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ})
# Digits of a second for which both writers store microseconds.
_MICROS_DIGITS = range(4, 7)
# A file's size is guessed from its rows: what a value of variable length counts for.
_TEXT_BYTES = 24
# Bounds longer than this are cut, so that the footer says null counts of long values too.
_BOUND_BYTES = 1024


def is_native_write(frame: DataFrame, parts: TableParts) -> bool:
    """Whether Spark's own files would be those of the table.

    Args:
        frame: Aligned rows.
        parts: The table.
    """
    schema, options = parts.schema, parts.options
    return (
        not schema.primary_keys
        and options.bucket == -1
        and options.file_format == "parquet"
        and options.file_compression in _CODECS
        and all(_is_heeded(key) for key in parts.texts)
        and all(_is_native(field) for field in schema.fields)
        and all(
            isinstance(field.type, AtomicType) and field.type.root in _PARTITION_ROOTS
            for field in schema.partition_type.fields
        )
        and _is_aligned(frame, schema)
        and parts.file_io.local_path(parts.paths.location) is not None
        and all(frame.sparkSession.conf.get(key) == value for key, value in _SETTINGS.items())
    )


def write_natively(  # noqa: PLR0917 - what is written, where, and who writes
    frame: DataFrame, parts: TableParts, registry: Registry, directory: str
) -> int:
    """Has Spark write the rows into a directory, in one of its own for each partition.

    Returns:
        How many rows there were; fewer are found where executors write to other disks.

    Args:
        frame: Aligned rows.
        parts: The table.
        registry: The session's registry.
        directory: The directory.
    """
    schema, options = parts.schema, parts.options
    columns = [_column(frame, field) for field in schema.fields]
    keys = [f"{_PARTITION}{index}" for index in range(len(schema.partition_keys))]
    names = [
        # A text that is neither null nor empty: Spark would keep both in one directory.
        F.concat(F.lit("v"), F.coalesce(F.concat(F.lit("="), _text(name)), F.lit(""))).alias(key)
        for key, name in zip(keys, schema.partition_keys, strict=True)
    ]
    rows = frame.select(*columns)
    if names:
        rows = rows.select("*", *names)
    written = Observation()
    rows = rows.observe(written, F.count(F.lit(1)).alias(_COUNT))
    uri = f"file://{parts.file_io.local_path(directory)}"
    writer = (
        rows.write.mode("append")
        .option("compression", _CODECS[options.file_compression])
        .option("parquet.compression.codec.zstd.level", options.file_compression_zstd_level)
        .option("parquet.statistics.truncate.length", _BOUND_BYTES)
        .option("mapreduce.fileoutputcommitter.algorithm.version", "1")
        .option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
        .option("maxRecordsPerFile", _rows_per_file(parts))
    )
    if options.file_block_size is not None:
        writer = writer.option("parquet.block.size", options.file_block_size)
    if _has_instants(schema):
        with registry.micros.held(frame.sparkSession):
            writer.partitionBy(*keys).parquet(uri)
    else:
        writer.partitionBy(*keys).parquet(uri)
    return int(written.get.get(_COUNT, 0))


def read_natively(spark: SparkSession, parts: TableParts, paths: Sequence[str]) -> DataFrame:
    """The rows of files that Spark wrote."""
    schema = to_spark_schema(parts.schema.fields)
    uris = [f"file://{parts.file_io.local_path(path)}" for path in paths]
    return spark.read.schema(schema).parquet(*uris)


def _has_instants(schema: TableSchema) -> bool:
    return any(
        isinstance(field.type, AtomicType) and field.type.root is TypeRoot.TIMESTAMP_LTZ
        for field in schema.fields
    )


def _column(frame: DataFrame, field: DataField) -> Column:
    """The column of a field as files have it, of nulls where the frame lacks it."""
    kind = to_spark_type(field.type, column=field.name)
    is_given = field.name in frame.columns
    column = F.col(quoted((field.name,))) if is_given else F.lit(None).cast(kind)
    return column.alias(field.name, metadata={_FIELD_ID: field.id})


def _text(name: str) -> Column:
    return F.col(quoted((name,))).cast("string")


def _rows_per_file(parts: TableParts) -> int:
    """How many rows fill a file, as far as their types tell."""
    width = sum(_width(field) for field in parts.schema.fields)
    by_size = max(parts.options.target_file_size // max(width, 1), 1)
    return min(by_size, parts.options.target_file_row_num)


def _width(field: DataField) -> int:
    match field.type:
        case AtomicType(root=TypeRoot.BOOLEAN | TypeRoot.TINYINT | TypeRoot.SMALLINT):
            return 2
        case AtomicType(root=TypeRoot.INT | TypeRoot.FLOAT | TypeRoot.DATE):
            return 4
        case AtomicType(root=TypeRoot.CHAR | TypeRoot.VARCHAR):
            return _TEXT_BYTES
        case AtomicType(root=TypeRoot.BINARY | TypeRoot.VARBINARY):
            return _TEXT_BYTES
        case _:
            return 8


def _is_heeded(key: str) -> bool:
    is_stats = key.startswith("fields.") and key.endswith(".stats-mode")
    return key in _HEEDED or key.startswith(_HEEDED_FAMILIES) or is_stats


def _is_native(field: DataField) -> bool:
    """Whether Spark writes the values of a column as tables hold them; it knows no defaults."""
    kind = field.type
    if not isinstance(kind, AtomicType) or field.default_value is not None:
        return False
    return kind.root in _ROOTS or (
        kind.root in _TIMESTAMPS and (kind.precision or 0) in _MICROS_DIGITS
    )


def _is_aligned(frame: DataFrame, schema: TableSchema) -> bool:
    """Whether the frame has columns of the table in exactly their types, and lacks only nulls."""
    given = {column.name: column.dataType for column in frame.schema.fields}
    return set(given) <= set(schema.names) and all(
        given[field.name] == to_spark_type(field.type, column=field.name)
        if field.name in given
        else field.type.nullable
        for field in schema.fields
    )
