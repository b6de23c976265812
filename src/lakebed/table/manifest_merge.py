"""Which manifests a commit merges into fewer, so that a plan never opens thousands (format.md 7).

Pure. Manifests are taken in list order. A run of small ones is merged when together they reach the
target size, and the rest at the end only once there are many of them; when those that are small or
carry deletes have grown to the threshold of a full merge, all of them are merged at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lakebed.format.manifest import ManifestFileMeta


@dataclass(frozen=True, slots=True, kw_only=True)
class MergePolicy:
    """When to merge.

    Attributes:
        target_size_bytes: `manifest.target-file-size`.
        count_min: `manifest.merge-min-count`.
        full_size_bytes: `manifest.full-compaction-threshold-size`.
    """

    target_size_bytes: int
    count_min: int
    full_size_bytes: int

    def pick(self, manifests: Sequence[ManifestFileMeta]) -> list[list[ManifestFileMeta]]:
        """Groups in list order; a group of one manifest stays as it is, a larger one is merged."""
        mergeable = [
            m for m in manifests if m.num_deleted_files or m.file_size < self.target_size_bytes
        ]
        if len(mergeable) > 1 and sum(m.file_size for m in mergeable) >= self.full_size_bytes:
            kept = [[m] for m in manifests if m not in mergeable]
            return [*kept, mergeable]
        return self._pick_runs(manifests)

    def _pick_runs(self, manifests: Sequence[ManifestFileMeta]) -> list[list[ManifestFileMeta]]:
        groups: list[list[ManifestFileMeta]] = []
        run: list[ManifestFileMeta] = []
        for manifest in manifests:
            run.append(manifest)
            if sum(m.file_size for m in run) >= self.target_size_bytes:
                groups.append(run)
                run = []
        if len(run) >= self.count_min:
            groups.append(run)
        else:
            groups.extend([m] for m in run)
        return groups
