"""How do Lakebed's errors reach users of Spark?

As `AnalysisException` with the condition that Spark has for the same mistake, so that code that
tells errors apart by condition works unchanged; the Lakebed error is the `__cause__`.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches

from pyspark.errors import AnalysisException, SparkRuntimeException

from lakebed.errors import (
    AlreadyExistsError,
    CommitConflictError,
    CommitUnknownError,
    CorruptTableError,
    InvalidArgumentError,
    InvalidDataError,
    InvalidTableError,
    LakebedError,
    NotFoundError,
    StorageError,
    UnsupportedError,
)
from lakebed.spark.names import quoted

_SQL_STATES = {
    "TABLE_OR_VIEW_NOT_FOUND": "42P01",
    "TABLE_OR_VIEW_ALREADY_EXISTS": "42P07",
    "SCHEMA_NOT_FOUND": "42704",
    "SCHEMA_ALREADY_EXISTS": "42P06",
    "SCHEMA_NOT_EMPTY": "2BP01",
    "UNRESOLVED_COLUMN.WITH_SUGGESTION": "42703",
    "UNSUPPORTED_FEATURE.TABLE_OPERATION": "0A000",
    "UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY": "0A000",
    "FIELD_ALREADY_EXISTS": "42710",
    "FIELD_NOT_FOUND": "42704",
    "COLUMN_ALREADY_EXISTS": "42711",
    "AMBIGUOUS_COLUMN_OR_FIELD": "42702",
    "INVALID_FIELD_NAME": "42000",
    "NOT_SUPPORTED_CHANGE_COLUMN": "0A000",
    "CANNOT_UPDATE_FIELD.ARRAY_TYPE": "0A000",
    "CANNOT_UPDATE_FIELD.MAP_TYPE": "0A000",
    "CANNOT_UPDATE_FIELD.STRUCT_TYPE": "0A000",
    "INVALID_DEFAULT_VALUE.DATA_TYPE": "42623",
    "INVALID_PARTITION_OPERATION.PARTITION_SCHEMA_IS_EMPTY": "42601",
    "INVALID_PARTITION_SPEC": "42601",
    "PARTITIONS_NOT_FOUND": "428FT",
    "INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS": "21S01",
    "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS": "21S01",
    "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_FIND_DATA": "KD000",
    "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST": "KD000",
    "INCOMPATIBLE_DATA_FOR_TABLE.EXTRA_COLUMNS": "KD000",
    "INCOMPATIBLE_DATA_FOR_TABLE.EXTRA_STRUCT_FIELDS": "KD000",
    "INCOMPATIBLE_DATA_FOR_TABLE.STRUCT_MISSING_FIELDS": "KD000",
    "CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE": "42825",
    "EXCEED_LIMIT_LENGTH": "54006",
    "PARTITION_BY_NOT_ALLOWED_WITH_INSERT_INTO": "42601",
    "ROUTINE_NOT_FOUND": "42883",
    "UNRECOGNIZED_PARAMETER_NAME": "4274K",
    "REQUIRED_PARAMETER_NOT_FOUND": "4274K",
    "UNEXPECTED_POSITIONAL_ARGUMENT": "4274K",
    "DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT": "4274K",
    "WRONG_NUM_ARGS.WITHOUT_SUGGESTION": "42605",
    "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE": "42K09",
    "INVALID_PARTITION_VALUE": "42846",
    "MISSING_CATALOG_ABILITY.VIEWS": "0A000",
    "MISSING_CATALOG_ABILITY.CREATE_FUNCTION": "0A000",
    "NO_MERGE_ACTION_SPECIFIED": "42K0E",
    "INVALID_TIME_TRAVEL_SPEC": "42K0E",
    "INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT": "42K0E",
    "INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.OPTION": "42K0E",
    "SHOW_COLUMNS_WITH_CONFLICT_NAMESPACE": "42K05",
}
_NOT_FOUND = {"database": "SCHEMA_NOT_FOUND", "table": "TABLE_OR_VIEW_NOT_FOUND"}
_ALREADY_EXISTS = {"database": "SCHEMA_ALREADY_EXISTS", "table": "TABLE_OR_VIEW_ALREADY_EXISTS"}
# Conditions of our own, where Spark has none.
_OWN: tuple[tuple[type[LakebedError], str], ...] = (
    (UnsupportedError, "LAKEBED_UNSUPPORTED"),
    (InvalidTableError, "LAKEBED_INVALID_TABLE"),
    (InvalidDataError, "LAKEBED_INVALID_DATA"),
    (InvalidArgumentError, "LAKEBED_INVALID_ARGUMENT"),
    (CommitConflictError, "LAKEBED_COMMIT_CONFLICT"),
    (CommitUnknownError, "LAKEBED_COMMIT_UNKNOWN"),
    (CorruptTableError, "LAKEBED_CORRUPT_TABLE"),
    (StorageError, "LAKEBED_STORAGE"),
    (NotFoundError, "LAKEBED_NOT_FOUND"),
    (AlreadyExistsError, "LAKEBED_ALREADY_EXISTS"),
)


class LakeAnalysisException(AnalysisException):
    """Spark's AnalysisException, raised by Lakebed."""

    def getSqlState(self) -> str | None:
        """The SQLSTATE of the condition; PySpark alone does not know those of the JVM."""
        return _SQL_STATES.get(self.getCondition() or "")


class LakeRuntimeException(SparkRuntimeException):
    """Spark's SparkRuntimeException, raised by Lakebed."""

    def getSqlState(self) -> str | None:
        """As of `LakeAnalysisException`."""
        return _SQL_STATES.get(self.getCondition() or "")


def analysis_error(
    condition: str, message: str, parameters: Mapping[str, str] | None = None
) -> AnalysisException:
    """An error of a condition of Spark's."""
    return LakeAnalysisException(
        _with_state(message, condition),
        errorClass=condition,
        messageParameters=dict(parameters or {}),
    )


def runtime_error(
    condition: str, message: str, parameters: Mapping[str, str]
) -> SparkRuntimeException:
    """An error of a condition of Spark's, met in rows."""
    return LakeRuntimeException(
        _with_state(message, condition),
        errorClass=condition,
        messageParameters=dict(parameters),
    )


def table_not_found(name: str, *, hint: str = "") -> AnalysisException:
    """A table that is not there; `name` is in backticks, and `hint` says what there is instead."""
    return analysis_error(
        "TABLE_OR_VIEW_NOT_FOUND",
        f"The table or view {name} cannot be found. Verify the spelling and correctness of the"
        f" schema and catalog.{f' {hint}.' if hint else ''}",
        {"relationName": name},
    )


def unknown_column(name: str | tuple[str, ...], columns: Sequence[str]) -> AnalysisException:
    """A column, or a part of one by its path, that the table does not have."""
    path = (name,) if isinstance(name, str) else name
    lower = {column.lower(): column for column in columns}
    nearest = [lower[found] for found in get_close_matches(path[0].lower(), lower, n=5)]
    proposal = ", ".join(quoted((column,)) for column in nearest or columns)
    return analysis_error(
        "UNRESOLVED_COLUMN.WITH_SUGGESTION",
        f"A column, variable, or function parameter with name {quoted(path)} cannot be"
        f" resolved. Did you mean one of the following? [{proposal}].",
        {"objectName": quoted(path), "proposal": proposal},
    )


def unsupported_operation(operation: str, name: str) -> AnalysisException:
    """A statement that Lakebed does not run; `name` is in backticks."""
    return analysis_error(
        "UNSUPPORTED_FEATURE.TABLE_OPERATION",
        f"The feature is not supported: Table {name} does not support {operation} yet."
        " docs/sql.md lists the statements that run.",
        {"tableName": name, "operation": operation},
    )


@contextmanager
def spark_errors(catalog: str | None = None) -> Iterator[None]:
    """Turns Lakebed's errors into Spark's.

    Args:
        catalog: The catalog in which names in the errors are.
    """
    try:
        yield
    except LakebedError as error:
        raise _translated(error, catalog) from error


def _translated(error: LakebedError, catalog: str | None) -> AnalysisException:
    match error:
        case NotFoundError() if error.kind in _NOT_FOUND:
            name = _full_name(error.name, catalog)
            if error.kind == "table":
                return table_not_found(name, hint=error.hint)
            return analysis_error(
                _NOT_FOUND[error.kind],
                f"The schema {name} cannot be found. Verify the spelling and correctness of the"
                " schema and catalog.",
                {"schemaName": name},
            )
        case AlreadyExistsError() if error.kind in _ALREADY_EXISTS:
            name = _full_name(error.name, catalog)
            what = "schema" if error.kind == "database" else "table or view"
            key = "schemaName" if error.kind == "database" else "relationName"
            return analysis_error(
                _ALREADY_EXISTS[error.kind],
                f"Cannot create {what} {name} because it already exists.",
                {key: name},
            )
    condition = next((own for kind, own in _OWN if isinstance(error, kind)), "LAKEBED_ERROR")
    return analysis_error(condition, str(error))


def _with_state(message: str, condition: str) -> str:
    state = _SQL_STATES.get(condition)
    return f"{message} SQLSTATE: {state}" if state else message


def _full_name(name: str, catalog: str | None) -> str:
    """A name within a catalog, in backticks; a path as it is."""
    if "/" in name:
        return name
    return quoted((*((catalog,) if catalog else ()), *name.split(".")))
