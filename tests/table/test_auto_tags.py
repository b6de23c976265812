"""The name of an automatic tag is its time."""

import pytest

from lakebed.table.metadata.auto_tags import auto_tag_time


@pytest.mark.parametrize(
    ("name", "options", "time"),
    [
        ("2026-01-02", {}, "2026-01-02 00:00"),
        ("2026-01-02 05", {}, "2026-01-02 00:00"),
        ("20260102", {}, None),
        ("2026-1-2", {}, None),
        ("2026-02-30", {}, None),
        ("v1", {}, None),
        ("20260102", {"tag.period-formatter": "without_dashes"}, "2026-01-02 00:00"),
        ("2026-01-02 05", {"tag.creation-period": "hourly"}, "2026-01-02 05:00"),
        ("2026-01-02", {"tag.creation-period": "hourly"}, None),
        (
            "2026010205",
            {
                "tag.creation-period": "hourly",
                "tag.period-formatter": "without_dashes_and_spaces",
            },
            "2026-01-02 05:00",
        ),
        ("2026-01-02 06", {"tag.creation-period": "two-hours"}, "2026-01-02 06:00"),
        ("202601020630", {"tag.creation-period-duration": "30 min"}, "2026-01-02 06:30"),
        ("2026-01-02", {"tag.creation-period-duration": "30 min"}, None),
    ],
)
def test_a_name_tells_a_time_or_is_no_automatic_tag(
    name: str, options: dict[str, str], time: str | None
) -> None:
    found = auto_tag_time(name, options)
    assert (None if found is None else f"{found:%Y-%m-%d %H:%M}") == time
