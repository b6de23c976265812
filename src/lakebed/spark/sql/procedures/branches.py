"""`sys.create_branch`, `sys.delete_branch`, `sys.rename_branch` and `sys.fast_forward`."""

from pyspark.sql.types import BooleanType, StructField

from lakebed.spark.sql.procedures.procedure import Answer, Parameter, Procedure, ProcedureCall

_RESULT = (StructField("result", BooleanType()),)
_TABLE = Parameter(name="table", is_required=True)
_BRANCH = Parameter(name="branch", is_required=True)


def _create_branch(call: ProcedureCall) -> Answer:
    call.table().create_branch(
        call.text("branch") or "",
        call.text("tag"),
        ignoreIfExists=(call.text("ignoreIfExists") or "").lower() == "true",
    )
    return [(True,)]


def _delete_branch(call: ProcedureCall) -> Answer:
    call.table().delete_branch(call.text("branch") or "")
    return [(True,)]


def _rename_branch(call: ProcedureCall) -> Answer:
    call.table().rename_branch(call.text("from_branch") or "", call.text("to_branch") or "")
    return [(True,)]


def _fast_forward(call: ProcedureCall) -> Answer:
    call.table().fast_forward(call.text("branch") or "")
    return [(True,)]


CREATE_BRANCH = Procedure(
    name="create_branch",
    parameters=(_TABLE, _BRANCH, Parameter(name="tag"), Parameter(name="ignoreIfExists")),
    columns=_RESULT,
    run=_create_branch,
)
DELETE_BRANCH = Procedure(
    name="delete_branch",
    parameters=(_TABLE, _BRANCH),
    columns=_RESULT,
    run=_delete_branch,
)
RENAME_BRANCH = Procedure(
    name="rename_branch",
    parameters=(
        _TABLE,
        Parameter(name="from_branch", is_required=True),
        Parameter(name="to_branch", is_required=True),
    ),
    columns=_RESULT,
    run=_rename_branch,
)
FAST_FORWARD = Procedure(
    name="fast_forward",
    parameters=(_TABLE, _BRANCH),
    columns=_RESULT,
    run=_fast_forward,
)
