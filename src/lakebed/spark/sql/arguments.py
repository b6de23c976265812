"""What did a caller of `spark.sql` give beside the text?"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """What a caller of `spark.sql` gave beside the text.

    Attributes:
        args: Values of parameter markers.
        fields: Values of `{fields}` in the text.
    """

    args: Mapping[str, object] | list[object] | None = None
    fields: Mapping[str, object] = field(default_factory=dict)

    @property
    def named(self) -> Mapping[str, object]:
        """Values of named parameter markers."""
        return self.args if isinstance(self.args, Mapping) else {}


NO_ARGUMENTS = Arguments()


def kept(text: str, *, has_fields: bool) -> str:
    """Text that formatting leaves as it is.

    Args:
        text: A piece of a statement.
        has_fields: Whether it is formatted in any case, so that the user doubled braces already.
    """
    return text if has_fields else text.replace("{", "{{").replace("}", "}}")
