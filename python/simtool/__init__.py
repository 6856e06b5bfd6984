"""Finds near-duplicate documents in large text collections, exactly and in parallel.

>>> import simtool
>>> texts = [
...     "The quick brown fox jumps over the lazy dog near the river",
...     "Something else entirely was written here by somebody",
...     "The quick brown fox jumps over the lazy dog near the river!",
... ]
>>> result = simtool.deduplicate(texts)
>>> result
NearDuplicates(3 documents, 2 kept, 1 removed, 1 pair; exact:similarity=0.8,shingle=words:3)
>>> result.removed
row  kept  similarity
  2     0       1.000
[1 row]
"""

from . import _methods
from ._files import (
    audit,
    combine_files,
    contamination_files,
    cut_passages_files,
    deduplicate_files,
    match_files,
    passages_files,
    preview_files,
    why,
)
from ._methods import *  # noqa: F403
from ._simtool import (
    Column,
    Comparison,
    Evaluation,
    Fingerprints,
    Index,
    IndexLockedError,
    NearDuplicates,
    Rows,
    Table,
    __version__,
    cluster,
    compare,
    deduplicate,
    evaluate,
    fingerprint,
    match,
    pairs,
)

__all__ = [
    "Column",
    "Comparison",
    "Evaluation",
    "Fingerprints",
    "Index",
    "IndexLockedError",
    "NearDuplicates",
    "Rows",
    "Table",
    "__version__",
    "audit",
    "cluster",
    "combine_files",
    "compare",
    "contamination_files",
    "cut_passages_files",
    "deduplicate",
    "deduplicate_files",
    "evaluate",
    "fingerprint",
    "match",
    "match_files",
    "pairs",
    "passages_files",
    "preview_files",
    "why",
]
__all__ += _methods.__all__
