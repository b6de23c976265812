"""How is a theme of options written down as a table of text?

A line is `key | type | default | meaning`; an empty default is none, and names that the key once
had follow it. All lines of a table share a
standing and what they change, so that a table reads as one decision with its reason above it.
"""

from collections.abc import Iterator

from lakebed.options.option import NEITHER, Option, Standing, Use, value_type


def acting(
    table: str, *, for_scan: bool = False, for_stream: bool = False, immutable: bool = False
) -> tuple[Option, ...]:
    """Options that Lakebed acts on, whatever their values."""
    return tuple(
        Option(
            key=key,
            value_type=value_type(type_name),
            default=default,
            standing=Standing.ACTS,
            meaning=meaning,
            old_keys=old_keys,
            for_scan=for_scan,
            for_stream=for_stream,
            immutable=immutable,
        )
        for key, old_keys, type_name, default, meaning in _cells(table)
    )


def tuning(table: str) -> tuple[Option, ...]:
    """Options that concern the speed or memory of an engine: kept."""
    return tuple(
        Option(
            key=key,
            value_type=value_type(type_name),
            default=default,
            standing=Standing.TUNING,
            meaning=meaning,
            old_keys=old_keys,
        )
        for key, old_keys, type_name, default, meaning in _cells(table)
    )


def refused(
    table: str,
    *,
    changes: frozenset[Use],
    for_scan: bool = False,
    immutable: bool = False,
    left_to_others: bool = False,
) -> tuple[Option, ...]:
    """Options that Lakebed does not act on; their defaults ask for nothing."""
    return tuple(
        Option(
            key=key,
            value_type=value_type(type_name),
            default=default,
            standing=Standing.REFUSED,
            meaning=meaning,
            changes=changes,
            accepted=() if default is None else (default,),
            old_keys=old_keys,
            for_scan=for_scan,
            immutable=immutable,
            left_to_others=left_to_others,
        )
        for key, old_keys, type_name, default, meaning in _cells(table)
    )


def promises(
    table: str, *, left_to_others: bool = False, for_scan: bool = False
) -> tuple[Option, ...]:
    """Options that ask for an action: no harm in a foreign table, refused from a Lakebed user.

    Args:
        table: The lines.
        left_to_others: Whether `write-only=true` leaves the action to another job.
        for_scan: Whether a scan may carry their defaults.
    """
    return refused(table, changes=NEITHER, left_to_others=left_to_others, for_scan=for_scan)


def _cells(table: str) -> Iterator[tuple[str, tuple[str, ...], str, str | None, str]]:
    for line in table.strip().splitlines():
        keys, type_name, default, meaning = (cell.strip() for cell in line.split("|"))
        key, *old_keys = keys.split()
        yield key, tuple(old_keys), type_name, default or None, meaning
