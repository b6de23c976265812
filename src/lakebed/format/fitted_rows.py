"""How do rows get the exact types of a file's columns before they are written?"""

import pyarrow as pa

from lakebed.errors import InvalidDataError

__all__ = ["fitted"]


def fitted(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows in the types, and with the field ids, of a file.

    Args:
        rows: Columns of these names, in order.
        schema: The file's.

    Raises:
        InvalidDataError: A null where the type takes none, or a value that the type cannot hold.
    """
    try:
        return rows.cast(schema)
    except (ValueError, pa.ArrowException) as error:
        raise InvalidDataError(f"rows do not fit the columns of the file: {error}") from error
