"""What is a procedure, and what does it see of the call?"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql.types import BooleanType, StructField

from lakebed.errors import InvalidArgumentError
from lakebed.format.predicate.expressions import Expression
from lakebed.format.predicate.parser import parse_predicate
from lakebed.spark.lake import Lake
from lakebed.spark.names import TableName, split_name
from lakebed.table.table import Table

_DEFAULT_DATABASE = "default"

Value = str | int | bool | None
Answer = Sequence[tuple[object, ...]]

DONE: Answer = ((True,),)
"""The answer of a procedure that says no more than that it is done; its columns are `RESULT`."""
RESULT = (StructField("result", BooleanType()),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of a procedure.

    Attributes:
        name: Its name; in calls, in any case.
        kind: What it takes: text, a whole number, or true and false.
        is_required: Whether every call gives it.
    """

    name: str
    kind: type[str] | type[int] | type[bool] = str
    is_required: bool = False


TABLE = Parameter(name="table", is_required=True)
"""The table that a procedure is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcedureCall:
    """A call of a procedure.

    Attributes:
        lake: The session.
        catalog: The catalog whose procedure it is.
        values: A value for each parameter; None where none was given.
    """

    lake: Lake
    catalog: str
    values: Mapping[str, Value]

    def text(self, name: str) -> str | None:
        """The text given for a parameter; a blank one is as none."""
        value = self.values[name]
        return value if isinstance(value, str) and value.strip() else None

    def required_text(self, name: str) -> str:
        """The text given for a parameter that every call gives; a blank one is empty."""
        return self.text(name) or ""

    def number(self, name: str) -> int | None:
        """The whole number given for a parameter."""
        value = self.values[name]
        return value if isinstance(value, int) else None

    def task_count(self) -> int:
        """How many tasks the parameter `parallelism` asks for; where it is not given, the cores.

        Raises:
            InvalidArgumentError: It is below 1.
        """
        given = self.number("parallelism")
        if given is None:
            return self.lake.registry.parallelism(self.lake.spark)
        if given < 1:
            raise InvalidArgumentError(f"parallelism is {given}; it cannot be below 1")
        return given

    def condition(self, name: str, table: Table) -> Expression | None:
        """The condition on columns of a table that is given for a parameter.

        Raises:
            InvalidArgumentError: It is none.
        """
        text = self.text(name)
        if text is None:
            return None
        return parse_predicate(
            text,
            table.schema.row_type,
            time_zone=self.lake.time_zone,
            case_sensitive=self.lake.is_case_sensitive,
        )

    def table(self) -> Table:
        """The table that the parameter `table` names, as it is now.

        Raises:
            AnalysisException: There is no such table.
            InvalidArgumentError: It is named as one of another catalog, or by no name.
        """
        return self.lake.load(self._table_name(self.required_text("table")))

    def _table_name(self, text: str) -> TableName:
        registry = self.lake.registry
        match split_name(text):
            case (table,):
                is_current = registry.current_catalog == self.catalog
                database = registry.current_database if is_current else _DEFAULT_DATABASE
                return TableName(self.catalog, database, table)
            case (database, table):
                return TableName(self.catalog, database, table)
            case (self.catalog, database, table):
                return TableName(self.catalog, database, table)
            case (other, *_):
                raise InvalidArgumentError(
                    f"table is {text!r}, and this is a procedure of the catalog {self.catalog!r};"
                    f" name one of its tables, or call {other}.sys"
                )
            case _:
                raise InvalidArgumentError(f"table is {text!r}, which is no name")


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """A procedure of the database `sys`.

    Attributes:
        name: Its name there.
        parameters: What it takes, in order.
        columns: The columns of its answer.
        run: Does it, and gives the rows of the answer.
    """

    name: str
    parameters: tuple[Parameter, ...]
    columns: tuple[StructField, ...]
    run: Callable[[ProcedureCall], Answer]
