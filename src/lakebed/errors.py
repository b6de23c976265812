"""What can go wrong, by what the caller must do about it.

    LakebedError
      + NotFoundError          a database, table, snapshot ... is missing    (check the name)
      + AlreadyExistsError     the name is taken                             (choose another)
      + InvalidTableError      a schema, option or change that cannot be     (fix the call)
      + UnsupportedError       a feature or version that Lakebed lacks       (use another client)
      + CommitConflictError    another writer won                            (retry or drop)
      + CommitUnknownError     the store did not say what happened           (look, never clean)
      + CorruptTableError      bytes contradict the format; has .path        (repair)
      + StorageError           the store failed; has .path, .retryable       (retry or mend)
      + InvalidDataError       rows that the schema forbids                  (fix the rows)
      + InvalidArgumentError   an unknown column, a bad predicate or option  (fix the call)

Every message says what is wrong, where, and what to do. The facts are attributes too.
"""

__all__ = [
    "AlreadyExistsError",
    "CommitConflictError",
    "CommitUnknownError",
    "CorruptTableError",
    "InvalidArgumentError",
    "InvalidDataError",
    "InvalidTableError",
    "LakebedError",
    "NotFoundError",
    "StorageError",
    "UnsupportedError",
]


class LakebedError(Exception):
    """Root of every error that Lakebed raises on purpose."""


class NotFoundError(LakebedError):
    """A named thing does not exist.

    Attributes:
        kind: What was looked for: ``"database"``, ``"table"``, ``"snapshot"``, ``"file"`` ...
        name: The name or path that was looked for.
    """

    def __init__(self, kind: str, name: str, *, hint: str = "") -> None:
        self.kind = kind
        self.name = name
        self.hint = hint
        super().__init__(f"{kind} {name!r} does not exist{'. ' + hint if hint else ''}")

    def __reduce__(self) -> tuple[object, ...]:
        """Errors cross process boundaries in Spark, so they rebuild from their facts."""
        return _rebuild, (type(self), (self.kind, self.name), {"hint": self.hint})


class AlreadyExistsError(LakebedError):
    """A name is taken.

    Attributes:
        kind: ``"database"``, ``"table"``, ``"file"`` ...
        name: The taken name.
    """

    def __init__(self, kind: str, name: str, *, hint: str = "") -> None:
        self.kind = kind
        self.name = name
        self.hint = hint
        super().__init__(f"{kind} {name!r} already exists{'. ' + hint if hint else ''}")

    def __reduce__(self) -> tuple[object, ...]:
        """Errors cross process boundaries in Spark, so they rebuild from their facts."""
        return _rebuild, (type(self), (self.kind, self.name), {"hint": self.hint})


class InvalidTableError(LakebedError):
    """A schema, an option or a change of a table that cannot be."""


class UnsupportedError(LakebedError):
    """A feature, option or file version that Lakebed does not act on, and so refuses."""


class CommitConflictError(LakebedError):
    """Another writer changed what this commit builds on; nothing of it is visible.

    Attributes:
        was_visible: Whether its snapshot may have been there for a moment. Then others may have
            taken its files for needed or for unneeded, so they are left to orphan cleaning.
    """

    def __init__(self, message: str, *, was_visible: bool = False) -> None:
        super().__init__(message)
        self.was_visible = was_visible


class CommitUnknownError(LakebedError):
    """The store did not say whether the commit happened; no file may be deleted."""


class InvalidDataError(LakebedError):
    """Rows that the table's schema forbids; nothing was written."""


class InvalidArgumentError(LakebedError, ValueError):
    """A call that cannot be: an unknown column, a bad predicate, a bad option."""


class CorruptTableError(LakebedError):
    """Bytes contradict the format.

    Attributes:
        path: The file.
    """

    def __init__(self, path: str, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(f"{path}: {problem}")

    def __reduce__(self) -> tuple[object, ...]:
        """Errors cross process boundaries in Spark, so they rebuild from their facts."""
        return _rebuild, (type(self), (self.path, self.problem), {})


class StorageError(LakebedError):
    """The store failed.

    Attributes:
        path: The file or directory.
        retryable: Whether the same call may succeed later.
    """

    def __init__(self, path: str, problem: str, *, retryable: bool = False) -> None:
        self.path = path
        self.problem = problem
        self.retryable = retryable
        super().__init__(f"{path}: {problem}")

    def __reduce__(self) -> tuple[object, ...]:
        """Errors cross process boundaries in Spark, so they rebuild from their facts."""
        return _rebuild, (type(self), (self.path, self.problem), {"retryable": self.retryable})


def _rebuild(
    kind: type[LakebedError], positional: tuple[str, ...], named: dict[str, object]
) -> LakebedError:
    return kind(*positional, **named)
