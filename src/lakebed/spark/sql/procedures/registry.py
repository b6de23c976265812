"""Which procedures are there?"""

from collections.abc import Mapping

from lakebed.spark.sql.procedures.branches import (
    CREATE_BRANCH,
    DELETE_BRANCH,
    FAST_FORWARD,
    MERGE_BRANCH,
    RENAME_BRANCH,
)
from lakebed.spark.sql.procedures.check import CHECK
from lakebed.spark.sql.procedures.compaction import COMPACT, COMPACT_DATABASE
from lakebed.spark.sql.procedures.expiry import EXPIRE_SNAPSHOTS
from lakebed.spark.sql.procedures.file_index import REWRITE_FILE_INDEX
from lakebed.spark.sql.procedures.lifetime import (
    CLEAR_CONSUMERS,
    EXPIRE_PARTITIONS,
    MARK_PARTITION_DONE,
    RESET_CONSUMER,
)
from lakebed.spark.sql.procedures.manifests import COMPACT_MANIFEST
from lakebed.spark.sql.procedures.procedure import Procedure
from lakebed.spark.sql.procedures.repairs import (
    PURGE_FILES,
    REMOVE_ORPHAN_FILES,
    REMOVE_UNEXISTING_FILES,
    REPAIR_EARLIEST_SNAPSHOT,
)
from lakebed.spark.sql.procedures.rescale import RESCALE
from lakebed.spark.sql.procedures.rollback import (
    ROLLBACK,
    ROLLBACK_TO_TIMESTAMP,
    ROLLBACK_TO_WATERMARK,
)
from lakebed.spark.sql.procedures.tags import (
    CREATE_TAG,
    CREATE_TAG_FROM_TIMESTAMP,
    DELETE_TAG,
    EXPIRE_TAGS,
    RENAME_TAG,
    REPLACE_TAG,
    TRIGGER_TAG_AUTOMATIC_CREATION,
)

PROCEDURES: Mapping[str, Procedure] = {
    each.name: each
    for each in (
        CHECK,
        CLEAR_CONSUMERS,
        COMPACT,
        COMPACT_DATABASE,
        COMPACT_MANIFEST,
        CREATE_BRANCH,
        CREATE_TAG,
        CREATE_TAG_FROM_TIMESTAMP,
        DELETE_BRANCH,
        DELETE_TAG,
        EXPIRE_PARTITIONS,
        EXPIRE_SNAPSHOTS,
        EXPIRE_TAGS,
        FAST_FORWARD,
        MERGE_BRANCH,
        MARK_PARTITION_DONE,
        PURGE_FILES,
        REMOVE_ORPHAN_FILES,
        REMOVE_UNEXISTING_FILES,
        RENAME_BRANCH,
        RENAME_TAG,
        REPAIR_EARLIEST_SNAPSHOT,
        REPLACE_TAG,
        RESCALE,
        RESET_CONSUMER,
        REWRITE_FILE_INDEX,
        ROLLBACK,
        ROLLBACK_TO_TIMESTAMP,
        ROLLBACK_TO_WATERMARK,
        TRIGGER_TAG_AUTOMATIC_CREATION,
    )
}
"""The procedures by name."""
