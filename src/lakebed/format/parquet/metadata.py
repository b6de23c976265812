"""The footer of a Parquet file that another writer wrote."""

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.parquet import FileMetaData

from lakebed.errors import CorruptTableError
from lakebed.storage.file_io import FileIO

__all__ = ["FileMetaData", "read_metadata"]


def read_metadata(file_io: FileIO, path: str) -> FileMetaData:
    """Rows, row groups and statistics, as the file's own writer counted them.

    Raises:
        CorruptTableError: Not a Parquet file.
        NotFoundError: The file is missing.
    """
    with file_io.open_input(path) as source:
        try:
            return pq.read_metadata(source)
        except (pa.ArrowException, OSError) as error:
            raise CorruptTableError(path, f"its Parquet footer cannot be read: {error}") from error
