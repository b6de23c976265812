"""Which options say which tags are made, and how long tags are kept?"""

from lakebed.options.option import Option
from lakebed.options.rows import acting, promises

_ACTING = acting(
    """
    sink.process-time-zone | text | | the zone of tags by the clock
    sink.watermark-time-zone | text | UTC | the zone of tags by watermark
    tag.automatic-completion | boolean | false | whether missed tags are made later
    tag.automatic-creation | none/process-time/watermark/batch | none | which clock makes tags
    tag.batch.customized-name | text | | the name of a batch's tag
    tag.create-success-file | boolean | false | whether a tag leaves a success file
    tag.creation-delay | duration | 0 ms | how long after its period a tag is made
    tag.creation-period | daily/hourly/two-hours | daily | the period of a tag
    tag.creation-period-duration | duration | | the period of a tag, as a duration
    tag.default-time-retained | duration | | how long a tag is kept
    tag.num-retained-max | integer | | the most automatic tags that are kept
    tag.period-formatter | with_dashes/without_dashes/without_dashes_and_spaces | with_dashes \
| how a tag's name is written
    tag.time-expire-enabled | boolean | true | whether commits delete tags past their time
    """
)

# Classes of another engine, and its streams without rows.
_OTHERS = promises(
    """
    tag.callback.#.param | text | | what a class that is told of tags is given
    tag.callbacks | text | | classes that are told of tags
    snapshot.watermark-idle-timeout | duration | | when a silent source is passed over
    """
)

TAGS: tuple[Option, ...] = _ACTING + _OTHERS
