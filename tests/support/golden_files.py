"""The live files of a golden table's newest snapshot, found with the few parts that this takes."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet

from lakebed.format.arrow.typing import python_values
from lakebed.format.binary_row.codec import EMPTY_ROW
from lakebed.format.manifest_file import read_manifest, read_manifest_list
from lakebed.format.paths import TablePaths
from lakebed.format.schema import TableSchema
from lakebed.format.snapshot import Snapshot
from lakebed.storage.local import LocalFileIO
from lakebed.table.metadata.entries import live_entries
from support.golden_manifests import DATABASE

FILE_IO = LocalFileIO()


@dataclass(frozen=True)
class GoldenFiles:
    """A golden table at its newest snapshot."""

    name: str

    @cached_property
    def paths(self) -> TablePaths:
        return TablePaths(str(DATABASE / self.name))

    @cached_property
    def snapshot(self) -> Snapshot:
        newest = Path(self.paths.latest_hint).read_text(encoding="utf-8")
        path = self.paths.snapshot(int(newest))
        return Snapshot.from_json(FILE_IO.read(path), path)

    @cached_property
    def file_schemas(self) -> dict[int, TableSchema]:
        paths = sorted(Path(self.paths.schema_directory).iterdir())
        schemas = [TableSchema.from_json(path.read_bytes(), str(path)) for path in paths]
        return {schema.id: schema for schema in schemas}

    @property
    def schema(self) -> TableSchema:
        return self.file_schemas[max(self.file_schemas)]

    @cached_property
    def entries(self) -> pa.Table:
        lists = (self.snapshot.base_manifest_list, self.snapshot.delta_manifest_list)
        metas = [
            m for name in lists for m in read_manifest_list(FILE_IO, self.paths.manifest(name))
        ]
        manifests = [read_manifest(FILE_IO, self.paths.manifest(m.file_name)) for m in metas]
        return live_entries(pa.concat_tables(manifests), source=self.name)

    @property
    def file_names(self) -> list[str]:
        return python_values(self.entries["file_name"])

    def bucket_directory(self, partition: bytes, bucket: int) -> str:
        """Of a table without partitions."""
        assert partition == EMPTY_ROW
        return self.paths.bucket("", bucket)

    def rows_of(self, file_name: str) -> pa.Table:
        """The rows of a Parquet or ORC data file, by pyarrow alone; of ORC without timestamps.

        pyarrow reads those as nanoseconds, into which not all of them fit.
        """
        path = next((DATABASE / self.name).rglob(file_name))
        if path.suffix == ".orc":
            file = pyarrow.orc.ORCFile(path)
            return file.read([f.name for f in file.schema if not pa.types.is_timestamp(f.type)])
        return pyarrow.parquet.ParquetFile(path).read()
