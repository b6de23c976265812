"""How are Arrow's kernels called where a value may be an array or a scalar of any type?

The stubs of pyarrow type each kernel for the few types they know and not for "an array or a scalar,
the same out as in". `compute` is `pyarrow.compute` without them, and `Values` what it takes and
gives, so that the looseness has one home.
"""

from typing import Any, TypeAlias

import pyarrow.compute

__all__ = ["Values", "compute"]

Values: TypeAlias = Any
"""An Array or a Scalar."""

compute: Any = pyarrow.compute
