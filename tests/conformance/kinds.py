"""The kinds of column of random tables: types, values, and what the types may be altered to.

Values are few, so that they meet again, and lie at the edges. Where arithmetic is done with them,
it is exact: fractions are of two, and numbers small enough not to overflow. Left out is what Paimon
1.4.2 itself gets wrong (docs/compatibility.md): zeros of both signs in one ORC column, the last
second before 1970, timestamps before 1970 as dates, and nanoseconds with so many leading zeros that
it does not truncate them.
"""

from dataclasses import dataclass
from typing import Any

Json = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A column's type.

    Attributes:
        type: As in a schema file, nullable.
        values: Encoded as in the golden answers.
        literal: How a value is written in SQL, ``{}`` standing for it; empty where comparisons
            are not tried: nested types, and floats, which Spark and Java order differently.
    """

    type: Json
    values: tuple[Json, ...]
    literal: str = ""


KINDS = {
    "boolean": Kind(type="BOOLEAN", values=(True, False), literal="{}"),
    "tinyint": Kind(type="TINYINT", values=(-128, -1, 0, 1, 9, 127), literal="{}"),
    "smallint": Kind(type="SMALLINT", values=(-32768, -1, 0, 1, 9, 32767), literal="{}"),
    "int": Kind(type="INT", values=(-(2**31), -7, 0, 1, 2, 300, 2**31 - 1), literal="{}"),
    "bigint": Kind(type="BIGINT", values=(-(2**63), -7, 0, 5, 2**40, 2**63 - 1), literal="{}"),
    "float": Kind(type="FLOAT", values=(-1.5, -0.0, 0.25, 3.0, "NaN", "Infinity")),
    "double": Kind(type="DOUBLE", values=(-2.5, -0.0, 0.125, 7.0, "NaN", "-Infinity")),
    "decimal": Kind(
        type="DECIMAL(10, 2)",
        values=("-99999999.99", "-1.50", "0.00", "0.05", "2.25", "99999999.99"),
        literal="CAST('{}' AS DECIMAL(10, 2))",
    ),
    "decimal_wide": Kind(
        type="DECIMAL(25, 3)",
        values=("-1234567890123456789012.345", "-0.500", "0.000", "7.250", "12345678901.125"),
        literal="CAST('{}' AS DECIMAL(25, 3))",
    ),
    "string": Kind(
        type="STRING", values=("", "a", "ab", "b", "zürich", "日本" * 8), literal="'{}'"
    ),
    "varchar": Kind(type="VARCHAR(9)", values=("", "a", "A", "a b", "ninechars"), literal="'{}'"),
    "bytes": Kind(type="BYTES", values=("", "AA==", "AQI=", "/w==", "AQIDBAUGBwgJCgs=")),
    "date": Kind(
        type="DATE",
        values=("1901-02-03", "1969-12-31", "1970-01-01", "2024-02-29", "2199-12-31"),
        literal="DATE '{}'",
    ),
    "time": Kind(type="TIME(3)", values=("00:00:00.000", "01:02:03.004", "23:59:59.999")),
    "timestamp_3": Kind(
        type="TIMESTAMP(3)",
        values=("1969-12-31T23:59:57.999000", "1970-01-01T00:00:00.000000",
                "2024-02-29T12:30:00.120000", "2024-03-10T02:30:00.500000"),
        literal="TIMESTAMP_NTZ '{}'",
    ),
    "timestamp_6": Kind(
        type="TIMESTAMP(6)",
        values=("1901-01-01T00:00:00.000001", "1970-01-01T00:00:00.000000",
                "2024-02-29T12:30:00.123456", "2024-03-10T02:30:00.500000"),
        literal="TIMESTAMP_NTZ '{}'",
    ),
    "timestamp_9": Kind(
        type="TIMESTAMP(9)",
        values=("1970-01-01T00:00:00.100000001", "2024-02-29T12:30:00.123456789"),
    ),
    "timestamp_ltz": Kind(
        type="TIMESTAMP(6) WITH LOCAL TIME ZONE",
        values=("1970-01-01T00:00:00.000000Z", "2024-02-29T12:30:00.123456Z"),
        literal="TIMESTAMP '{}'",
    ),
    "array": Kind(
        type={"type": "ARRAY", "element": "INT"}, values=([], [1], [1, None, 3], [3, 3, 2])
    ),
    "map": Kind(
        type={"type": "MAP", "key": "STRING", "value": "INT"},
        values=([], [["a", 1]], [["a", 2], ["b", None]], [["c", 3], ["b", 4]]),
    ),
    "row": Kind(
        type={
            "type": "ROW",
            "fields": [
                {"id": 1000, "name": "x", "type": "BIGINT"},
                {"id": 1001, "name": "y", "type": {"type": "ARRAY", "element": "STRING"}},
            ],
        },
        values=({"x": 1, "y": ["a", None]}, {"x": None, "y": []}, {"x": 2**40, "y": None}),
    ),
    # What the nested kinds above may be altered to.
    "array_wide": Kind(
        type={"type": "ARRAY", "element": "BIGINT"}, values=([], [2**40], [-1, None])
    ),
    "map_wide": Kind(
        type={"type": "MAP", "key": "STRING", "value": "BIGINT"},
        values=([["a", 2**40]], [["c", None], ["b", -1]]),
    ),
    "row_wide": Kind(
        type={
            "type": "ROW",
            "fields": [
                {"id": 1000, "name": "x", "type": "BIGINT"},
                {"id": 1001, "name": "y", "type": {"type": "ARRAY", "element": "STRING"}},
                {"id": 1002, "name": "z", "type": "INT"},
            ],
        },
        values=({"x": 1, "y": ["a", None], "z": 1}, {"x": None, "y": [], "z": None}),
    ),
    # For sums and products, which must not overflow, and take no zero back from a product;
    # and for listagg, of which 1.4.2 and 2.1 differ about blanks.
    "int_small": Kind(type="INT", values=(-2, -1, 1, 2, 3), literal="{}"),
    "bigint_small": Kind(type="BIGINT", values=(-2, -1, 1, 2, 3), literal="{}"),
    "double_small": Kind(type="DOUBLE", values=(-2.0, -0.5, 0.5, 1.0, 2.0)),
    "string_small": Kind(type="STRING", values=("a", "ab", "b", "zürich"), literal="'{}'"),
    "decimal_small": Kind(type="DECIMAL(38, 2)", values=("-1.00", "1.00", "2.00", "2.50")),
}  # fmt: skip

KEYS = (
    *("boolean", "tinyint", "smallint", "int", "bigint", "decimal", "decimal_wide", "string"),
    *("varchar", "bytes", "date", "timestamp_3", "timestamp_6", "timestamp_ltz", "time"),
)
PARTITIONS = ("int", "string", "date", "boolean", "bigint", "smallint")
SEQUENCES = ("int", "bigint", "timestamp_3", "decimal", "string", "date")

# What a column's type may become; the files written before are then read through a cast. Casts that
# fail on some value, such as from text to numbers, have tests of their own.
CASTS = {
    "boolean": ("string", "int"),
    "tinyint": ("smallint", "int", "bigint", "double", "string", "decimal"),
    "smallint": ("int", "bigint", "float", "string", "tinyint"),
    "int": ("bigint", "double", "decimal_wide", "string", "smallint", "boolean"),
    "bigint": ("decimal_wide", "double", "string", "int", "tinyint"),
    "float": ("double", "string"),
    "double": ("float", "string"),
    "decimal": ("decimal_wide", "string", "double"),
    "decimal_wide": ("string", "double"),
    "string": ("varchar", "bytes"),
    "varchar": ("string",),
    "date": ("string", "timestamp_3"),
    "time": ("string",),
    "timestamp_3": ("timestamp_6", "timestamp_9", "string"),
    "timestamp_6": ("timestamp_3", "timestamp_9", "string", "timestamp_ltz"),
    "timestamp_9": ("timestamp_6", "timestamp_3"),
    "timestamp_ltz": ("timestamp_6",),
}

# Alterations inside a column; its name comes before the field names.
NESTED: dict[str, tuple[str, dict[str, Json]]] = {
    "array": (
        "array_wide",
        {"action": "updateColumnType", "fieldNames": ["element"], "newDataType": "BIGINT",
         "keepNullability": True},
    ),
    "map": (
        "map_wide",
        {"action": "updateColumnType", "fieldNames": ["value"], "newDataType": "BIGINT",
         "keepNullability": True},
    ),
    "row": (
        "row_wide",
        {"action": "addColumn", "fieldNames": ["z"], "dataType": "INT", "comment": None,
         "move": None},
    ),
}  # fmt: skip


def with_ids(kind: Json, index: int) -> Json:
    """The type with field ids of its own, for the column of an index in a new schema."""
    if isinstance(kind, str) or "fields" not in kind:
        return kind
    fields = [field | {"id": index * 100 + field["id"]} for field in kind["fields"]]
    return kind | {"fields": fields}
