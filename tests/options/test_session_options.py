import pytest

from lakebed.errors import InvalidArgumentError
from lakebed.options.session_options import SessionOptions


def test_a_session_has_defaults() -> None:
    options = SessionOptions.parse({"warehouse": "/w"})

    assert options == SessionOptions(
        merge_memory=256 << 20,
        time_zone=None,
        read_threads=None,
        compaction_max_commits=1,
        commit_single_writer=False,
    )


def test_a_session_reads_its_own_keys() -> None:
    options = SessionOptions.parse(
        {
            "lakebed.merge.memory": "1 gb",
            "lakebed.time-zone": "Asia/Kathmandu",
            "lakebed.read.threads": "3",
            "lakebed.compaction.max-commits": "10",
            "lakebed.commit.single-writer": "true",
        }
    )

    assert options == SessionOptions(
        merge_memory=1 << 30,
        time_zone="Asia/Kathmandu",
        read_threads=3,
        compaction_max_commits=10,
        commit_single_writer=True,
    )


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("lakebed.merge.memory", "0 mb"),
        ("lakebed.read.threads", "0"),
        ("lakebed.compaction.max-commits", "0"),
        ("lakebed.commit.single-writer", "yes"),
    ],
)
def test_a_bad_value_names_its_key(key: str, text: str) -> None:
    with pytest.raises(InvalidArgumentError, match=key):
        SessionOptions.parse({key: text})
