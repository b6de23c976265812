"""Which types may ALTER COLUMN give to a column? Those that Spark casts to of itself.

That is less than a table can do (`lakebed.changes.ChangeColumnType` does all): Spark refuses what
might lose something before it asks any table.
"""

from lakebed.format.types import MAX_LENGTH, AtomicType, DataType, TypeRoot

_ORDER = (
    TypeRoot.TINYINT,
    TypeRoot.SMALLINT,
    TypeRoot.INT,
    TypeRoot.BIGINT,
    TypeRoot.FLOAT,
    TypeRoot.DOUBLE,
)
_DIGITS = {TypeRoot.TINYINT: 3, TypeRoot.SMALLINT: 5, TypeRoot.INT: 10, TypeRoot.BIGINT: 20}
_TEXTS = (TypeRoot.CHAR, TypeRoot.VARCHAR)
_BYTES = (TypeRoot.BINARY, TypeRoot.VARBINARY)
_INSTANTS = (TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ)


def is_up_cast(source: DataType, target: DataType) -> bool:
    """Whether Spark lets a column change from one type to the other."""
    if not (isinstance(source, AtomicType) and isinstance(target, AtomicType)):
        return False
    match source.root, target.root:
        case _, TypeRoot.VARCHAR if target.length == MAX_LENGTH:
            return source.root is not TypeRoot.VARIANT
        case (TypeRoot.CHAR, TypeRoot.CHAR):
            return source.length == target.length
        case (TypeRoot.CHAR | TypeRoot.VARCHAR, TypeRoot.VARCHAR):
            return (source.length or 0) <= (target.length or 0)
        case (TypeRoot.DATE, root) if root in _INSTANTS:
            return True
        case (root, other) if root in _INSTANTS and other in _INSTANTS:
            return True
        case (root, TypeRoot.VARBINARY) if root in _BYTES:
            return True
        case _:
            return _is_wider_number(source, target)


def is_same_to_spark(source: DataType, target: DataType) -> bool:
    """Whether Spark has one type for both, so that it changes nothing."""
    if not (isinstance(source, AtomicType) and isinstance(target, AtomicType)):
        return False
    if source.root is not target.root:
        return source.root in _BYTES and target.root in _BYTES
    if source.root is TypeRoot.DECIMAL or source.root in _TEXTS:
        mine = source.length, source.precision, source.scale
        return mine == (target.length, target.precision, target.scale)
    return True


def _is_wider_number(source: AtomicType, target: AtomicType) -> bool:
    if source.root in _ORDER and target.root in _ORDER:
        return _ORDER.index(source.root) <= _ORDER.index(target.root)
    digits, wanted = _decimal(source), _decimal(target)
    if digits is None or wanted is None:
        return False
    return digits[0] <= wanted[0] and digits[1] <= wanted[1]


def _decimal(kind: AtomicType) -> tuple[int, int] | None:
    """Digits before and behind the point; None for what is no exact number."""
    if kind.root is TypeRoot.DECIMAL:
        scale = kind.scale or 0
        return (kind.precision or 0) - scale, scale
    return (_DIGITS[kind.root], 0) if kind.root in _DIGITS else None
