"""Types of options, generated from the program."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, TypedDict

from simtool._types import _Integer, _Number, _Path


class DeduplicateOptions(TypedDict, total=False):
    """Options of `deduplicate`."""

    keep: str | None
    cluster: Literal["proven", "components"] | None
    method: Literal["exact", "covered", "simhash", "multi-lexicon", "minhash", "i-match", "auto"] | str | None
    similarity: _Number | str | None
    max_distance: _Integer | None
    verify: _Number | str | None
    shingle: _Integer | str | None
    stop_words: _Path | Collection[str] | None
    ignore: str | Sequence[str] | None
    fold: str | None


class MatchOptions(TypedDict, total=False):
    """Options of `match`."""

    method: Literal["exact", "covered", "simhash", "multi-lexicon", "minhash", "i-match", "auto"] | str | None
    similarity: _Number | str | None
    max_distance: _Integer | None
    verify: _Number | str | None
    shingle: _Integer | str | None
    stop_words: _Path | Collection[str] | None
    ignore: str | Sequence[str] | None
    fold: str | None
