"""`sys.create_branch`, `sys.delete_branch`, `sys.rename_branch` and others."""

from lakebed.format.paths import MAIN_BRANCH
from lakebed.spark.sql.procedures.procedure import (
    DONE,
    RESULT,
    TABLE,
    Answer,
    Parameter,
    Procedure,
    ProcedureCall,
)

_BRANCH = Parameter(name="branch", is_required=True)


def _create_branch(call: ProcedureCall) -> Answer:
    call.table().create_branch(
        call.required_text("branch"),
        call.text("tag"),
        ignoreIfExists=(call.text("ignoreIfExists") or "").lower() == "true",
    )
    return DONE


def _delete_branch(call: ProcedureCall) -> Answer:
    call.table().delete_branch(call.required_text("branch"))
    return DONE


def _rename_branch(call: ProcedureCall) -> Answer:
    call.table().rename_branch(call.required_text("from_branch"), call.required_text("to_branch"))
    return DONE


def _fast_forward(call: ProcedureCall) -> Answer:
    call.table().fast_forward(call.required_text("branch"))
    return DONE


def _merge_branch(call: ProcedureCall) -> Answer:
    target = call.text("target_branch") or MAIN_BRANCH
    call.table().merge_branch(call.required_text("source_branch"), target)
    return DONE


CREATE_BRANCH = Procedure(
    name="create_branch",
    parameters=(TABLE, _BRANCH, Parameter(name="tag"), Parameter(name="ignoreIfExists")),
    columns=RESULT,
    run=_create_branch,
)
DELETE_BRANCH = Procedure(
    name="delete_branch",
    parameters=(TABLE, _BRANCH),
    columns=RESULT,
    run=_delete_branch,
)
RENAME_BRANCH = Procedure(
    name="rename_branch",
    parameters=(
        TABLE,
        Parameter(name="from_branch", is_required=True),
        Parameter(name="to_branch", is_required=True),
    ),
    columns=RESULT,
    run=_rename_branch,
)
FAST_FORWARD = Procedure(
    name="fast_forward",
    parameters=(TABLE, _BRANCH),
    columns=RESULT,
    run=_fast_forward,
)
MERGE_BRANCH = Procedure(
    name="merge_branch",
    parameters=(
        TABLE,
        Parameter(name="source_branch", is_required=True),
        Parameter(name="target_branch"),
    ),
    columns=RESULT,
    run=_merge_branch,
)
