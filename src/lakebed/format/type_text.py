"""How is a type written as text (format.md 4)?

`format_type` prints what a schema file and a SQL user see; `parse_type` takes it back, and the
other spellings that people use: any case, `INTEGER`, `NUMERIC`, `TIMESTAMP_LTZ(3)`, nested types as
`ARRAY<T>`, `MAP<K, V>`, `MULTISET<T>`, `VECTOR<T, n>` and `ROW<a INT, b STRING NOT NULL 'why'>`.

The surprising thing: `CHAR`, `VARCHAR`, `BINARY` and `VARBINARY` without a length have length 1, as
in SQL; text of any length is STRING.
"""

import re
from dataclasses import dataclass

from lakebed.errors import InvalidArgumentError, UnsupportedError
from lakebed.format.types import (
    MAX_LENGTH,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    VectorType,
    with_nullability,
)

MAX_DECIMAL_PRECISION = 38
MAX_TIME_PRECISION = 9
DEFAULT_TIMESTAMP_PRECISION = 6
_DEFAULT_DECIMAL_PRECISION = 10

_LENGTH_ROOTS = frozenset({TypeRoot.CHAR, TypeRoot.VARCHAR, TypeRoot.BINARY, TypeRoot.VARBINARY})
_PRECISION_DEFAULTS = {
    TypeRoot.TIME: 0,
    TypeRoot.TIMESTAMP: DEFAULT_TIMESTAMP_PRECISION,
    TypeRoot.TIMESTAMP_LTZ: DEFAULT_TIMESTAMP_PRECISION,
}
_ATOMIC_NAMES = {
    "INTEGER": TypeRoot.INT,
    "DEC": TypeRoot.DECIMAL,
    "NUMERIC": TypeRoot.DECIMAL,
    "TIMESTAMP_LTZ": TypeRoot.TIMESTAMP_LTZ,
    **{root.value: root for root in TypeRoot if root is not TypeRoot.TIMESTAMP_LTZ},
}
_UNLIMITED = {"STRING": TypeRoot.VARCHAR, "BYTES": TypeRoot.VARBINARY}
_VECTOR_ELEMENTS = frozenset(
    {
        TypeRoot.BOOLEAN,
        TypeRoot.TINYINT,
        TypeRoot.SMALLINT,
        TypeRoot.INT,
        TypeRoot.BIGINT,
        TypeRoot.FLOAT,
        TypeRoot.DOUBLE,
    }
)
_NESTED_NAMES = frozenset({"ARRAY", "MAP", "MULTISET", "ROW", "VECTOR"})
_REFUSED = frozenset({"GEOMETRY", "GEOGRAPHY"})
_MAX_DEPTH = 64

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+)|(?P<quoted>`(?:[^`]|``)*`)|(?P<string>'(?:[^']|'')*')"
    r"|(?P<word>[^\s<>(),'`:]+)|(?P<mark>[<>(),:]))"
)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    position: int


def format_type(kind: DataType) -> str:
    """The text of a type, `NOT NULL` included."""
    return _plain_text(kind) + ("" if kind.nullable else " NOT NULL")


def parse_type(text: str) -> DataType:
    """The type that a text names; the ids of ROW fields are provisional, from 0.

    Raises:
        InvalidArgumentError: The text names no type; says where.
        UnsupportedError: It names a type that Lakebed lacks.
    """
    parser = _Parser(text)
    kind = parser.parse_nullable_type(depth=0)
    parser.expect_end()
    return kind


def _plain_text(kind: DataType) -> str:
    match kind:
        case AtomicType():
            return _atomic_text(kind)
        case ArrayType():
            return f"ARRAY<{format_type(kind.element)}>"
        case MultisetType():
            return f"MULTISET<{format_type(kind.element)}>"
        case VectorType():
            return f"VECTOR<{format_type(kind.element)}, {kind.length}>"
        case MapType():
            return f"MAP<{format_type(kind.key)}, {format_type(kind.value)}>"
        case RowType():
            return f"ROW<{', '.join(map(_field_text, kind.fields))}>"


def _atomic_text(kind: AtomicType) -> str:
    root = kind.root
    if root is TypeRoot.DECIMAL:
        return f"DECIMAL({kind.precision}, {kind.scale})"
    if root is TypeRoot.TIMESTAMP_LTZ:
        return f"TIMESTAMP({kind.precision}) WITH LOCAL TIME ZONE"
    if kind.length == MAX_LENGTH and root in _UNLIMITED.values():
        return next(name for name, unlimited in _UNLIMITED.items() if unlimited is root)
    parameter = kind.precision if kind.length is None else kind.length
    return root.value if parameter is None else f"{root.value}({parameter})"


def _field_text(field: DataField) -> str:
    quoted = f"`{field.name.replace('`', '``')}` {format_type(field.type)}"
    if field.description is None:
        return quoted
    return f"{quoted} '{field.description.replace(chr(39), chr(39) * 2)}'"


class _Parser:
    """A cursor over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._tokenize(text)
        self._next = 0
        self._field_id = 0

    def parse_nullable_type(self, *, depth: int) -> DataType:
        if depth > _MAX_DEPTH:
            raise self._error(f"types nest deeper than {_MAX_DEPTH}")
        kind = self._parse_type(depth)
        if self._takes("NOT"):
            self._expect("NULL")
            return with_nullability(kind, nullable=False)
        self._takes("NULL")
        return kind

    def expect_end(self) -> None:
        if self._next < len(self._tokens):
            raise self._error("the type should end here")

    def _tokenize(self, text: str) -> list[_Token]:
        tokens = []
        position = 0
        while position < len(text.rstrip()):
            found = _TOKEN.match(text, position)
            if found is None or found.lastgroup is None:
                raise self._error("this cannot be read", position=position)
            kind = found.lastgroup
            tokens.append(_Token(kind, found[kind], found.start(kind)))
            position = found.end()
        return tokens

    def _parse_type(self, depth: int) -> DataType:
        position = self._position
        name = self._word("a type name").upper()
        if name in _NESTED_NAMES:
            self._expect("<")
            kind = self._parse_parts(name, depth + 1)
            self._expect(">")
            return kind
        if name in _UNLIMITED:
            return AtomicType(root=_UNLIMITED[name], length=MAX_LENGTH)
        if name in _REFUSED:
            raise UnsupportedError(
                f"type {name} at position {position} of {self._text!r} is not supported"
            )
        if name not in _ATOMIC_NAMES:
            raise self._error(f"{name} is no type", position=position)
        return self._parse_atomic(_ATOMIC_NAMES[name])

    def _parse_atomic(self, root: TypeRoot) -> AtomicType:
        if root in _LENGTH_ROOTS:
            return AtomicType(root=root, length=self._parameter(1, low=1, high=MAX_LENGTH))
        if root is TypeRoot.DECIMAL:
            return self._parse_decimal()
        if root in _PRECISION_DEFAULTS:
            default = _PRECISION_DEFAULTS[root]
            precision = self._parameter(default, low=0, high=MAX_TIME_PRECISION)
            return AtomicType(root=self._parse_zone(root), precision=precision)
        if root is TypeRoot.DOUBLE:
            self._takes("PRECISION")
        return AtomicType(root=root)

    def _parse_decimal(self) -> AtomicType:
        precision, scale = _DEFAULT_DECIMAL_PRECISION, 0
        if self._takes("("):
            precision = self._number(low=1, high=MAX_DECIMAL_PRECISION)
            if self._takes(","):
                scale = self._number(low=0, high=precision)
            self._expect(")")
        return AtomicType(root=TypeRoot.DECIMAL, precision=precision, scale=scale)

    def _parse_zone(self, root: TypeRoot) -> TypeRoot:
        """WITHOUT TIME ZONE, or WITH LOCAL TIME ZONE, behind a TIME or TIMESTAMP."""
        words: tuple[str, ...] = ()
        if self._takes("WITHOUT"):
            words = ("TIME", "ZONE")
        elif root is TypeRoot.TIMESTAMP and self._takes("WITH"):
            words = ("LOCAL", "TIME", "ZONE")
            root = TypeRoot.TIMESTAMP_LTZ
        for word in words:
            self._expect(word)
        return root

    def _parse_parts(self, name: str, depth: int) -> DataType:
        match name:
            case "ARRAY":
                return ArrayType(element=self.parse_nullable_type(depth=depth))
            case "MULTISET":
                return MultisetType(element=self.parse_nullable_type(depth=depth))
            case "MAP":
                return self._parse_map(depth)
            case "VECTOR":
                return self._parse_vector(depth)
            case _:
                return self._parse_row(depth)

    def _parse_map(self, depth: int) -> MapType:
        key = self.parse_nullable_type(depth=depth)
        self._expect(",")
        return MapType(key=key, value=self.parse_nullable_type(depth=depth))

    def _parse_vector(self, depth: int) -> VectorType:
        position = self._position
        element = self.parse_nullable_type(depth=depth)
        if not isinstance(element, AtomicType) or element.root not in _VECTOR_ELEMENTS:
            problem = f"a VECTOR cannot hold {format_type(element)}, only numbers and BOOLEAN"
            raise self._error(problem, position=position)
        self._expect(",")
        return VectorType(element=element, length=self._number(low=1, high=MAX_LENGTH))

    def _parse_row(self, depth: int) -> RowType:
        fields: list[DataField] = []
        if self._peek() == ">":
            return RowType(fields=())
        while True:
            position = self._position
            name = self._word("a field name")
            if any(field.name == name for field in fields):
                raise self._error(f"field {name!r} is there twice", position=position)
            self._takes(":")
            field_id = self._field_id
            self._field_id += 1
            kind = self.parse_nullable_type(depth=depth)
            comment = self._comment()
            fields.append(DataField(id=field_id, name=name, type=kind, description=comment))
            if not self._takes(","):
                return RowType(fields=tuple(fields))

    def _comment(self) -> str | None:
        if self._next < len(self._tokens) and self._tokens[self._next].kind == "string":
            token = self._tokens[self._next]
            self._next += 1
            return token.text[1:-1].replace("''", "'")
        return None

    def _parameter(self, default: int, *, low: int, high: int) -> int:
        if not self._takes("("):
            return default
        number = self._number(low=low, high=high)
        self._expect(")")
        return number

    def _number(self, *, low: int, high: int) -> int:
        position = self._position
        if self._next == len(self._tokens) or self._tokens[self._next].kind != "number":
            raise self._error("a number should stand here")
        # A text of more digits than any limit has is out of range, however long it is.
        digits = self._tokens[self._next].text.lstrip("0")[:12] or "0"
        self._next += 1
        if not low <= int(digits) <= high:
            raise self._error(f"the number must be between {low} and {high}", position=position)
        return int(digits)

    def _word(self, what: str) -> str:
        if self._next == len(self._tokens):
            raise self._error(f"{what} should stand here")
        token = self._tokens[self._next]
        if token.kind not in {"word", "quoted"}:
            raise self._error(f"{what} should stand here")
        self._next += 1
        if token.kind == "quoted":
            return token.text[1:-1].replace("``", "`")
        return token.text

    def _peek(self) -> str:
        if self._next == len(self._tokens):
            return ""
        token = self._tokens[self._next]
        return token.text.upper() if token.kind in {"word", "mark"} else ""

    def _takes(self, expected: str) -> bool:
        found = self._peek() == expected
        self._next += found
        return found

    def _expect(self, expected: str) -> None:
        if not self._takes(expected):
            raise self._error(f"{expected!r} should stand here")

    @property
    def _position(self) -> int:
        if self._next < len(self._tokens):
            return self._tokens[self._next].position
        return len(self._text)

    def _error(self, problem: str, *, position: int | None = None) -> InvalidArgumentError:
        where = self._position if position is None else position
        return InvalidArgumentError(f"type {self._text!r}, position {where}: {problem}")
