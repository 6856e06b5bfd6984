"""Types of the values of options. Numbers may also be those of NumPy, fractions and decimals."""

import os
from typing import SupportsFloat, SupportsIndex

_Integer = SupportsIndex
_Number = SupportsFloat | SupportsIndex
_Path = str | os.PathLike[str]
