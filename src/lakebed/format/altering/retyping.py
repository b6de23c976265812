"""Which type may become which, when a column changes its type?

One to which the format casts, so that files of the old type can be read. The parts of a ROW, ARRAY
or MAP change each by their own path.
"""

from lakebed.errors import InvalidTableError
from lakebed.format.casts.implicit import is_implicit
from lakebed.format.casts.rules import has_cast
from lakebed.format.type_text import format_type
from lakebed.format.types import AtomicType, DataType, with_nullability


def retyped(kind: DataType, target: DataType, *, column: str, allows_loss: bool) -> DataType:
    """The type that a column gets; it is nullable where it was.

    Args:
        kind: What it is.
        target: What it is to be.
        column: What the message calls it.
        allows_loss: Whether the target may be one that does not hold every value.

    Raises:
        InvalidTableError: There is no cast, or only one that may lose something.
    """
    becomes = with_nullability(target, nullable=kind.nullable)
    if becomes == kind:
        return kind
    if not has_cast(kind, target):
        parts = "" if isinstance(target, AtomicType) else "; name the part that is to change"
        raise InvalidTableError(f"{_refusal(column, kind, target)}{parts}")
    if not allows_loss and not _is_implicit(kind, target):
        raise InvalidTableError(
            f"{_refusal(column, kind, target)} without losing something, which"
            " 'disable-explicit-type-casting' = true forbids"
        )
    return becomes


def _is_implicit(kind: DataType, target: DataType) -> bool:
    return (
        isinstance(kind, AtomicType)
        and isinstance(target, AtomicType)
        and is_implicit(kind.root, target.root)
    )


def _refusal(column: str, kind: DataType, target: DataType) -> str:
    was, is_to_be = (format_type(with_nullability(each, nullable=True)) for each in (kind, target))
    return f"column {column} cannot change from {was} to {is_to_be}"
