"""What are the parts of statements that run others?"""

from collections.abc import Sequence
from dataclasses import dataclass

from lakebed.spark.sql.statements import Name, Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A value that is given to a statement: its expression, and its name if it has one."""

    text: str
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecuteImmediate(Statement):
    """EXECUTE IMMEDIATE.

    Attributes:
        text: An expression whose value is the statement to run.
        into: Variables that take the row that the statement gives.
        values: What parameter markers in the statement stand for.
    """

    text: str
    into: Sequence[Name] = ()
    values: Sequence[Value] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Script(Statement):
    """BEGIN ... END: several statements with a flow, as the user wrote them."""

    text: str
