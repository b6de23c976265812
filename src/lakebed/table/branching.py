"""What a table does with its branches."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from lakebed.errors import InvalidArgumentError
from lakebed.format.paths import MAIN_BRANCH
from lakebed.format.snapshot import Snapshot
from lakebed.table.branch_merging import merge_branch
from lakebed.table.history_changes.branches import (
    create_branch,
    delete_branches,
    rename_branch,
)
from lakebed.table.history_changes.fast_forward import fast_forward
from lakebed.table.parts import TableParts


class Branching(ABC):
    """The branches of the table whose parts are given.

    A branch is opened as `t$branch_b`. It has schemas, snapshots and tags of its own, and shares
    files with the table.
    """

    __slots__ = ()

    @abstractmethod
    def parts(self) -> TableParts:
        """The parts of the table."""

    def create_branch(
        self,
        branch: str,
        tag: str | None = None,
        *,
        ignoreIfExists: bool = False,  # noqa: N803 - the procedure's name
    ) -> None:
        """Makes a branch.

        Args:
            branch: Its name.
            tag: The tag from whose snapshot it starts; without one it starts empty, with the
                schemas of the table.
            ignoreIfExists: Whether a branch of this name is left as it is.

        Raises:
            AlreadyExistsError: There is a branch of this name, perhaps half made or half deleted.
            InvalidArgumentError: No branch can have this name: it is `main`, blank or a number.
            NotFoundError: There is no such tag.
        """
        create_branch(self.parts(), branch, tag=tag, ignore_if_exists=ignoreIfExists)

    def delete_branch(self, branch: str | Sequence[str]) -> None:
        """Deletes branches, and the files that neither the table nor a tag or other branch needs.

        Args:
            branch: A name, several as a list, or the procedure's text for them: `b1,b2`.

        Raises:
            CorruptTableError: Something that names files of a branch cannot be read; it is left.
            InvalidArgumentError: One is the branch that is open, the main one, or one that an
                option of the table names; nothing was deleted.
            NotFoundError: One is not there; nothing was deleted.
        """
        names = branch.split(",") if isinstance(branch, str) else branch
        chosen = list(dict.fromkeys(name.strip() for name in names))
        if not all(chosen):
            raise InvalidArgumentError(f"branch is {branch!r}, which names no branch")
        delete_branches(self.parts(), chosen)

    def rename_branch(self, from_branch: str, to_branch: str) -> None:
        """Gives a branch another name.

        Args:
            from_branch: Its name.
            to_branch: Its new name.

        Raises:
            AlreadyExistsError: There is a branch of the new name.
            InvalidArgumentError: No branch can have the new name, or it is the main branch.
            NotFoundError: There is no branch of the old name.
        """
        rename_branch(self.parts(), from_branch, to_branch)

    def fast_forward(self, branch: str) -> None:
        """Replaces the history of the table by a branch's, from the branch's first snapshot on.

        Snapshots and tags that only the table has are deleted, with the files that only they need,
        from the first one on in which both differ. The branch stays as it is.

        Args:
            branch: The branch.

        Raises:
            CommitConflictError: Others wrote to the table, or the branch lost snapshots meanwhile;
                the table has a whole history, and the same call ends it.
            CorruptTableError: Something that would be replaced cannot be read; nothing was changed.
            InvalidArgumentError: It is the main branch, the one that is open, or has no snapshot.
            InvalidTableError: Older snapshots need schemas that the branch has otherwise; nothing
                was changed.
            NotFoundError: There is no such branch.
        """
        fast_forward(self.parts(), branch)

    def merge_branch(self, source_branch: str, target_branch: str = MAIN_BRANCH) -> Snapshot | None:
        """Adds the rows that were appended to one branch to another; for plain append tables.

        Files are shared, not copied. What was merged before is not merged again.

        Args:
            source_branch: Whose rows are taken; it stays as it is.
            target_branch: Which gets them; `main` is the table itself.

        Returns:
            The snapshot of the target; None where it has all rows already.

        Raises:
            CommitConflictError: The source lost its snapshot meanwhile, or every try to commit
                lost; nothing was merged.
            InvalidArgumentError: Both are the same branch, or the source has no snapshot.
            InvalidTableError: More than appends happened to the source since the branches were one,
                their columns differ, or snapshots since then expired.
            NotFoundError: There is no such branch.
            UnsupportedError: The table has a primary key, deletion vectors or row tracking.
        """
        return merge_branch(self.parts(), source_branch, target_branch)
