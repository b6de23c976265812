"""What is deleted with expired snapshots, and in which order?"""

from dataclasses import dataclass

from lakebed.table.expiry.data_files import Expired, changelog_files, unneeded_data_files
from lakebed.table.expiry.holders import Holders
from lakebed.table.expiry.metadata_files import MetadataFiles, MetadataReader


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaning:
    """Paths of the files that nobody needs any more, in the order in which they are deleted.

    What names a file goes after it: whoever finds a list or a manifest gone may take it that so are
    the files that only this one named.

    Attributes:
        contents: Data, changelog and index files.
        manifests: Manifests.
        lists: Manifest lists, index manifests and statistics.
    """

    contents: frozenset[str]
    manifests: frozenset[str]
    lists: frozenset[str]

    @classmethod
    def of(cls, reader: MetadataReader, expired: Expired, holders: Holders) -> "Cleaning":
        """What goes with some snapshots and changelogs.

        Raises:
            CorruptTableError: Something that is kept, or may tell what is, cannot be read.
            NotFoundError: It is gone.
        """
        kept = [reader.files([expired.end, *expired.overwriting])]
        tagged = expired.tags_among(holders.tags)
        for branch in holders.branches:
            kept.append(reader.files(branch.snapshots))
            tagged += branch.tags
        kept.append(reader.files(tagged, with_changelogs=False))
        kept.append(reader.lenient.files(holders.apart, with_changelogs=False))
        if expired.outliving.are_changes and expired.outliving.first is not None:
            kept.append(reader.lenient.files([expired.outliving.first]))
        unnamed = _named(reader.lenient, expired).less(MetadataFiles.joined(kept))
        contents = (
            unneeded_data_files(reader, expired, holders),
            changelog_files(reader.lenient, unnamed.changelog_manifests),
            unnamed.index_files,
        )
        return cls(
            contents=frozenset().union(*contents),
            manifests=unnamed.manifests | unnamed.changelog_manifests,
            lists=unnamed.lists,
        )


def _named(reader: MetadataReader, expired: Expired) -> MetadataFiles:
    """What goes names, less that which its changelog needs where this stays."""
    outliving = expired.outliving
    whole = [each for each in expired.all if each.id not in outliving.ids]
    partly = [each for each in expired.all if each.id in outliving.ids]
    found = [reader.files([*expired.changelogs, *whole])]
    if outliving.are_changes:
        found.append(reader.index_files(partly))
    else:
        found.append(reader.files(partly, with_changelogs=False))
    return MetadataFiles.joined(found)


def delete_files(reader: MetadataReader, cleaning: Cleaning, *, names_first: bool = False) -> None:
    """Deletes what a cleaning names, in its order; what is gone already is no error.

    Args:
        reader: Of the table.
        cleaning: What goes.
        names_first: Whether it goes in the opposite order.

    Raises:
        StorageError: The store failed; the rest is left.
    """
    order = (cleaning.contents, cleaning.manifests, cleaning.lists)
    for paths in reversed(order) if names_first else order:
        list(reader.spread(reader.parts.file_io.delete, sorted(paths)))
