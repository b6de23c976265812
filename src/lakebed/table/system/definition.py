"""What a table is said to be: `$schemas`, `$options`, `$aggregation_fields`."""

from collections.abc import Collection, Mapping

import pyarrow as pa

from lakebed.errors import NotFoundError
from lakebed.format.json_text import format_flat_json
from lakebed.format.schema import TableSchema
from lakebed.format.type_json import field_to_json
from lakebed.format.type_text import format_type
from lakebed.table.system.kind import (
    MetadataView,
    SystemTableKind,
    system_schema,
    table_of,
    table_of_rows,
)

_SCHEMA_SCHEMA = system_schema(
    {
        "schema_id": "BIGINT NOT NULL",
        "fields": "STRING NOT NULL",
        "partition_keys": "STRING NOT NULL",
        "primary_keys": "STRING NOT NULL",
        "options": "STRING NOT NULL",
        "comment": "STRING",
        "update_time": "TIMESTAMP(3) NOT NULL",
    },
    key=["schema_id"],
)


def _schema_rows(view: MetadataView, _: Collection[str]) -> pa.Table:
    found = [view.parts.schemas.load(each) for each in view.parts.schemas.list_ids()]
    columns: dict[str, object] = {
        "schema_id": [each.id for each in found],
        "fields": [format_flat_json(list(map(field_to_json, each.fields))) for each in found],
        "partition_keys": [format_flat_json(each.partition_keys) for each in found],
        "primary_keys": [format_flat_json(each.primary_keys) for each in found],
        "options": [format_flat_json(each.options) for each in found],
        "comment": [each.comment for each in found],
        "update_time": view.local_times([each.time_millis for each in found]),
    }
    return table_of(_SCHEMA_SCHEMA.fields, columns)


SCHEMAS = SystemTableKind(name="schemas", schema=_SCHEMA_SCHEMA, rows=_schema_rows)

_OPTION_SCHEMA = system_schema({"key": "STRING NOT NULL", "value": "STRING NOT NULL"}, key=["key"])


def _option_rows(view: MetadataView, _: Collection[str]) -> pa.Table:
    return table_of_rows(_OPTION_SCHEMA.fields, _latest_schema(view).options.items())


OPTIONS = SystemTableKind(name="options", schema=_OPTION_SCHEMA, rows=_option_rows)

_AGGREGATION_SCHEMA = system_schema(
    {
        "field_name": "STRING NOT NULL",
        "field_type": "STRING NOT NULL",
        "function": "STRING",
        "function_options": "STRING",
        "comment": "STRING",
    },
    key=["field_name"],
)


def _aggregation_rows(view: MetadataView, _: Collection[str]) -> pa.Table:
    schema = _latest_schema(view)
    options = _options_by_field(schema.options)
    rows = []
    for field in schema.fields:
        own = options.get(field.name, {})
        keys, values = f"[{', '.join(own)}]", f"[{', '.join(own.values())}]"
        rows.append((field.name, format_type(field.type), values, keys, field.description))
    return table_of_rows(_AGGREGATION_SCHEMA.fields, rows)


AGGREGATION_FIELDS = SystemTableKind(
    name="aggregation_fields", schema=_AGGREGATION_SCHEMA, rows=_aggregation_rows
)


def _options_by_field(options: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """The options `fields.<name>.<what>` by the field that they name."""
    found: dict[str, dict[str, str]] = {}
    for key, value in options.items():
        parts = key.rstrip(".").split(".")
        if len(parts) > 2 and parts[0] == "fields":
            found.setdefault(parts[1], {})[key] = value
    return found


def _latest_schema(view: MetadataView) -> TableSchema:
    """The newest schema, whatever the point in time."""
    schema = view.parts.schemas.latest()
    if schema is None:
        raise NotFoundError("table", view.parts.paths.location)
    return schema
