"""Which constant is a number or a typed text, and which type a name, in Spark's SQL?"""

import re
from datetime import tzinfo
from decimal import Decimal

from lakebed.format.predicate.coercion import STRING, TypeMismatchError
from lakebed.format.predicate.evaluation import fold
from lakebed.format.predicate.expressions import Cast, Expression, Literal
from lakebed.format.predicate.tokens import Token
from lakebed.format.types import MAX_LENGTH, AtomicType, TypeRoot

__all__ = ["TYPED_TEXTS", "binary_literal", "named_type", "number_literal", "typed_text"]

_INTEGER_TYPES = {
    "Y": (TypeRoot.TINYINT, 8),
    "S": (TypeRoot.SMALLINT, 16),
    "L": (TypeRoot.BIGINT, 64),
}
_DECIMAL_DIGITS_MAX = 38
_FINEST_SPARK_PRECISION = 6
_NANOSECOND_FRACTION = re.compile(r":\d{1,2}\.\d{7,9}(?!\d)")

_BINARY = AtomicType(root=TypeRoot.VARBINARY, length=MAX_LENGTH)
_PLAIN_TYPES = {
    "BOOLEAN": AtomicType(root=TypeRoot.BOOLEAN),
    "TINYINT": AtomicType(root=TypeRoot.TINYINT),
    "BYTE": AtomicType(root=TypeRoot.TINYINT),
    "SMALLINT": AtomicType(root=TypeRoot.SMALLINT),
    "SHORT": AtomicType(root=TypeRoot.SMALLINT),
    "INT": AtomicType(root=TypeRoot.INT),
    "INTEGER": AtomicType(root=TypeRoot.INT),
    "BIGINT": AtomicType(root=TypeRoot.BIGINT),
    "LONG": AtomicType(root=TypeRoot.BIGINT),
    "FLOAT": AtomicType(root=TypeRoot.FLOAT),
    "REAL": AtomicType(root=TypeRoot.FLOAT),
    "DOUBLE": AtomicType(root=TypeRoot.DOUBLE),
    "STRING": STRING,
    "BINARY": _BINARY,
    "DATE": AtomicType(root=TypeRoot.DATE),
    "TIME": AtomicType(root=TypeRoot.TIME, precision=3),
    "TIMESTAMP": AtomicType(root=TypeRoot.TIMESTAMP_LTZ, precision=_FINEST_SPARK_PRECISION),
    "TIMESTAMP_LTZ": AtomicType(root=TypeRoot.TIMESTAMP_LTZ, precision=_FINEST_SPARK_PRECISION),
    "TIMESTAMP_NTZ": AtomicType(root=TypeRoot.TIMESTAMP, precision=_FINEST_SPARK_PRECISION),
}
_DECIMAL_NAMES = ("DECIMAL", "DEC", "NUMERIC")
_TEXT_NAMES = ("CHAR", "CHARACTER", "VARCHAR")
TYPED_TEXTS = ("DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ")
"""Words that make a constant of the text behind them."""


def number_literal(text: str) -> Literal:
    """The number that a token of kind NUMBER, with a minus before it or not, is.

    Raises:
        TypeMismatchError: When the type that the suffix names does not hold it.
    """
    suffix = next((s for s in ("BD", "L", "S", "Y", "D", "F") if text.upper().endswith(s)), "")
    digits = text[: len(text) - len(suffix)] if suffix else text
    if suffix in _INTEGER_TYPES:
        return _suffixed_integer(digits, suffix)
    if suffix == "F":
        return Literal(float(digits), AtomicType(root=TypeRoot.FLOAT))
    if suffix == "D" or (suffix != "BD" and "e" in digits.lower()):
        return Literal(float(digits), AtomicType(root=TypeRoot.DOUBLE))
    if suffix != "BD" and "." not in digits:
        for root, bits in ((TypeRoot.INT, 32), (TypeRoot.BIGINT, 64)):
            if _fits(int(digits), bits):
                return Literal(int(digits), AtomicType(root=root))
    return _decimal_literal(digits)


def _suffixed_integer(digits: str, suffix: str) -> Literal:
    root, bits = _INTEGER_TYPES[suffix]
    if not digits.lstrip("-").isdigit():
        raise TypeMismatchError(f"{digits}{suffix} is no whole number, as {suffix} asks for")
    if not _fits(int(digits), bits):
        raise TypeMismatchError(f"{digits} does not fit into {root.value}")
    return Literal(int(digits), AtomicType(root=root))


def _fits(number: int, bits: int) -> bool:
    return -(1 << (bits - 1)) <= number < 1 << (bits - 1)


def _decimal_literal(digits: str) -> Literal:
    number = Decimal(digits)
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    if exponent > 0:
        number, exponent = Decimal(int(number)), 0
    scale = -exponent
    precision = max(len(number.as_tuple().digits), scale)
    if precision > _DECIMAL_DIGITS_MAX:
        raise TypeMismatchError(
            f"{digits} has {precision} digits, and DECIMAL holds {_DECIMAL_DIGITS_MAX}"
        )
    return Literal(number, AtomicType(root=TypeRoot.DECIMAL, precision=precision, scale=scale))


def typed_text(word: str, text: str, time_zone: tzinfo) -> Expression:
    """The constant of a word of `TYPED_TEXTS` and the text behind it.

    A fraction of more than six digits makes a timestamp of nanoseconds, for columns of such.

    Raises:
        InvalidArgumentError: When the text is no such value.
    """
    kind = _PLAIN_TYPES[word]
    if word.startswith("TIMESTAMP") and _NANOSECOND_FRACTION.search(text):
        kind = AtomicType(root=kind.root, precision=9)
    return fold(Cast(Literal(text, STRING), kind, time_zone))


def binary_literal(token: Token) -> Literal:
    """The bytes that a token of kind HEX spells.

    Raises:
        TypeMismatchError: When a character is no hexadecimal digit.
    """
    digits = token.text[2:-1]
    try:
        # Spark takes an odd number of digits as if a zero stood before them.
        return Literal(bytes.fromhex("0" * (len(digits) % 2) + digits), _BINARY)
    except ValueError as exc:
        raise TypeMismatchError(f"{token.text} holds a character that is no hex digit") from exc


def named_type(name: str, numbers: list[int]) -> AtomicType:
    """The type that a name and the numbers in parentheses behind it say.

    Raises:
        TypeMismatchError: When there is no such type to cast to.
    """
    word = name.upper()
    if word in _DECIMAL_NAMES and len(numbers) <= 2:
        precision, scale = (*numbers, *(10, 0)[len(numbers) :])
        if 1 <= precision <= _DECIMAL_DIGITS_MAX and scale <= precision:
            return AtomicType(root=TypeRoot.DECIMAL, precision=precision, scale=scale)
        raise TypeMismatchError(
            f"DECIMAL({precision}, {scale}) cannot be: 1 to {_DECIMAL_DIGITS_MAX} digits, "
            "of which no more than all lie behind the point"
        )
    if word in _TEXT_NAMES and len(numbers) == 1:
        # Spark's own CAST neither cuts nor pads.
        return STRING
    if word in _PLAIN_TYPES and not numbers:
        return _PLAIN_TYPES[word]
    known = ", ".join(sorted({*_PLAIN_TYPES, "DECIMAL(p, s)"}))
    raise TypeMismatchError(f"there is no type {name} to cast to; there are {known}")
