"""What every file of a table is called, and where it lies (format.md 1, 11).

All names on disk are here, but for those of COPY INTO in `load_paths`: `TablePaths` says where a
thing with a known name is, `FileNames` makes names that no other writer makes, and the functions
ending in `_of` read a name.

A branch has its own schemas, snapshots, tags, changelogs and consumers in `branch/branch-<name>`;
manifests, index files, statistics and data stay with the table.
"""

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from lakebed.errors import CorruptTableError
from lakebed.format.partition_path import (
    DEFAULT_PARTITION_NAME,
    escape_path_name,
    format_partition,
    parse_partition,
    unescape_path_name,
)

__all__ = [
    "DEFAULT_PARTITION_NAME",
    "FILE_INDEX_SUFFIX",
    "MAIN_BRANCH",
    "POSTPONE_BUCKET",
    "UNFINISHED_MARK",
    "FileNames",
    "TablePaths",
    "branch_name_of",
    "bucket_of",
    "changelog_id_of",
    "consumer_id_of",
    "escape_path_name",
    "expired_id_of",
    "file_index_name",
    "format_of",
    "format_partition",
    "is_staging",
    "later_file_index_name",
    "parse_partition",
    "rollback_id_of",
    "rollback_tag",
    "schema_id_of",
    "snapshot_id_of",
    "tag_name_of",
    "unescape_path_name",
]

MAIN_BRANCH = "main"
POSTPONE_BUCKET = -2
FILE_INDEX_SUFFIX = ".index"
UNFINISHED_MARK = ".lakebed-unfinished"

# Names that begin with a dot are skipped by whoever lists the directory for data.
_STAGING_PREFIX = ".lakebed-staging-"
_EXPIRED_PREFIX = ".lakebed-expired-"
_ROLLBACK_TAG_PREFIX = "lakebed-rollback-"
_LATEST_HINT, _EARLIEST_HINT = "LATEST", "EARLIEST"
_COMPRESSION_EXTENSIONS = frozenset({"gz", "bz2", "deflate", "snappy", "lz4", "zst"})


@dataclass(frozen=True, slots=True)
class TablePaths:
    """Where the files of one table, or of one of its branches, are.

    Attributes:
        location: The table's directory, without a slash at its end.
        branch: Whose schemas, snapshots, tags, changelogs and consumers are meant.
        data_directory: `data-file.path-directory`, below which partitions and buckets lie.
    """

    location: str
    branch: str = MAIN_BRANCH
    data_directory: str | None = None

    def __post_init__(self) -> None:
        """Drops slashes at the end, so that one table has one location."""
        stripped = self.location.rstrip("/")
        # A scheme's slashes are no end of a directory: file:/// is the root.
        if stripped and not stripped.endswith(":"):
            object.__setattr__(self, "location", stripped)

    def of_branch(self, name: str) -> "TablePaths":
        """The same table seen from a branch."""
        return replace(self, branch=name)

    @property
    def branch_directory(self) -> str:
        """Where the branches of the table are listed."""
        return f"{self.location}/branch"

    @property
    def metadata_directory(self) -> str:
        """Below which the branch has its own schemas, snapshots, tags, changelogs, consumers."""
        if self.branch == MAIN_BRANCH:
            return self.location
        return f"{self.branch_directory}/branch-{self.branch}"

    @property
    def schema_directory(self) -> str:
        """Where the schemas are listed."""
        return f"{self.metadata_directory}/schema"

    def schema(self, schema_id: int) -> str:
        """A schema file."""
        return f"{self.schema_directory}/schema-{schema_id}"

    @property
    def unfinished_mark(self) -> str:
        """What lies beside the schemas of a branch while it is being made or deleted."""
        return f"{self.schema_directory}/{UNFINISHED_MARK}"

    @property
    def snapshot_directory(self) -> str:
        """Where the snapshots are listed."""
        return f"{self.metadata_directory}/snapshot"

    def snapshot(self, snapshot_id: int) -> str:
        """A snapshot file."""
        return f"{self.snapshot_directory}/snapshot-{snapshot_id}"

    def expired_snapshot(self, snapshot_id: int) -> str:
        """What an expired snapshot was, as long as files that only it needed may be there."""
        return f"{self.snapshot_directory}/{_EXPIRED_PREFIX}{snapshot_id}"

    @property
    def latest_hint(self) -> str:
        """The hint that names the newest snapshot."""
        return f"{self.snapshot_directory}/{_LATEST_HINT}"

    @property
    def earliest_hint(self) -> str:
        """The hint that names the oldest snapshot."""
        return f"{self.snapshot_directory}/{_EARLIEST_HINT}"

    @property
    def overwrites_hint(self) -> str:
        """The hint that says which snapshots are overwrites."""
        return f"{self.snapshot_directory}/.lakebed-overwrites"

    @property
    def tag_directory(self) -> str:
        """Where the tags are listed."""
        return f"{self.metadata_directory}/tag"

    def tag(self, name: str) -> str:
        """A tag file."""
        return f"{self.tag_directory}/tag-{name}"

    def tag_success(self, name: str) -> str:
        """The mark that a tag was made."""
        return f"{self.tag_directory}/tag-success-file/{name}_SUCCESS"

    @property
    def changelog_directory(self) -> str:
        """Where changelogs that outlive their snapshots are listed."""
        return f"{self.metadata_directory}/changelog"

    def changelog(self, snapshot_id: int) -> str:
        """A changelog that outlives its snapshot."""
        return f"{self.changelog_directory}/changelog-{snapshot_id}"

    @property
    def latest_changelog_hint(self) -> str:
        """The hint that names the newest changelog that outlives its snapshot."""
        return f"{self.changelog_directory}/{_LATEST_HINT}"

    @property
    def earliest_changelog_hint(self) -> str:
        """The hint that names the oldest one."""
        return f"{self.changelog_directory}/{_EARLIEST_HINT}"

    @property
    def consumer_directory(self) -> str:
        """Where the consumers are listed."""
        return f"{self.metadata_directory}/consumer"

    def consumer(self, consumer_id: str) -> str:
        """A consumer's progress."""
        return f"{self.consumer_directory}/consumer-{consumer_id}"

    @property
    def manifest_directory(self) -> str:
        """Where manifests, manifest lists and index manifests lie."""
        return f"{self.location}/manifest"

    def manifest(self, name: str) -> str:
        """A manifest, manifest list or index manifest."""
        return f"{self.manifest_directory}/{name}"

    @property
    def index_directory(self) -> str:
        """Where index files lie."""
        return f"{self.location}/index"

    def index(self, name: str) -> str:
        """An index file."""
        return f"{self.index_directory}/{name}"

    @property
    def statistics_directory(self) -> str:
        """Where the statistics of ANALYZE lie."""
        return f"{self.location}/statistics"

    def statistics(self, name: str) -> str:
        """A statistics file."""
        return f"{self.statistics_directory}/{name}"

    def partition(self, partition_path: str) -> str:
        """A partition's directory; the empty path is the table without partitions."""
        parts = (self.location, self.data_directory, partition_path)
        return "/".join(part for part in parts if part)

    def partition_success(self, partition_path: str) -> str:
        """The mark that a partition is done; in the table, wherever the data lies."""
        return f"{self.location}/{partition_path}/_SUCCESS"

    def bucket(self, partition_path: str, bucket: int) -> str:
        """A bucket's directory."""
        name = "postpone" if bucket == POSTPONE_BUCKET else str(bucket)
        return f"{self.partition(partition_path)}/bucket-{name}"

    def data_file(self, partition_path: str, bucket: int, name: str) -> str:
        """A data file, changelog file or file index in its bucket."""
        return f"{self.bucket(partition_path, bucket)}/{name}"

    def staging(self, unique: str) -> str:
        """A directory for files of one write that are not the table's yet, by a name of its own.

        Its write deletes it in every outcome. What a killed write left, orphan cleaning may delete,
        once it is older than any write that may still run; nobody else may.
        """
        return f"{self.location}/{_STAGING_PREFIX}{unique}"


class FileNames:
    """Names of new files that no other writer makes: one uuid an instance, and counters from 0.

    A pickled instance draws a new uuid where it arrives, so that copies in many tasks do not make
    the same names. Counting is safe between threads.
    """

    def __init__(
        self,
        uuid_source: Callable[[], str],
        *,
        data_prefix: str = "data-",
        changelog_prefix: str = "changelog-",
    ) -> None:
        """Draws the uuid.

        Args:
            uuid_source: Gives a fresh uuid at each call, in every process; can be pickled.
            data_prefix: `data-file.prefix`.
            changelog_prefix: `changelog-file.prefix`.
        """
        self._uuid_source = uuid_source
        self._uuid = uuid_source()
        self._data_prefix = data_prefix
        self._changelog_prefix = changelog_prefix
        self._data_count = itertools.count()
        self._manifest_count = itertools.count()
        self._manifest_list_count = itertools.count()
        self._index_manifest_count = itertools.count()
        self._index_count = itertools.count()
        self._statistics_count = itertools.count()

    def __reduce__(self) -> tuple[object, ...]:
        """Only what makes names travels, not the names' state."""
        return _file_names, (self._uuid_source, self._data_prefix, self._changelog_prefix)

    def data_file(self, extension: str = "parquet") -> str:
        """A data file; the extension says the format, and the codec where it is to be told."""
        return f"{self._data_prefix}{self._uuid}-{next(self._data_count)}.{extension}"

    def changelog_file(self, extension: str = "parquet") -> str:
        """A changelog file."""
        return f"{self._changelog_prefix}{self._uuid}-{next(self._data_count)}.{extension}"

    def manifest(self) -> str:
        """A manifest."""
        return f"manifest-{self._uuid}-{next(self._manifest_count)}"

    def manifest_list(self) -> str:
        """A manifest list."""
        return f"manifest-list-{self._uuid}-{next(self._manifest_list_count)}"

    def index_manifest(self) -> str:
        """An index manifest."""
        return f"index-manifest-{self._uuid}-{next(self._index_manifest_count)}"

    def index(self) -> str:
        """An index file."""
        return f"index-{self._uuid}-{next(self._index_count)}"

    def statistics(self) -> str:
        """A statistics file."""
        return f"stat-{self._uuid}-{next(self._statistics_count)}"


def snapshot_id_of(file_name: str) -> int | None:
    """The id in a snapshot's name; None for other names, hints among them."""
    return _number_after("snapshot-", file_name)


def expired_id_of(file_name: str) -> int | None:
    """The id in the name of an expired snapshot's file; None for other names."""
    return _number_after(_EXPIRED_PREFIX, file_name)


def rollback_tag(snapshot_id: int) -> str:
    """The tag of a snapshot while a table is rolled back to it."""
    return f"{_ROLLBACK_TAG_PREFIX}{snapshot_id}"


def rollback_id_of(tag_name: str) -> int | None:
    """The snapshot id in the name of such a tag; None for other names."""
    return _number_after(_ROLLBACK_TAG_PREFIX, tag_name)


def schema_id_of(file_name: str) -> int | None:
    """The id in a schema's name; None for other names."""
    return _number_after("schema-", file_name)


def changelog_id_of(file_name: str) -> int | None:
    """The snapshot id in a changelog's name; None for other names."""
    return _number_after("changelog-", file_name)


def tag_name_of(file_name: str) -> str | None:
    """The name in a tag file's name; None for other names."""
    return _text_after("tag-", file_name)


def branch_name_of(directory_name: str) -> str | None:
    """The name in a branch directory's name; None for other names."""
    return _text_after("branch-", directory_name)


def consumer_id_of(file_name: str) -> str | None:
    """The id in a consumer's name; None for other names."""
    return _text_after("consumer-", file_name)


def is_staging(directory_name: str) -> bool:
    """Whether a directory is for files of one write that are not the table's yet."""
    return directory_name.startswith(_STAGING_PREFIX)


def bucket_of(directory_name: str) -> int | None:
    """The bucket in a directory's name; None for other names."""
    if directory_name == "bucket-postpone":
        return POSTPONE_BUCKET
    return _number_after("bucket-", directory_name)


def file_index_name(data_file_name: str) -> str:
    """The first file index of a data file."""
    return f"{data_file_name}{FILE_INDEX_SUFFIX}"


def later_file_index_name(data_file_name: str, uuid: str) -> str:
    """A file index of a data file that may have had one before."""
    return f"{data_file_name}-{uuid}{FILE_INDEX_SUFFIX}"


def format_of(file_name: str) -> str:
    """The format that a data file's name says: its extension, less that of a compressed text.

    Raises:
        CorruptTableError: A name without an extension.
    """
    parts = file_name.rsplit("/", 1)[-1].split(".")
    if len(parts) > 1 and parts[-1].lower() in _COMPRESSION_EXTENSIONS:
        parts.pop()
    if len(parts) < 2 or not parts[-1]:
        raise CorruptTableError(file_name, "the name of this data file does not say its format")
    return parts[-1].lower()


def _file_names(
    uuid_source: Callable[[], str], data_prefix: str, changelog_prefix: str
) -> FileNames:
    return FileNames(uuid_source, data_prefix=data_prefix, changelog_prefix=changelog_prefix)


def _number_after(prefix: str, name: str) -> int | None:
    found = re.fullmatch(f"{re.escape(prefix)}([0-9]+)", name)
    return int(found[1]) if found else None


def _text_after(prefix: str, name: str) -> str | None:
    return name[len(prefix) :] if name.startswith(prefix) and len(name) > len(prefix) else None
