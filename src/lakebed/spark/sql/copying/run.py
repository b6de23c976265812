"""How is COPY INTO run?

Into a table: the files are read once and their rows held; a first query tells of each file how many
of its rows can be loaded, a second writes those that are. Whether one bad row ends it all, is left
out, or leaves its file out is decided in between.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know
from pyspark.sql.types import IntegerType, LongType, StringType, StructField

from lakebed.errors import InvalidDataError
from lakebed.format.types import DataField
from lakebed.spark.alignment import align_by_name, table_name
from lakebed.spark.conditions import analysis_error, spark_errors, unknown_column
from lakebed.spark.lake import Lake
from lakebed.spark.names import quoted
from lakebed.spark.sql.arguments import Arguments
from lakebed.spark.sql.copying.files import (
    SourceFile,
    check_target,
    count_parts,
    list_files,
)
from lakebed.spark.sql.copying.formats import check_names, export_format, import_format
from lakebed.spark.sql.copying.rows import FileRows, Tally, tallies
from lakebed.spark.sql.copying.statements import CopyIntoFiles, CopyIntoTable, OnError
from lakebed.spark.sql.queries import Run, run_query
from lakebed.spark.sql.row_changes.frames import held
from lakebed.spark.sql.statements import Statement
from lakebed.table.load_history import LoadHistory
from lakebed.table.table import Table

_COUNT = "rows"
_LOADED = (
    StructField("file_name", StringType(), nullable=False),
    StructField("status", StringType(), nullable=False),
    StructField("rows_loaded", LongType(), nullable=False),
    StructField("rows_parsed", LongType(), nullable=False),
    StructField("errors_seen", LongType(), nullable=False),
    StructField("first_error", StringType()),
)
_WRITTEN = (
    StructField("output_path", StringType(), nullable=False),
    StructField("file_count", IntegerType(), nullable=False),
    StructField("rows_written", LongType(), nullable=False),
)

_Row = tuple[object, ...]


def copy_into_table(lake: Lake, statement: CopyIntoTable, _: Arguments) -> DataFrame | None:
    """COPY INTO a table; None when the table is Spark's."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    table = lake.load(name)
    with spark_errors(name.catalog):
        file_format = import_format(statement.file_format)
        fields = _fields(lake, table, statement.columns)
        history = LoadHistory(table.parts())
        history.settle()
        files = list_files(lake, statement.path, pattern=statement.pattern)
        known = [] if statement.is_forced else [each.known for each in files]
        skipped = history.loaded(known)
        new = [each for each in files if each.known.path not in skipped]
        check_names(file_format, [each.name for each in new])
        reading = FileRows(lake=lake, file_format=file_format, fields=fields)
        answer = _load(reading, new, table, on_error=statement.on_error) if new else []
    answer += [
        (each.name, "SKIPPED", 0, 0, 0, None) for each in files if each.known.path in skipped
    ]
    return lake.frame(answer, _LOADED)


def copy_into_files(lake: Lake, statement: CopyIntoFiles, given: Arguments) -> DataFrame:
    """COPY INTO a path."""
    with spark_errors():
        file_format = export_format(statement.file_format)
        check_target(lake, statement.path)
    written = Observation()
    rows = run_query(lake, statement.query, given)
    (
        rows.observe(written, F.count(F.lit(1)).alias(_COUNT))
        .write.format(file_format.type)
        .options(**file_format.options)
        .mode("overwrite" if statement.is_overwrite else "error")
        .save(statement.path)
    )
    count = int(written.get.get(_COUNT, 0))
    return lake.frame([(statement.path, count_parts(lake, statement.path), count)], _WRITTEN)


def _load(
    reading: FileRows, files: Sequence[SourceFile], table: Table, *, on_error: OnError
) -> list[_Row]:
    """Loads files, and says of each what became of it."""
    with held(reading.lake, reading.read(files)) as rows:
        found = tallies(rows)
        told = {each.key: found.get(each.key, Tally()) for each in files}
        if on_error is OnError.ABORT_STATEMENT:
            _check(table, files, told)
        bad = [key for key, tally in told.items() if tally.error_count]
        is_whole = on_error is OnError.SKIP_FILE
        loaded = {
            key: 0 if is_whole and tally.error_count else tally.good_count
            for key, tally in told.items()
        }
        remembered = [
            (each.known, loaded[each.key])
            for each in files
            if loaded[each.key] or not told[each.key].error_count
        ]
        if remembered:
            good = reading.loadable(rows, but=bad if is_whole else ())
            is_exact = reading.lake.is_case_sensitive
            frame = align_by_name(good, table, is_case_sensitive=is_exact, fills=True)
            with LoadHistory(table.parts()).loading(remembered) as load:
                if any(loaded.values()):
                    load.snapshot = reading.lake.write(frame, table, user=load.user)
    return [_row(each.name, told[each.key], loaded[each.key]) for each in files]


def _row(name: str, tally: Tally, loaded: int) -> _Row:
    status = "LOADED"
    if tally.error_count:
        status = "PARTIALLY_LOADED" if loaded else "LOAD_FAILED"
    return name, status, loaded, tally.row_count, tally.error_count, tally.first_error


def _check(table: Table, files: Sequence[SourceFile], told: Mapping[str, Tally]) -> None:
    """Raises if there is a row that cannot be loaded."""
    for file in files:
        tally = told[file.key]
        if tally.error_count:
            raise InvalidDataError(
                f"{file.known.path}: {tally.error_count} of {tally.row_count} rows cannot be loaded"
                f" into {table_name(table)}, so none of any file was; the first: "
                f"{tally.first_error}. Mend the file, or load the others with ON_ERROR = CONTINUE"
                " or SKIP_FILE"
            )


def _fields(lake: Lake, table: Table, names: Sequence[str] | None) -> list[DataField]:
    """The columns that files have.

    Raises:
        AnalysisException: An unknown column, one named twice, or one left out that needs a value.
    """
    if names is None:
        return list(table.schema.fields)

    def key(name: str) -> str:
        return name if lake.is_case_sensitive else name.lower()

    own = {key(each.name): each for each in table.schema.fields}
    chosen: dict[str, DataField] = {}
    for name in names:
        if key(name) not in own:
            raise unknown_column(name, table.schema.names)
        if key(name) in chosen:
            raise analysis_error(
                "COLUMN_ALREADY_EXISTS",
                f"The column {quoted((name,))} already exists. Choose another name or rename the"
                " existing column.",
                {"columnName": quoted((name,))},
            )
        chosen[key(name)] = own[key(name)]
    for each in table.schema.fields:
        is_needed = not each.type.nullable and each.default_value is None
        if is_needed and key(each.name) not in chosen:
            raise analysis_error(
                "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_FIND_DATA",
                f"Cannot write incompatible data for the table {table_name(table)}: Cannot find"
                f" data for the output column {quoted((each.name,))}.",
                {"tableName": table_name(table), "colName": quoted((each.name,))},
            )
    return list(chosen.values())


RUNS: dict[type[Statement], Run[Any]] = {
    CopyIntoTable: copy_into_table,
    CopyIntoFiles: copy_into_files,
}
