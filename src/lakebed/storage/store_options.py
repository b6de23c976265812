"""How are a store's options read out of a catalog's?"""

from collections.abc import Mapping, Sequence

from lakebed.errors import InvalidArgumentError

SINGLE_WRITER = "lakebed.commit.single-writer"


def find_option(options: Mapping[str, str], keys: Sequence[str]) -> str | None:
    """The value of an option that has several spellings.

    Raises:
        InvalidArgumentError: Two spellings are given, with two values.
    """
    given = {key: options[key] for key in keys if key in options}
    if len(set(given.values())) > 1:
        # Values may be secrets.
        raise InvalidArgumentError(
            f"options {' and '.join(given)} are spellings of one option and differ; give one"
        )
    return next(iter(given.values()), None)


def flag(options: Mapping[str, str], keys: Sequence[str], *, default: bool) -> bool:
    """A boolean option that may have several spellings.

    Raises:
        InvalidArgumentError: The text is no boolean.
    """
    text = find_option(options, keys)
    if text is None:
        return default
    match text.strip().lower():
        case "true":
            return True
        case "false":
            return False
        case _:
            raise InvalidArgumentError(f"option {keys[0]} is true or false, not {text!r}")
