"""What was a DataFrame reader or writer told before it was asked to act?

On classic Spark the answer lies in the JVM, where it cannot be read back; so it is written down as
the calls are made.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame, SparkSession

from lakebed.options.values import OptionValue, format_value

_ATTRIBUTE = "_lakebed_calls"
PAIMON = "paimon"


@dataclass(slots=True, kw_only=True)
class Calls:
    """The calls on one reader or writer.

    Attributes:
        session: The session of a reader.
        frame: What a writer writes.
        table: The table given to `writeTo`.
        format: The format.
        mode: The save mode.
        options: The options, as text.
        partition_by: Partition columns.
        properties: Table properties of `writeTo`.
        query_name: Of a streaming query.
        unsupported: Names of calls that Lakebed cannot heed.
    """

    session: SparkSession | None = None
    frame: DataFrame | None = None
    table: str | None = None
    format: str | None = None
    mode: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    partition_by: tuple[object, ...] = ()
    properties: dict[str, str] = field(default_factory=dict)
    query_name: str | None = None
    unsupported: list[str] = field(default_factory=list)

    @property
    def is_paimon(self) -> bool:
        """Whether the format is ours."""
        return self.format is not None and self.format.lower() == PAIMON

    def add_options(self, options: Mapping[str, OptionValue | None]) -> None:
        """Writes options down; those without a value are no options."""
        for key, value in options.items():
            if value is not None:
                self.options[key] = format_value(value)


def calls_of(builder: object) -> Calls:
    """What is written down of a reader or writer."""
    found = vars(builder).get(_ATTRIBUTE)
    if isinstance(found, Calls):
        return found
    calls = Calls()
    setattr(builder, _ATTRIBUTE, calls)
    return calls
