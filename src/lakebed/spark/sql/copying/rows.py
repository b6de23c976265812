"""How do the rows of files become those of a table, and which of them cannot?

Texts of CSV and JSON are read as texts and cast here; JSON finds columns by name, CSV by position,
Parquet by name and with types of its own. Whatever cannot be loaded makes a row with an error,
never an error of the query, so that one pass over the files tells of all of them:

    v0, v1, ...    values for the columns, in the types of the table
    error          why the row cannot be loaded; null where it can
    key            the name of its file, as Spark's readers tell it
    block, place   where in the file it is: rows of a file are in order of both
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know
from pyspark.sql import types as spark_types

from lakebed.errors import UnsupportedError
from lakebed.format.type_text import format_type
from lakebed.format.types import DataField, with_nullability
from lakebed.spark.lake import Lake
from lakebed.spark.lengths import too_long
from lakebed.spark.names import quoted
from lakebed.spark.sql.copying.files import SourceFile, literal_path
from lakebed.spark.sql.copying.formats import FileFormat, FileType
from lakebed.spark.types import to_spark_type

# Of a malformed record, and of a value in an error: the first signs say enough.
_SHOWN = 200
_NESTED = (
    spark_types.ArrayType,
    spark_types.MapType,
    spark_types.StructType,
    spark_types.VariantType,
)
# Files that cannot be read are an error, whatever the session says of other queries.
_STRICT = {"ignoreCorruptFiles": "false", "ignoreMissingFiles": "false"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What is to be said of the rows of a file.

    Attributes:
        row_count: All of them.
        error_count: Those that cannot be loaded.
        first_error: Why the first of these cannot.
    """

    row_count: int = 0
    error_count: int = 0
    first_error: str | None = None

    @property
    def good_count(self) -> int:
        """Rows that can be loaded."""
        return self.row_count - self.error_count


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRows:
    """Reads files for some columns of a table.

    Attributes:
        lake: The session.
        file_format: How they are read.
        fields: The columns, in the order of CSV files.
    """

    lake: Lake
    file_format: FileFormat
    fields: Sequence[DataField]

    def read(self, files: Sequence[SourceFile]) -> DataFrame:
        """The rows of files, as above.

        Raises:
            UnsupportedError: A column of a type that such files do not hold.
        """
        source = self._source([literal_path(each.known.path) for each in files])
        values, checks = [], list(source.checks)
        for index, wanted in enumerate(self.fields):
            kind = to_spark_type(wanted.type, column=wanted.name)
            given = source.values.get(wanted.name)
            value = F.lit(None).cast(kind) if given is None else _value(given, kind)
            values.append(value.alias(f"v{index}"))
            checks += _checks(value, given, wanted)
        error = F.coalesce(*checks, F.lit(None).cast("string"))
        metadata = source.frame.metadataColumn("_metadata")
        return source.frame.select(
            *values,
            error.alias("error"),
            metadata.getField("file_name").alias("key"),
            metadata.getField("file_block_start").alias("block"),
            F.monotonically_increasing_id().alias("place"),
        )

    def loadable(self, rows: DataFrame, *, but: Sequence[str] = ()) -> DataFrame:
        """The rows without an error as columns of the table, but for those of some files."""
        if but:
            rows = rows.where(~F.col("key").isin(list(but)))
        named = (F.col(f"v{index}").alias(each.name) for index, each in enumerate(self.fields))
        return rows.where(F.col("error").isNull()).select(*named)

    def _source(self, paths: Sequence[str]) -> "_Source":
        if self.file_format.type is FileType.PARQUET:
            return self._parquet(paths)
        is_csv = self.file_format.type is FileType.CSV
        names = [f"_c{i}" if is_csv else each.name for i, each in enumerate(self.fields)]
        corrupt = _free_name("_corrupt_record", names)
        columns = [
            spark_types.StructField(name, self._read_type(each))
            for name, each in zip(names, self.fields, strict=True)
        ]
        reader = self.lake.spark.read.schema(
            spark_types.StructType(
                [*columns, spark_types.StructField(corrupt, spark_types.StringType())]
            )
        ).options(
            **self.file_format.options,
            **_STRICT,
            mode="PERMISSIVE",
            columnNameOfCorruptRecord=corrupt,
        )
        frame = reader.csv(list(paths)) if is_csv else reader.json(list(paths))
        record = frame[quoted((corrupt,))]
        return _Source(
            frame=frame,
            values={
                each.name: _Given(self._with_nulls(frame[quoted((column.name,))], column))
                for each, column in zip(self.fields, columns, strict=True)
            },
            checks=(_when(record.isNotNull(), "malformed record: ", record),),
        )

    def _read_type(self, wanted: DataField) -> spark_types.DataType:
        """As what a column is read of texts; Spark's reader of JSON makes what is nested itself."""
        kind = to_spark_type(wanted.type, column=wanted.name)
        if not isinstance(kind, _NESTED):
            return spark_types.StringType()
        if self.file_format.type is FileType.CSV:
            raise UnsupportedError(
                f"column {wanted.name!r} has type {format_type(wanted.type)}, which CSV files do"
                " not hold; name the other columns, or load JSON or Parquet files"
            )
        return kind

    def _with_nulls(self, value: Column, column: spark_types.StructField) -> Column:
        """Null in the place of texts that mean it."""
        if not isinstance(column.dataType, spark_types.StringType):
            return value
        is_csv = self.file_format.type is FileType.CSV
        if is_csv and self.file_format.is_empty_null is False:
            # Spark reads every empty field of CSV as null, and nothing else.
            value = F.coalesce(value, F.lit(""))
        texts = [*self.file_format.null_texts, *([""] if self.file_format.is_empty_null else [])]
        return F.when(~value.isin(texts), value) if texts else value

    def _parquet(self, paths: Sequence[str]) -> "_Source":
        # One file may have columns that another lacks.
        options = {**self.file_format.options, **_STRICT, "mergeSchema": "true"}
        frame = self.lake.spark.read.options(**options).parquet(*paths)
        is_exact = self.lake.is_case_sensitive
        there = {each.name if is_exact else each.name.lower(): each for each in frame.schema.fields}
        values = {}
        for wanted in self.fields:
            found = there.get(wanted.name if is_exact else wanted.name.lower())
            if found is not None:
                column = frame[quoted((found.name,))]
                values[wanted.name] = _Given(column, found.dataType)
        return _Source(frame=frame, values=values)


@dataclass(frozen=True, slots=True)
class _Given:
    """A column of files.

    Attributes:
        column: It.
        type: Its type; None where it is what was asked for, or text.
    """

    column: Column
    type: spark_types.DataType | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """What files hold.

    Attributes:
        frame: The rows as they are read.
        values: Columns of the table by name, those that are there.
        checks: Why a row cannot be loaded, whatever its values.
    """

    frame: DataFrame
    values: Mapping[str, _Given]
    checks: Sequence[Column] = field(default_factory=tuple)


def tallies(rows: DataFrame) -> dict[str, Tally]:
    """What is to be said of each file that has rows, by its key."""
    error = F.col("error")
    counted = rows.groupBy("key").agg(
        F.count(F.lit(1)),
        F.count_if(error.isNotNull()),
        F.min_by(error, F.when(error.isNotNull(), F.struct("block", "place"))),
    )
    return {
        key: Tally(row_count=count, error_count=errors, first_error=first)
        for key, count, errors, first in counted.collect()
    }


def _value(given: _Given, kind: spark_types.DataType) -> Column:
    # What is nested is cast when it is aligned with the table, field by field.
    if isinstance(kind, _NESTED) or given.type == kind:
        return given.column
    return given.column.try_cast(kind)


def _checks(value: Column, given: _Given | None, wanted: DataField) -> list[Column]:
    """Why a row cannot be loaded, each null where it can."""
    kind, name = to_spark_type(wanted.type, column=wanted.name), wanted.name
    takes = f"column {name!r} takes {format_type(with_nullability(wanted.type, nullable=True))}"
    checks = []
    if given is not None and given.type != kind and not isinstance(kind, _NESTED):
        failed = given.column.isNotNull() & value.isNull()
        checks.append(_when(failed, f"{takes}, not ", given.column.cast("string")))
    is_long = too_long(value, wanted.type)
    if is_long is not None:
        checks.append(_when(is_long, f"{takes}, not ", value))
    if not wanted.type.nullable:
        checks.append(_when(value.isNull(), f"column {name!r} is NOT NULL, and has no value"))
    return checks


def _when(condition: Column, problem: str, shown: Column | None = None) -> Column:
    text: Column = F.lit(problem)
    if shown is not None:
        text = F.concat(text, F.substring(shown, 1, _SHOWN))
    return F.when(condition, text)


def _free_name(name: str, taken: Sequence[str]) -> str:
    """A name that none of some columns has."""
    lower = {each.lower() for each in taken}
    while name.lower() in lower:
        name = f"_{name}"
    return name
