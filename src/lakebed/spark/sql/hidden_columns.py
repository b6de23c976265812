"""Which columns does a query name that no star means: `__paimon_file_path` and the like?

A frame that has such columns shows them to every star, so each star over it leaves them out by
EXCEPT. Both are told from the tokens alone: a name, a star or a table belongs to the SELECT that
comes before it in its parentheses, or round them.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from lakebed.spark.conditions import analysis_error
from lakebed.spark.names import quoted
from lakebed.spark.sql.references import Reference
from lakebed.spark.sql.splicing import Edit
from lakebed.spark.sql.tokens import Token

_MEANING_ALL = ("NATURAL", "PIVOT", "UNPIVOT")
_BEFORE_STAR = ("SELECT", "ALL", "DISTINCT")
_QUERY = ("SELECT", "FROM", "WITH", "TABLE", "VALUES")


@dataclass(frozen=True, slots=True)
class Scopes:
    """Which SELECT each token of a query belongs to.

    Attributes:
        tokens: The tokens.
        selects: For each, the index of the SELECT before it; None where there is none.
        parents: The SELECT round a SELECT.
    """

    tokens: Sequence[Token]
    selects: Sequence[int | None]
    parents: dict[int, int | None]

    @classmethod
    def of(cls, tokens: Sequence[Token]) -> "Scopes":
        """Finds them."""
        enclosing: list[int | None] = [None]
        parents: dict[int, int | None] = {}
        selects = []
        for index, token in enumerate(tokens):
            if token.is_symbol("("):
                enclosing.append(enclosing[-1])
            elif token.is_symbol(")") and len(enclosing) > 1:
                enclosing.pop()
            elif token.is_word("SELECT") and not _is_behind_dot(tokens, index):
                parents[index] = enclosing[-2] if len(enclosing) > 1 else None
                enclosing[-1] = index
            selects.append(enclosing[-1])
        return cls(tokens, selects, parents)

    def of_reference(self, reference: Reference) -> int | None:
        """The SELECT that reads a table."""
        starts = (i for i, token in enumerate(self.tokens) if token.start == reference.start)
        return self.selects[next(starts)]

    def named(self, reference: Reference, columns: Collection[str]) -> tuple[str, ...]:
        """Those of some columns that the query names where the table is seen."""
        if reference.renames:
            return ()
        wanted = {column.lower(): column for column in columns}
        scope = self.of_reference(reference)
        found = {
            wanted[token.name.lower()]
            for index, token in enumerate(self.tokens)
            if token.is_name
            and token.name.lower() in wanted
            and self._qualifier(index) in {None, reference.name.lower()}
            and (scope is None or scope in self._around(index))
        }
        if found and (scope is None or any(each.is_word(*_MEANING_ALL) for each in self.tokens)):
            raise analysis_error(
                "LAKEBED_UNSUPPORTED",
                f"{', '.join(sorted(found))} cannot be read in a query of this form, with FROM"
                f" before SELECT, {', '.join(_MEANING_ALL)} or |>. Name the column in a subquery:"
                f" (SELECT *, {min(found)} FROM …)",
            )
        return tuple(column for column in columns if column in found)

    def left_out(self, hidden: Sequence[tuple[Reference, Sequence[str]]]) -> Iterable[Edit]:
        """What is added to stars so that they mean no column that is only there by its name.

        Args:
            hidden: Tables with their columns that no star means.
        """
        by_scope: dict[int | None, list[tuple[Reference, Sequence[str]]]] = {}
        for reference, columns in hidden:
            by_scope.setdefault(self.of_reference(reference), []).append((reference, columns))
        for index, token in enumerate(self.tokens):
            if token.is_symbol("*") and self._is_star(index):
                qualifier = self._qualifier(index)
                meant = [
                    quoted((reference.name, column))
                    for reference, columns in by_scope.get(self.selects[index], ())
                    if qualifier in {None, reference.name.lower()}
                    for column in columns
                ]
                if meant:
                    yield self._exception(index, ", ".join(meant))

    def _exception(self, star: int, columns: str) -> Edit:
        """EXCEPT behind a star, or more columns for the EXCEPT that is there."""
        words = self.tokens[star + 1 : star + 4]
        has_own = (
            len(words) == 3
            and words[0].is_word("EXCEPT")
            and words[1].is_symbol("(")
            and not (words[2].is_word(*_QUERY) or words[2].is_symbol("("))
        )
        if has_own:
            return Edit(words[1].end, words[1].end, f"{columns}, ")
        return Edit(self.tokens[star].end, self.tokens[star].end, f" EXCEPT ({columns})")

    def _around(self, index: int) -> set[int | None]:
        """The SELECT of a token and those round it."""
        around: set[int | None] = set()
        select = self.selects[index]
        while select is not None:
            around.add(select)
            select = self.parents[select]
        return around

    def _qualifier(self, index: int) -> str | None:
        """What stands before a column and a dot."""
        if not _is_behind_dot(self.tokens, index) or index < 2:
            return None
        return self.tokens[index - 2].name.lower()

    def _is_star(self, index: int) -> bool:
        """Whether a sign means columns: no product, and no count of rows."""
        before = self.tokens[index - 1] if index else None
        if before is None or not (before.is_word(*_BEFORE_STAR) or before.is_symbol(",", "(", ".")):
            return False
        is_called = index > 1 and before.is_symbol("(") and self.tokens[index - 2].is_word("COUNT")
        closes = self.tokens[index + 1 : index + 2]
        return not (is_called and closes != [] and closes[0].is_symbol(")"))


def _is_behind_dot(tokens: Sequence[Token], index: int) -> bool:
    return index > 0 and tokens[index - 1].is_symbol(".")
