"""Which time does a partition stand for, by the values of its columns?

`partition.timestamp-pattern` makes one text of them, `$dt $hour:00:00`, by default the first one;
`partition.timestamp-formatter` says how that is read. A value's text is that of a cast.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lakebed.errors import InvalidArgumentError, InvalidDataError, InvalidTableError
from lakebed.format.arrow.typing import ArrowArray, python_values
from lakebed.format.partition_path import partition_value_text
from lakebed.format.schema import TableSchema
from lakebed.format.time_pattern import TimePattern
from lakebed.options.partition_options import PartitionOptions
from lakebed.table.metadata.partitions import partition_table
from lakebed.table.parts import TableParts

Spec = Mapping[str, str | None]
"""The text of each value of one partition; None for null."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionTimes:
    """Reads the time of partitions.

    Attributes:
        pieces: What makes up the text, in turn a text and a partition column.
        pattern: How the text is read.
    """

    pieces: tuple[str, ...]
    pattern: TimePattern

    @classmethod
    def of(cls, schema: TableSchema, options: PartitionOptions) -> "PartitionTimes":
        """Those of a table with partitions.

        Raises:
            InvalidArgumentError: A pattern that cannot be, or that names no partition column.
        """
        keys = schema.partition_keys
        pattern = f"${keys[0]}" if options.pattern is None else options.pattern
        longest_first = sorted(keys, key=len, reverse=True)
        pieces = re.split(rf"\$({'|'.join(map(re.escape, longest_first))})", pattern)
        if len(pieces) == 1 or any("$" in text for text in pieces[::2]):
            raise InvalidArgumentError(
                f"option 'partition.timestamp-pattern' cannot be {pattern!r}: what follows a $ is "
                f"a partition column, which are: {', '.join(keys)}"
            )
        return cls(pieces=tuple(pieces), pattern=TimePattern.of(options.formatter))

    def millis(self, spec: Spec) -> int | None:
        """The time in milliseconds of the wall's clock; None for values that name none."""
        texts = list(self.pieces)
        for place in range(1, len(texts), 2):
            value = spec[texts[place]]
            if value is None:
                return None
            texts[place] = value
        return self.pattern.millis("".join(texts))


def partition_specs(parts: TableParts, partitions: ArrowArray) -> list[Spec]:
    """The values of serialized partition rows as texts."""
    fields = parts.schema.partition_type.fields
    zone = parts.session.time_zone
    columns = [
        [
            None
            if value is None
            else partition_value_text(value, field, legacy=False, time_zone=zone)
            for value in python_values(column)
        ]
        for field, column in zip(fields, partition_table(partitions, fields).columns, strict=True)
    ]
    names = [field.name for field in fields]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def shown(spec: Spec) -> str:
    """A partition for a message: `dt=2024-01-31, hh=7`."""
    return ", ".join(f"{name}={value}" for name, value in spec.items())


def check_partition_options(schema: TableSchema) -> None:
    """Refuses options of partitions that can never be acted on.

    Raises:
        InvalidArgumentError: A pattern that cannot be, or that names no partition column.
        InvalidTableError: Partitions are to expire, and there are none.
    """
    options = PartitionOptions.parse(schema.options)
    if schema.partition_keys:
        PartitionTimes.of(schema, options)
    elif options.expiration_time is not None:
        raise InvalidTableError(
            "'partition.expiration-time' says how long partitions are kept, and the table has no "
            "partition columns; remove it or give some"
        )


def check_times(parts: TableParts, partitions: ArrowArray) -> None:
    """Refuses partitions that name no time, where `partition.timestamp-format.strict` is true.

    Args:
        parts: The table.
        partitions: The serialized rows of those that are written to.

    Raises:
        InvalidDataError: A partition names no time.
    """
    options = PartitionOptions.parse(parts.texts)
    is_told = options.formatter is not None or options.pattern is not None
    if not (options.is_strict and is_told and parts.schema.partition_keys):
        return
    times = PartitionTimes.of(parts.schema, options)
    wrong = [each for each in partition_specs(parts, partitions) if times.millis(each) is None]
    if wrong:
        raise InvalidDataError(
            f"partition {shown(wrong[0])} names no time by 'partition.timestamp-pattern' and "
            "'partition.timestamp-formatter', as 'partition.timestamp-format.strict' = true "
            "demands; nothing was written"
        )
