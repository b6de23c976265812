"""Which schemas a table has had (format.md 4)."""

from dataclasses import dataclass

from lakebed.errors import NotFoundError
from lakebed.format.paths import TablePaths, schema_id_of
from lakebed.format.schema import TableSchema
from lakebed.storage.file_io import FileIO, PutResult


@dataclass(frozen=True, slots=True)
class Schemas:
    """The schemas of one table or branch."""

    file_io: FileIO
    paths: TablePaths

    def load(self, schema_id: int) -> TableSchema:
        """One schema.

        Raises:
            NotFoundError: There is none of that id.
            CorruptTableError: Its file cannot be read.
        """
        path = self.paths.schema(schema_id)
        try:
            data = self.file_io.read(path)
        except NotFoundError as error:
            raise NotFoundError("schema", str(schema_id)) from error
        return TableSchema.from_json(data, path)

    def latest(self) -> TableSchema | None:
        """The newest schema; None where there is no table."""
        latest = max(self.list_ids(), default=None)
        return None if latest is None else self.load(latest)

    def list_ids(self) -> list[int]:
        """Ids of all schemas, ascending."""
        found = (
            schema_id_of(status.name) for status in self.file_io.list(self.paths.schema_directory)
        )
        return sorted(schema_id for schema_id in found if schema_id is not None)

    def put(self, schema: TableSchema) -> PutResult:
        """Writes a schema that must not exist yet; what makes a table or a change of it visible."""
        return self.file_io.put_if_absent(self.paths.schema(schema.id), schema.to_json())
