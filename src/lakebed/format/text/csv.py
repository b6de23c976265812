"""How a CSV file of the format becomes Arrow columns.

Fields go by their place, not by a header. An empty field is null unless `csv.null-literal` says
otherwise, in quotes or not. The escape character, by default a backslash, takes what follows it as
it is. A row with another number of fields than the schema is an error.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo

import pyarrow as pa
from pyarrow import csv

from lakebed.errors import CorruptTableError, InvalidArgumentError, UnsupportedError
from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.text.values import open_text, values_of_text
from lakebed.format.types import DataField
from lakebed.options.values import parse_boolean
from lakebed.storage.file_io import FileIO

_OFF = "\0"
# Keys with the names that they once had, and their defaults.
_KEYS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "csv.field-delimiter": (("field-delimiter", "seq", "delimiter"), ","),
    "csv.line-delimiter": (("lineSep",), "\n"),
    "csv.quote-character": (("quote",), '"'),
    "csv.escape-character": (("escape",), "\\"),
    "csv.include-header": (("header",), "false"),
    "csv.null-literal": (("nullvalue",), ""),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvSettings:
    """How the files of a table are written, by its options `csv.*`.

    Attributes:
        field_delimiter: One character.
        quote: One character, or None for no quoting.
        escape: One character, or None for no escaping.
        has_header: Whether the first line is names, which nobody looks at.
        null_literal: The text of null.
    """

    field_delimiter: str = ","
    quote: str | None = '"'
    escape: str | None = "\\"
    has_header: bool = False
    null_literal: str = ""

    @classmethod
    def of(cls, options: Mapping[str, str]) -> "CsvSettings":
        """The settings in a table's options.

        Raises:
            InvalidArgumentError: A delimiter, quote or escape is no single character.
            UnsupportedError: Lines end with something else than a newline.
        """
        given = {key: _option(options, key) for key in _KEYS}
        if given["csv.line-delimiter"] not in {"\n", "\r\n", "\r"}:
            raise UnsupportedError("'csv.line-delimiter' is read only where it is a newline")
        return cls(
            field_delimiter=_character(given, "csv.field-delimiter"),
            quote=_unless_off(_character(given, "csv.quote-character")),
            escape=_unless_off(_character(given, "csv.escape-character")),
            has_header=parse_boolean(given["csv.include-header"], "csv.include-header"),
            null_literal=given["csv.null-literal"],
        )


def read_csv(
    file_io: FileIO,
    path: str,
    *,
    fields: Sequence[DataField],
    options: Mapping[str, str],
    time_zone: tzinfo = UTC,
) -> pa.Table:
    """All rows of a CSV file.

    Args:
        file_io: The store.
        path: The file; `.gz`, `.bz2` and `.zst` at its end are unpacked.
        fields: All columns of the file, in its order.
        options: Of the table.
        time_zone: In which TIMESTAMP_LTZ values without one were written.

    Raises:
        CorruptTableError: The text is not what the columns promise.
        UnsupportedError: A type, a codec or an option that is not read.
        NotFoundError: The file is missing.
    """
    settings = CsvSettings.of(options)
    names = [field.name for field in fields]
    try:
        with open_text(file_io, path) as source:
            texts = csv.read_csv(
                source,
                read_options=csv.ReadOptions(
                    use_threads=False, column_names=names, skip_rows=int(settings.has_header)
                ),
                parse_options=csv.ParseOptions(
                    delimiter=settings.field_delimiter,
                    quote_char=settings.quote or False,
                    escape_char=settings.escape or False,
                    ignore_empty_lines=False,
                ),
                convert_options=csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()),
                    null_values=[settings.null_literal],
                    strings_can_be_null=True,
                ),
            )
    except (pa.ArrowException, OSError) as error:
        if "Empty CSV file" in str(error):
            return to_arrow_schema(fields).empty_table()
        raise CorruptTableError(path, f"is not the CSV of the table: {error}") from error
    columns = [
        values_of_text(texts.column(field.name), field, path, time_zone=time_zone)
        for field in fields
    ]
    return pa.table(columns, schema=to_arrow_schema(fields))


def _option(options: Mapping[str, str], key: str) -> str:
    old_keys, default = _KEYS[key]
    return next((options[name] for name in (key, *old_keys) if name in options), default)


def _character(given: Mapping[str, str], key: str) -> str:
    if len(given[key]) != 1:
        raise InvalidArgumentError(f"{key!r} = {given[key]!r} is no single character")
    return given[key]


def _unless_off(character: str) -> str | None:
    return None if character == _OFF else character
