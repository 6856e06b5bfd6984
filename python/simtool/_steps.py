"""Steps that `simtool.batches` and the driver for Spark share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ._simtool import Engine


def engine_with_field(options: Mapping[str, Any]) -> tuple[Engine, dict[str, Any], str | None]:
    """Returns the engine for the options, its own options, and the field that decides which document is kept.

    `keep="max:size"` becomes the rule `max` and the field `size`, because an engine knows no columns.
    """
    given = {name: value for name, value in options.items() if value is not None}
    given.setdefault("method", "simhash")
    rule, _, field = str(given.get("keep") or "").partition(":")
    if field and "," not in field:
        given["keep"] = rule
    engine = Engine(**given)
    engine.check_field(bool(field))
    return engine, given, field or None


def order_of(engine: Engine, texts: pa.Array, field: pa.Array | None) -> pa.Array | None:
    """Returns values that sort documents, the one to keep first, or None if only the ids sort them."""
    if engine.keep == "longest":
        return pc.negate(pc.cast(pc.fill_null(pc.binary_length(texts), 0), pa.int64()))
    if field is None:
        return None
    return pa.table(engine.order(field))["order"].combine_chunks().cast(pa.string())


def ranks_of(documents: pa.Table, engine: Engine) -> np.ndarray:
    """Returns the place of each document in the order of preference. The documents are in the order of their ids."""
    if "order" in documents.column_names:
        keys = [("order", "ascending"), ("id", "ascending")]
        order = pc.sort_indices(documents.select(["order", "id"]), sort_keys=keys).to_numpy()
    else:
        order = np.arange(len(documents))[:: -1 if engine.keep == "last" else 1]
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


# Rows of several numbers are fixed-size lists for computing.


def to_rows(numbers: np.ndarray) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(numbers.ravel()), numbers.shape[1])


def of_rows(rows: pa.Array) -> np.ndarray:
    return rows.flatten().to_numpy().reshape(-1, rows.type.list_size)
