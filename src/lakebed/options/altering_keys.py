"""Which options say how far a table's schema may be changed?"""

from lakebed.options.option import Option
from lakebed.options.rows import acting

ALTERING: tuple[Option, ...] = acting(
    """
    add-column-before-partition | boolean | false | whether new columns come before the partition's
    alter-column-null-to-not-null.disabled | boolean | true | whether NOT NULL may not be added
    deletion-vectors.modifiable | boolean | false | whether the mode may be changed later
    disable-explicit-type-casting | boolean | false | whether types change only without loss
    """
)
