"""How are they read?"""

from lakebed.spark.sql.forms import Forms

FORMS: Forms = ()
