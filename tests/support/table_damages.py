"""Ways to damage a table: each breaks one thing behind its back."""

from dataclasses import replace

import msgspec
import numpy as np
import pyarrow as pa

from lakebed.format.data_file_meta import FileKind, ManifestEntry
from lakebed.format.deletion_vector import FILE_VERSION
from lakebed.format.deletion_vector_write import encode_deletion_vector
from lakebed.format.hash_index import encode_hashes
from lakebed.format.index_manifest import DeletionVectorRange, IndexManifestEntry
from lakebed.format.manifest import ManifestFileMeta
from lakebed.table.history_changes.claim import HistoryClaim
from support.damaged_tables import Damager, with_file
from support.needed_files import put_tag


def delete_data_file(table: Damager) -> None:
    table.file_io.delete(table.data_path(table.entries()[0]))


def cut_data_file(table: Damager) -> None:
    path = table.data_path(table.entries()[0])
    table.put(path, table.file_io.read(path)[:-9])


def garble(table: Damager, path: str) -> None:
    table.put(path, bytes(len(table.file_io.read(path))))


def garble_data_file(table: Damager) -> None:
    garble(table, table.data_path(table.entries()[0]))


def swap_data_files(table: Damager) -> None:
    first, second = entries = table.entries()
    paths = [table.data_path(each) for each in entries]
    contents = [table.file_io.read(path) for path in paths]
    for path, data in zip(paths, reversed(contents), strict=True):
        table.put(path, data)
    table.edit_entries(
        lambda _: [
            with_file(first, file_size=second.file.file_size),
            with_file(second, file_size=first.file.file_size),
        ]
    )


def manifest_path(table: Damager) -> str:
    (meta,) = table.parts.manifests.delta_files(table.newest)
    return table.parts.paths.manifest(meta.file_name)


def delete_manifest(table: Damager) -> None:
    table.file_io.delete(manifest_path(table))


def cut_manifest(table: Damager) -> None:
    path = manifest_path(table)
    table.put(path, table.file_io.read(path)[:-1])


def garble_manifest(table: Damager) -> None:
    garble(table, manifest_path(table))


def delete_manifest_list(table: Damager) -> None:
    table.file_io.delete(table.parts.paths.manifest(table.newest.base_manifest_list))


def garble_snapshot(table: Damager) -> None:
    garble(table, table.parts.paths.snapshot(1))


def garble_tag(table: Damager) -> None:
    put_tag(table.table, "t", 1)
    garble(table, table.parts.paths.tag("t"))


def tag_of_lost_files(table: Damager) -> None:
    """A tag of a snapshot that is gone with its files."""
    put_tag(table.table, "t", 1)
    paths = table.parts.paths
    tag = table.parts.snapshots.load(1)
    table.file_io.delete(paths.manifest(tag.base_manifest_list))
    table.file_io.delete(paths.snapshot(1))


def delete_snapshot(table: Damager) -> None:
    table.file_io.delete(table.parts.paths.snapshot(2))


def delete_schema(table: Damager) -> None:
    table.file_io.delete(table.parts.paths.schema(0))


def wrong_total(table: Damager) -> None:
    table.change(table.newest, total_record_count=7)


def twice_added(table: Damager) -> None:
    table.edit_entries(lambda entries: [*entries, entries[0]])


def deleted_for_nothing(table: Damager) -> None:
    def edit(entries: list[ManifestEntry]) -> list[ManifestEntry]:
        other = with_file(entries[0], file_name="data-none-0.parquet")
        return [*entries, replace(other, kind=FileKind.DELETE)]

    table.edit_entries(edit)


def forget_base(table: Damager) -> None:
    """The base list of the newest snapshot names nothing."""
    first = table.parts.snapshots.load(1)
    newest = table.newest
    table.change(
        newest,
        base_manifest_list=first.base_manifest_list,
        base_manifest_list_size=first.base_manifest_list_size,
        total_record_count=newest.delta_record_count,
    )


def on_one_level(table: Damager) -> None:
    """Two files that overlap, on level 1."""
    (old,) = table.entries()
    copy = replace(old, file=replace(old.file, file_name="data-copy-0.parquet", level=1))
    table.put(table.data_path(copy), table.file_io.read(table.data_path(old)))
    table.edit_entries(lambda _: [with_file(old, level=1), copy])


def edit_statistics(table: Damager) -> None:
    stats = table.entries()[0].file.value_stats
    table.edit_file(value_stats=replace(stats, min_values=stats.max_values))


def edit_null_counts(table: Damager) -> None:
    stats = table.entries()[0].file.value_stats
    counts = tuple(None if each is None else each + 1 for each in stats.null_counts or ())
    table.edit_file(value_stats=replace(stats, null_counts=counts))


def edit_keys(table: Damager) -> None:
    table.edit_file(min_key=table.entries()[0].file.max_key)


def swap_rows(rows: pa.Table) -> pa.Table:
    order = np.arange(rows.num_rows)
    order[[4, 5]] = [5, 4]
    return rows.take(order)


def repeat_key(rows: pa.Table) -> pa.Table:
    """The fifth row gets the key of the fourth."""
    keys = np.arange(rows.num_rows)
    keys[5] = 4
    names = [name for name in rows.column_names if name in {"_KEY_id", "id"}]
    for name in names:
        place = rows.column_names.index(name)
        rows = rows.set_column(place, name, rows[name].take(keys))
    return rows


def lose_key(rows: pa.Table) -> pa.Table:
    values = rows["id"].to_pylist()
    return rows.set_column(0, "id", pa.array([None, *values[1:]], pa.int64()))


def into_other_bucket(table: Damager) -> None:
    table.move(bucket=1 - table.entries()[0].bucket)


def into_other_partition(table: Damager) -> None:
    table.move(partition=table.entries()[1].partition)


def other_bucket_count(table: Damager) -> None:
    table.edit_entries(
        lambda entries: [replace(entries[0], total_buckets=1, bucket=0), *entries[1:]]
    )


def forget_vectors(table: Damager) -> None:
    table.edit_indexes(lambda _: [])


def edit_vector(table: Damager, found: DeletionVectorRange) -> None:
    """Has the only index file say something else of its only vector."""

    def edit(listed: list[IndexManifestEntry]) -> list[IndexManifestEntry]:
        (entry,) = listed
        return [msgspec.structs.replace(entry, deletion_vectors_ranges=(found,))]

    table.edit_indexes(edit)


def only_vector(table: Damager) -> DeletionVectorRange:
    (entry,) = table.parts.manifests.index_files(table.newest)
    (found,) = entry.deletion_vectors_ranges or ()
    return found


def vector_of_no_file(table: Damager) -> None:
    edit_vector(table, msgspec.structs.replace(only_vector(table), data_file_name="data-0.parquet"))


def wrong_cardinality(table: Damager) -> None:
    edit_vector(table, msgspec.structs.replace(only_vector(table), cardinality=99))


def index_path(table: Damager) -> str:
    entry = table.parts.manifests.index_files(table.newest)[0]
    return table.parts.index_paths.of(entry)


def vector_past_the_end(table: Damager) -> None:
    found = only_vector(table)
    vector = encode_deletion_vector(np.array([99]), data_file="", is_64_bit=False)
    data = FILE_VERSION + vector.data
    table.put(index_path(table), data)

    def edit(listed: list[IndexManifestEntry]) -> list[IndexManifestEntry]:
        place = msgspec.structs.replace(found, offset=1, length=vector.length, cardinality=1)
        (entry,) = listed
        changed = msgspec.structs.replace(entry, file_size=len(data))
        return [msgspec.structs.replace(changed, deletion_vectors_ranges=(place,))]

    table.edit_indexes(edit)


def delete_index(table: Damager) -> None:
    table.file_io.delete(index_path(table))


def cut_index(table: Damager) -> None:
    path = index_path(table)
    table.put(path, table.file_io.read(path)[:-4])


def other_hashes(table: Damager) -> None:
    path = index_path(table)
    count = len(table.file_io.read(path)) // 4
    table.put(path, encode_hashes(np.arange(count, dtype=np.int32)))


def wrong_index_count(table: Damager) -> None:
    table.edit_indexes(
        lambda listed: [msgspec.structs.replace(each, row_count=99) for each in listed]
    )


def delete_changelog(table: Damager) -> None:
    (meta,) = table.parts.manifests.changelog_files(table.newest)
    row = table.parts.manifests.entries([meta]).to_pylist()[0]
    directory = table.parts.split_files.bucket_directory(row["partition"], row["bucket"])
    table.file_io.delete(f"{directory}/{row['file_name']}")


def same_row_ids(table: Damager) -> None:
    table.edit_file(first_row_id=3)


def stale_hint(table: Damager) -> None:
    table.put(table.parts.paths.latest_hint, b"1")


def leave_copy(table: Damager) -> None:
    table.put(table.parts.paths.expired_snapshot(0), b"{}")


def leave_marker(table: Damager) -> None:
    HistoryClaim.of(table.parts, "rollback to snapshot 1").take()


def miscount_manifest(table: Damager) -> None:
    table.edit_metas(lambda meta: replace(meta, num_added_files=meta.num_added_files + 1))


def misplace_manifest(table: Damager) -> None:
    table.edit_metas(lambda meta: replace(meta, max_bucket=7))


def narrow_partitions(table: Damager) -> None:
    def edit(meta: ManifestFileMeta) -> ManifestFileMeta:
        stats = meta.partition_stats
        return replace(meta, partition_stats=replace(stats, max_values=stats.min_values))

    table.edit_metas(edit)


def into_third_bucket(table: Damager) -> None:
    table.move(bucket=2)
