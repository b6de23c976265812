"""What does FILE_FORMAT say, in the words of Spark's readers and writers?"""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lakebed.errors import InvalidArgumentError, UnsupportedError
from lakebed.spark.sql.copying.statements import FormatOptions


class FileType(enum.StrEnum):
    """The formats of files, by the names that Spark has for them."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFormat:
    """How files are read, or written.

    Attributes:
        type: Their format.
        options: Options of Spark's reader or writer.
        null_texts: Texts that mean null.
        is_empty_null: Whether an empty text does; None as Spark's readers have it.
        compression: What compresses them, in lower case; None where it is not said.
    """

    type: FileType
    options: Mapping[str, str]
    null_texts: tuple[str, ...] = ()
    is_empty_null: bool | None = None
    compression: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Direction:
    """What may be said, of each format.

    Attributes:
        word: What is done with the files, for errors.
        options: Names, and how Spark calls them; those that are not for Spark have no such name.
    """

    word: str
    options: Mapping[FileType, Mapping[str, str]] = field(default_factory=dict)


_NULLS = {"NULL_IF": "", "EMPTY_FIELD_AS_NULL": ""}
_TEXT = {"FIELD_DELIMITER": "sep", "QUOTE": "quote", "ESCAPE": "escape"}
_WRITTEN = {"COMPRESSION": "compression"}
# What compresses a file that is read, Spark's readers tell by its name.
_READ = {"COMPRESSION": ""}
_IMPORT = _Direction(
    word="read",
    options={
        FileType.CSV: {**_TEXT, **_READ, **_NULLS, "SKIP_HEADER": "header"},
        FileType.JSON: {**_READ, **_NULLS, "MULTI_LINE": "multiLine"},
        FileType.PARQUET: _READ,
    },
)
_EXPORT = _Direction(
    word="written",
    options={
        FileType.CSV: {**_TEXT, **_WRITTEN, "HEADER": "header"},
        FileType.JSON: {
            **_WRITTEN,
            "DATE_FORMAT": "dateFormat",
            "TIMESTAMP_FORMAT": "timestampFormat",
        },
        FileType.PARQUET: _WRITTEN,
    },
)
_TRUTHS = {"TRUE": "true", "FALSE": "false"}
_CHOICES: Mapping[str, Mapping[str, str]] = {
    "SKIP_HEADER": {"0": "false", "1": "true"},
    "HEADER": _TRUTHS,
    "MULTI_LINE": _TRUTHS,
    "EMPTY_FIELD_AS_NULL": _TRUTHS,
}
_SUFFIXES = {
    "none": "",
    "gzip": ".gz",
    "bzip2": ".bz2",
    "deflate": ".deflate",
    "snappy": ".snappy",
    "lz4": ".lz4",
    "zstd": ".zst",
}


def import_format(given: FormatOptions) -> FileFormat:
    """How files are read.

    Raises:
        InvalidArgumentError: No format, or a value that an option does not take.
        UnsupportedError: A format or an option that there is not.
    """
    kind, texts = _checked(given, _IMPORT)
    nulls = given.get("NULL_IF", ())
    return FileFormat(
        type=kind,
        options=_for_spark(texts, _IMPORT.options[kind]),
        null_texts=(nulls,) if isinstance(nulls, str) else nulls,
        is_empty_null=texts["EMPTY_FIELD_AS_NULL"] == "true"
        if "EMPTY_FIELD_AS_NULL" in texts
        else None,
        compression=texts["COMPRESSION"].lower() if "COMPRESSION" in texts else None,
    )


def export_format(given: FormatOptions) -> FileFormat:
    """How files are written; errors as of `import_format`."""
    kind, texts = _checked(given, _EXPORT)
    return FileFormat(type=kind, options=_for_spark(texts, _EXPORT.options[kind]))


def check_names(file_format: FileFormat, names: Sequence[str]) -> None:
    """Makes sure that files to be read are compressed as was said.

    Raises:
        InvalidArgumentError: One is not, or nobody knows that codec.
    """
    codec = file_format.compression
    # A Parquet file says itself what compresses it.
    if codec is None or file_format.type is FileType.PARQUET:
        return
    if codec not in _SUFFIXES:
        known = ", ".join(each.upper() for each in _SUFFIXES)
        raise InvalidArgumentError(f"COMPRESSION = {codec.upper()}: give one of {known}")
    wanted = _SUFFIXES[codec]
    others = tuple(each for each in _SUFFIXES.values() if each and each != wanted)
    for name in names:
        if not name.endswith(wanted) or (not wanted and name.endswith(others)):
            raise InvalidArgumentError(
                f"COMPRESSION = {codec.upper()}, but the name of {name} does not end so: Spark"
                " tells by its end what compresses a file. Rename the file, or leave COMPRESSION"
                " out"
            )


def _checked(given: FormatOptions, direction: _Direction) -> tuple[FileType, dict[str, str]]:
    kind = _type(given.get("TYPE"))
    known = direction.options[kind]
    texts = {}
    for name, value in given.items():
        if name == "TYPE":
            continue
        if name not in known:
            raise UnsupportedError(
                f"FILE_FORMAT has no option {name} where {kind.name} files are {direction.word}."
                f" It has {', '.join(sorted(known))}"
            )
        if isinstance(value, str):
            texts[name] = _text(name, value)
        elif name != "NULL_IF":
            raise InvalidArgumentError(f"{name} takes one value, not a list of {len(value)}")
    return kind, texts


def _type(given: str | tuple[str, ...] | None) -> FileType:
    listed = ", ".join(each.name for each in FileType)
    if given is None:
        raise InvalidArgumentError(f"FILE_FORMAT lacks its TYPE; give TYPE = one of {listed}")
    if not isinstance(given, str) or given.upper() not in FileType.__members__:
        raise UnsupportedError(f"TYPE = {given} is no format of files here; give one of {listed}")
    return FileType[given.upper()]


def _text(name: str, value: str) -> str:
    choices = _CHOICES.get(name)
    if choices is None:
        return value
    if value.upper() not in choices:
        raise InvalidArgumentError(f"{name} = {value}: give {' or '.join(choices)}")
    return choices[value.upper()]


def _for_spark(texts: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    return {names[name]: text for name, text in texts.items() if names[name]}
