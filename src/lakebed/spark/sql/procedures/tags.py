"""`sys.create_tag` and the other procedures of tags."""

from pyspark.sql.types import LongType, StringType, StructField

from lakebed.errors import InvalidArgumentError
from lakebed.spark.sql.procedures.procedure import (
    DONE,
    RESULT,
    TABLE,
    Answer,
    Parameter,
    Procedure,
    ProcedureCall,
)

_TAG = Parameter(name="tag", is_required=True)
_TIME_RETAINED = Parameter(name="time_retained")


def _create_tag(call: ProcedureCall) -> Answer:
    call.table().create_tag(
        call.required_text("tag"), call.number("snapshot"), call.text("time_retained")
    )
    return DONE


def _create_tag_from_timestamp(call: ProcedureCall) -> Answer:
    timestamp = call.number("timestamp")
    if timestamp is None:
        raise InvalidArgumentError("timestamp is not given; it is epoch milliseconds")
    tag = call.table().create_tag_from_timestamp(
        call.required_text("tag"), timestamp, call.text("time_retained")
    )
    snapshot = tag.snapshot
    watermark = "null" if snapshot.watermark is None else str(snapshot.watermark)
    return [(tag.name, snapshot.id, snapshot.time_millis, watermark)]


def _replace_tag(call: ProcedureCall) -> Answer:
    call.table().replace_tag(
        call.required_text("tag"), call.number("snapshot"), call.text("time_retained")
    )
    return DONE


def _rename_tag(call: ProcedureCall) -> Answer:
    call.table().rename_tag(call.required_text("tag"), call.required_text("target_tag"))
    return DONE


def _delete_tag(call: ProcedureCall) -> Answer:
    call.table().delete_tag(call.required_text("tag"))
    return DONE


def _expire_tags(call: ProcedureCall) -> Answer:
    expired = call.table().expire_tags(call.text("older_than"))
    return [(name,) for name in expired or ["No expired tags."]]


def _trigger_tag_automatic_creation(call: ProcedureCall) -> Answer:
    call.table().trigger_tag_automatic_creation()
    return DONE


CREATE_TAG = Procedure(
    name="create_tag",
    parameters=(TABLE, _TAG, Parameter(name="snapshot", kind=int), _TIME_RETAINED),
    columns=RESULT,
    run=_create_tag,
)
CREATE_TAG_FROM_TIMESTAMP = Procedure(
    name="create_tag_from_timestamp",
    parameters=(TABLE, _TAG, Parameter(name="timestamp", kind=int), _TIME_RETAINED),
    columns=(
        StructField("tagName", StringType()),
        StructField("snapshot", LongType()),
        StructField("commit_time", LongType()),
        StructField("watermark", StringType()),
    ),
    run=_create_tag_from_timestamp,
)
REPLACE_TAG = Procedure(
    name="replace_tag",
    parameters=CREATE_TAG.parameters,
    columns=RESULT,
    run=_replace_tag,
)
RENAME_TAG = Procedure(
    name="rename_tag",
    parameters=(TABLE, _TAG, Parameter(name="target_tag", is_required=True)),
    columns=RESULT,
    run=_rename_tag,
)
DELETE_TAG = Procedure(
    name="delete_tag",
    parameters=(TABLE, _TAG),
    columns=RESULT,
    run=_delete_tag,
)
EXPIRE_TAGS = Procedure(
    name="expire_tags",
    parameters=(TABLE, Parameter(name="older_than")),
    columns=(StructField("expired_tags", StringType(), nullable=False),),
    run=_expire_tags,
)
TRIGGER_TAG_AUTOMATIC_CREATION = Procedure(
    name="trigger_tag_automatic_creation",
    parameters=(TABLE,),
    columns=RESULT,
    run=_trigger_tag_automatic_creation,
)
