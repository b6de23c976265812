"""Which manifests a commit merges into fewer, so that a plan never opens thousands (format.md 7).

Pure. Manifests are taken in list order. A run of small ones is merged when together they reach the
target size, and the rest at the end only once there are many of them; when those that are small or
carry deletes have grown to the threshold of a full merge, all of them are merged at once, and with
deletes among them all manifests are, so that what is gone leaves the metadata.
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
        mergeable = [self._is_mergeable(manifest) for manifest in manifests]
        pairs = list(zip(manifests, mergeable, strict=True))
        merged = [manifest for manifest, is_mergeable in pairs if is_mergeable]
        if len(merged) > 1 and sum(m.file_size for m in merged) >= self.full_size_bytes:
            # A DELETE can only meet its ADD when the manifest of the ADD is merged too.
            if any(manifest.num_deleted_files for manifest in merged):
                return [list(manifests)]
            return [*([manifest] for manifest, is_mergeable in pairs if not is_mergeable), merged]
        return self._pick_runs(manifests)

    def _is_mergeable(self, manifest: ManifestFileMeta) -> bool:
        return manifest.num_deleted_files > 0 or manifest.file_size < self.target_size_bytes

    def _pick_runs(self, manifests: Sequence[ManifestFileMeta]) -> list[list[ManifestFileMeta]]:
        groups: list[list[ManifestFileMeta]] = []
        run: list[ManifestFileMeta] = []
        size = 0
        for manifest in manifests:
            run.append(manifest)
            size += manifest.file_size
            if size >= self.target_size_bytes:
                groups.append(run)
                run, size = [], 0
        if len(run) >= self.count_min:
            groups.append(run)
        else:
            groups.extend([m] for m in run)
        return groups
