#!/usr/bin/env -S uv run
# /// script
# requires-python = ">=3.10"
# dependencies = ["datasets", "pyarrow", "numpy", "simtool-dedup"]
# ///
"""Removes near-duplicates from a dataset of the Hugging Face Hub, or from local files.

    uv run hub_dedup.py HuggingFaceFW/fineweb --split train --output clean.parquet
    uv run hub_dedup.py 'pages/*.parquet' --text body --push name/dataset

The dataset is streamed twice: once for a fingerprint of each document, and once for the kept documents. Only the
fingerprints are held in memory, or the texts if `--method exact` compares them. Of several near-duplicates the first one is
kept.
"""

import argparse
import itertools
import sys
from typing import Any

import datasets
import pyarrow as pa

from simtool import batches


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", help="name of a dataset on the Hub, or a pattern of .parquet, .jsonl or .csv files")
    parser.add_argument("--name", help="configuration of the dataset")
    parser.add_argument("--split", default="train")
    parser.add_argument("--text", default="text", metavar="COLUMN", help="column of the texts [default: text]")
    method = "simhash:max_distance=3"
    parser.add_argument("--method", default=method, help=f"method with its settings, as `simtool dedup` takes it [default: {method}]")
    parser.add_argument("--output", metavar="FILE", help="Parquet file for the kept documents")
    parser.add_argument("--push", metavar="NAME", help="dataset on the Hub for the kept documents")
    given = parser.parse_args()
    if not given.output and not given.push:
        parser.error("give --output or --push")
    try:
        is_kept = deduplicated(given)
    except ValueError as error:
        sys.exit(f"{parser.prog}: {error}")
    print(f"{len(is_kept):,} documents, {int(is_kept.sum()):,} kept, {int((~is_kept).sum()):,} removed")

    clean = stream(given).filter(lambda row, number: bool(is_kept[number]), with_indices=True)
    if given.output:
        clean.to_parquet(given.output)
    if given.push:
        clean.push_to_hub(given.push, split=given.split)


def deduplicated(given: argparse.Namespace) -> Any:
    """Returns for each row whether it is kept, as an array of NumPy. The number of a row is its ID."""
    numbers = itertools.count()
    described = []
    for batch in stream(given).select_columns(given.text).with_format("arrow").iter(batch_size=1000):
        rows = batch.append_column("row number", pa.array(itertools.islice(numbers, len(batch)), pa.int64()))
        described.append(batches.fingerprint(rows, text=given.text, id="row number", method=given.method))
    pairs = batches.pairs(described, threads=0, method=given.method)
    return batches.fates(described, pairs, method=given.method)["kept"].to_numpy()


def stream(given: argparse.Namespace) -> Any:
    """Returns the dataset as a stream from its first row."""
    for ending, kind in ((".parquet", "parquet"), (".jsonl", "json"), (".csv", "csv")):
        if given.dataset.endswith(ending):
            return datasets.load_dataset(kind, data_files={given.split: given.dataset}, split=given.split, streaming=True)
    return datasets.load_dataset(given.dataset, given.name, split=given.split, streaming=True)


if __name__ == "__main__":
    main()
