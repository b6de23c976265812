"""Which files of an append table do compactions cluster, where `clustering.incremental` says so?

Such a table has no other compactions: they would mix what was laid out.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from lakebed.format.schema import TableSchema
from lakebed.lsm.clustering.incremental import IncrementalClustering, cut
from lakebed.lsm.clustering.row_sorter import RowOrdering
from lakebed.lsm.compaction.pick import Pick
from lakebed.options.clustering_options import ClusteringOptions
from lakebed.options.compaction_options import CompactionOptions
from lakebed.table.clustering_definition import clustering_of, ordering_of
from lakebed.table.compaction.buckets import BucketFiles
from lakebed.table.compaction.sort_order import text_bytes
from lakebed.table.parts import TableParts


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustering:
    """How the files of a table are clustered.

    Attributes:
        policy: Which of them.
        ordering: What their rows are sorted by.
        schemas: Every schema that some file was written with, by id.
        task_size: With `local-sort`, about how many bytes are sorted together; None: all.
        open_file_cost: `source.split.open-file-cost`: what a file counts for beside its size there.
    """

    policy: IncrementalClustering
    ordering: RowOrdering
    schemas: Mapping[int, TableSchema]
    task_size: int | None
    open_file_cost: int

    @classmethod
    def of(cls, parts: TableParts, options: CompactionOptions) -> "Clustering | None":
        """What the options of a table ask for; None where it is not clustered.

        Args:
            parts: A table.
            options: Its options of compaction.

        Raises:
            InvalidArgumentError: The columns are too few for the strategy.
            InvalidTableError: The columns, keys or other options forbid it.
        """
        asked = clustering_of(parts.schema, parts.options)
        if asked is None:
            return None
        return cls(
            policy=IncrementalClustering.of(asked.columns, options),
            ordering=RowOrdering(
                columns=asked.columns, strategy=ordering_of(asked), text_bytes=text_bytes(parts)
            ),
            schemas=parts.schemas.load_all(),
            task_size=parts.options.source_split_target_size if asked.is_local else None,
            open_file_cost=parts.options.source_split_open_file_cost,
        )

    def picks(self, stored: BucketFiles, *, is_full: bool) -> list[Pick]:
        """What to cluster of a bucket, or of a partition without buckets; a pick a task.

        Args:
            stored: Its files.
            is_full: Whether all of it is asked for, or what the options say.

        Raises:
            NotFoundError: The schema of a file is missing.
        """
        levels = self.policy.levels(stored.metas)
        if is_full:
            ids = {meta.schema_id for meta in stored.metas}
            columns = {each: self._columns(self.schemas[each]) for each in ids}
            pick = self.policy.pick_full(levels, columns_then=columns)
        else:
            pick = self.policy.pick(levels)
        if pick is None or self.task_size is None:
            return [] if pick is None else [pick]
        return cut(
            pick,
            deleted=stored.deleted_rows,
            task_size=self.task_size,
            open_file_cost=self.open_file_cost,
        )

    @staticmethod
    def _columns(schema: TableSchema) -> tuple[str, ...]:
        return ClusteringOptions.parse(schema.options).columns
