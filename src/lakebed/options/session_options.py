"""Which options of a session hold, as typed values?

They are given to a catalog or a session and never written into a table's schema. A field's name is
its key without `lakebed.`, in snake case; sizes are bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from lakebed.options import values
from lakebed.options.catalogue import SESSION_OPTIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """What a session lets Lakebed use.

    Attributes:
        merge_memory: Bytes that one task may take to merge a section.
        time_zone: The zone of local times; None is the system's.
        read_threads: Threads that read in this process; None is one a core.
        compaction_max_commits: Into how many commits a compaction may fall that somebody asks for.
        commit_single_writer: Whether the caller vouches to be the only writer.
    """

    merge_memory: int
    time_zone: str | None
    read_threads: int | None
    compaction_max_commits: int
    commit_single_writer: bool

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> "SessionOptions":
        """The options that hold; keys that are none of a session's are passed over.

        Raises:
            InvalidArgumentError: If a text is no value of its option.
        """
        texts = {each.key: options.get(each.key, each.default) for each in SESSION_OPTIONS}
        memory, single = "lakebed.merge.memory", "lakebed.commit.single-writer"
        threads, commits = texts["lakebed.read.threads"], "lakebed.compaction.max-commits"
        return cls(
            merge_memory=values.parse_positive_size(texts[memory] or "", memory),
            time_zone=texts["lakebed.time-zone"],
            read_threads=(
                None if threads is None else values.parse_positive(threads, "lakebed.read.threads")
            ),
            compaction_max_commits=values.parse_positive(texts[commits] or "", commits),
            commit_single_writer=values.parse_boolean(texts[single] or "", single),
        )
