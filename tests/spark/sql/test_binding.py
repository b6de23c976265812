"""Arguments of a CALL against the parameters of a procedure."""

import pytest
from pyspark.errors import AnalysisException

from lakebed.spark.sql.procedures.binding import bound
from lakebed.spark.sql.procedures.procedure import Parameter, Procedure

EXPIRE = Procedure(
    name="expire",
    parameters=(
        Parameter(name="table", is_required=True),
        Parameter(name="retain_max", kind=int),
        Parameter(name="dryRun", kind=bool),
    ),
    columns=(),
    run=lambda _: [],
)


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ([(None, "t")], ("t", None, None)),
        ([(None, "t"), (None, 3), (None, True)], ("t", 3, True)),
        ([(None, "t"), ("DRYRUN", False)], ("t", None, False)),
        ([("retain_max", None), ("Table", 7)], ("7", None, None)),
        ([("table", True)], ("true", None, None)),
    ],
)
def test_arguments_are_bound_by_place_and_by_name_in_any_case(
    arguments: list[tuple[str | None, object]], values: tuple[object, ...]
) -> None:
    names = ("table", "retain_max", "dryRun")
    assert bound(EXPIRE, arguments, routine="r") == dict(zip(names, values, strict=True))


@pytest.mark.parametrize(
    ("arguments", "condition", "state"),
    [
        ([], "REQUIRED_PARAMETER_NOT_FOUND", "4274K"),
        ([("table", None)], "REQUIRED_PARAMETER_NOT_FOUND", "4274K"),
        ([("tables", "t")], "UNRECOGNIZED_PARAMETER_NAME", "4274K"),
        ([("table", "t"), (None, 1)], "UNEXPECTED_POSITIONAL_ARGUMENT", "4274K"),
        ([(None, "t"), ("TABLE", "u")], "DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT", "4274K"),
        ([(None, "t")] * 4, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "42605"),
        ([(None, "t"), (None, "3")], "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "42K09"),
        ([(None, "t"), (None, True)], "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "42K09"),
        ([(None, "t"), ("dryRun", 1)], "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "42K09"),
        ([(None, b"t")], "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "42K09"),
    ],
)
def test_arguments_that_cannot_be_have_the_conditions_of_spark(
    arguments: list[tuple[str | None, object]], condition: str, state: str
) -> None:
    with pytest.raises(AnalysisException) as caught:
        bound(EXPIRE, arguments, routine="`lake`.`sys`.`expire`")
    assert (caught.value.getCondition(), caught.value.getSqlState()) == (condition, state)
