"""How are statements about tags read?"""

from lakebed.spark.sql.forms import Actions

ACTIONS: Actions = ()
