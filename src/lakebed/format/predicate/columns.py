"""Which column or field does a name in an expression mean?"""

from difflib import get_close_matches

from lakebed.format.predicate.coercion import TypeMismatchError
from lakebed.format.types import DataField, RowType

__all__ = ["find_field"]


def find_field(
    row_type: RowType, name: str, *, what: str = "column", case_sensitive: bool = True
) -> DataField:
    """The field that a name means.

    Args:
        row_type: The fields to choose from.
        name: What the text says.
        what: What an error calls the field.
        case_sensitive: Whether names match exactly.

    Raises:
        TypeMismatchError: When no field has that name, or several have.
    """
    if case_sensitive:
        found = [field for field in row_type if field.name == name]
    else:
        found = [field for field in row_type if field.name.lower() == name.lower()]
    if len(found) == 1:
        return found[0]
    if found:
        raise TypeMismatchError(f"{name!r} may be any of {[field.name for field in found]}")
    lower = {field.name.lower(): field.name for field in row_type}
    nearest = [lower[close] for close in get_close_matches(name.lower(), lower, n=3)]
    hint = f"did you mean {', '.join(nearest)}?" if nearest else f"there are {row_type.names}"
    raise TypeMismatchError(f"there is no {what} {name!r}; {hint}")
