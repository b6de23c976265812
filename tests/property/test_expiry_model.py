"""Random lives of tables whose snapshots expire, against a model of what each snapshot showed."""

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from support.needed_files import lacking_and_unneeded, put_tag
from support.table_builder import BuiltTable, Row, Shape, Step, build_table, sorted_rows

NUMBERS = st.sets(st.integers(0, 11), min_size=1, max_size=5).map(sorted)
ACTS: st.SearchStrategy[tuple[str, list[int]]] = st.one_of(
    st.tuples(st.sampled_from(["write", "write", "delete", "overwrite"]), NUMBERS),
    st.tuples(st.sampled_from(["truncate", "compact", "tag", "untag"]), st.just([])),
    st.tuples(st.just("expire"), st.tuples(st.integers(1, 4), st.integers(0, 6)).map(list)),
)
SHAPES = {
    "keyed": Shape(buckets=1, is_partitioned=True),
    "marked keys": Shape(buckets=1).with_options({"deletion-vectors.enabled": "true"}),
    "changelogs": Shape(buckets=2).with_options({"changelog-producer": "input"}),
    "append": Shape(has_primary_key=False, buckets=-1, is_partitioned=True).with_options(
        {"manifest.merge-min-count": "2"}
    ),
    "marked rows": Shape(has_primary_key=False, buckets=-1).with_options(
        {"deletion-vectors.enabled": "true"}
    ),
}


@dataclass
class Life:
    """A table, and what its tags must show.

    Attributes:
        built: The table and its rows, by snapshot too.
        tags: The rows of each tag.
    """

    built: BuiltTable
    tags: dict[str, list[Row]] = field(default_factory=dict)

    def act(self, kind: str, numbers: list[int]) -> None:
        table = self.built.table
        newest = table.latest_snapshot()
        match kind:
            case "compact":
                table.compact()
            case "tag" if newest is not None:
                name = f"t{newest.id}"
                put_tag(table, name, newest.id)
                self.tags[name] = list(self.built.rows)
            case "untag" if self.tags:
                name = min(self.tags)
                del self.tags[name]
                table.file_io.delete(table.parts().paths.tag(name))
            case "expire":
                kept, most = numbers
                table.expire_snapshots(retain_max=kept, retain_min=kept, max_deletes=most)
            case "write" | "delete" | "overwrite" | "truncate" if newest or kind == "write":
                self.built.take(Step(kind, numbers))
            case _:
                pass  # nothing is there yet for it

    def check(self) -> None:
        table = self.built.table
        for snapshot in table.snapshots():
            if snapshot.id in self.built.past:
                found = table.scan(snapshot_id=snapshot.id).to_arrow()
                assert sorted_rows(found) == sorted_rows(self.built.past[snapshot.id])
        assert sorted_rows(table.scan().to_arrow()) == sorted_rows(self.built.rows)
        for name, rows in self.tags.items():
            assert sorted_rows(table.scan(tag=name).to_arrow()) == sorted_rows(rows)


@given(shape=st.sampled_from(sorted(SHAPES)), acts=st.lists(ACTS, min_size=3, max_size=12))
@settings(max_examples=25, deadline=None)
def test_what_is_kept_shows_what_it_showed(shape: str, acts: list[tuple[str, list[int]]]) -> None:
    life = Life(build_table(SHAPES[shape]))
    for kind, numbers in acts:
        life.act(kind, numbers)
        if kind == "expire":
            life.check()
            lacking, unneeded = lacking_and_unneeded(life.built.table)
            assert lacking == set()
            # What a deleted tag alone held is for its deletion to take.
            assert not unneeded or "untag" in dict(acts)
    life.check()
