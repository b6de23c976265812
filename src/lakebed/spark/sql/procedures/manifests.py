"""`sys.compact_manifest`."""

import logging

from lakebed.spark.sql.procedures.changed_options import with_options
from lakebed.spark.sql.procedures.procedure import (
    DONE,
    RESULT,
    TABLE,
    Answer,
    Parameter,
    Procedure,
    ProcedureCall,
)
from lakebed.table.compaction.manifests import manifest_compaction

_log = logging.getLogger(__name__)


def _compact_manifest(call: ProcedureCall) -> Answer:
    table = with_options(call.table(), call.text("options"))
    is_sorted = call.values["manifest_sort_enabled"]
    compaction = manifest_compaction(
        table.parts(),
        manifest_sort_enabled=is_sorted if isinstance(is_sorted, bool) else None,
        manifest_sort_partition_field=call.text("manifest_sort_partition_field"),
        manifest_sort_max_rewrite_size=call.text("manifest_sort_max_rewrite_size"),
    )
    if call.values["dry_run"]:
        for row in compaction.table().to_pylist():
            _log.info("%s would be written anew: %s", row["file_name"], row["why"])
    else:
        compaction.carry_out()
    return DONE


COMPACT_MANIFEST = Procedure(
    name="compact_manifest",
    parameters=(
        TABLE,
        Parameter(name="options"),
        Parameter(name="dry_run", kind=bool),
        Parameter(name="manifest_sort_enabled", kind=bool),
        Parameter(name="manifest_sort_partition_field"),
        Parameter(name="manifest_sort_max_rewrite_size"),
    ),
    columns=RESULT,
    run=_compact_manifest,
)
