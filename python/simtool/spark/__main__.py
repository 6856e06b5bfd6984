"""Deduplicates a collection on Spark, with the names of the command line's options.

    spark-submit .../simtool/spark/__main__.py PATH... --output FOLDER --method simhash --max-distance 6
    spark-submit .../simtool/spark/__main__.py QUERIES... --against CORPUS... --output FOLDER

Reads Parquet, JSON Lines or CSV, which the names of the files tell, and writes the removed documents as
Parquet to FOLDER/removed; with --write-kept the others, too, to FOLDER/kept.
"""

from __future__ import annotations

import argparse
import sys

from pyspark.sql import DataFrame, SparkSession

import simtool.spark

FORMATS = {".parquet": "parquet", ".json": "json", ".jsonl": "json", ".csv": "csv"}


def main(arguments: list[str], session: SparkSession | None = None) -> None:
    parser = argparse.ArgumentParser("simtool.spark", epilog="Other options are those of the method: see `simtool dedup --help`.", allow_abbrev=False)
    parser.add_argument("paths", nargs="+", metavar="PATH")
    parser.add_argument("--against", nargs="+", metavar="PATH", help="find the documents that are like one of these")
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER")
    parser.add_argument("--text-field", default="text", metavar="NAME")
    parser.add_argument("--id-field", default="id", metavar="NAME")
    parser.add_argument("--format", choices=sorted(set(FORMATS.values())), help="how files are read [default: told by names]")
    parser.add_argument("--write-kept", action="store_true", help="write the documents that stay, too")
    parser.add_argument("--partitions", type=int, metavar="N")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="fingerprints whose bits the keys are made for")
    parser.add_argument("--max-pairs", type=int, metavar="N", help="close pairs that the driver clusters, at the most")
    parser.add_argument("--max-terms", type=int, metavar="N", help="terms of which each task is told how frequent they are, at the most")
    parser.add_argument("--work-dir", metavar="FOLDER", help="keep steps as Parquet instead of persisting them")
    asked, rest = parser.parse_known_args(arguments)
    options = given(parser, rest)
    for name in ("max_pairs", "max_terms"):
        if getattr(asked, name) is not None:
            options[name] = getattr(asked, name)
    session = session or SparkSession.builder.appName("simtool").getOrCreate()
    documents = read(session, asked.paths, asked.format, parser)
    columns = {"text_column": asked.text_field, "id_column": asked.id_field}
    how = {**columns, "partitions": asked.partitions, "sample": asked.sample, "work_dir": asked.work_dir}
    if asked.against is None:
        removed = simtool.spark.deduplicate(documents, **how, **options)
    else:
        corpus = read(session, asked.against, asked.format, parser)
        removed = simtool.spark.match(corpus, documents, **how, **options)
    path = f"{asked.output}/removed"
    removed.write.parquet(path)
    if asked.write_kept:
        gone = session.read.parquet(path).select("id").withColumnRenamed("id", asked.id_field)
        documents.join(gone, asked.id_field, "left_anti").write.parquet(f"{asked.output}/kept")


def given(parser: argparse.ArgumentParser, rest: list[str]) -> dict[str, str]:
    """The options of the method: `--name value` or `--name=value`."""
    options, words = {}, iter(rest)
    for word in words:
        if not word.startswith("--"):
            parser.error(f"{word}: is no option")
        name, equals, value = word[2:].partition("=")
        if not equals:
            value = next(words, None)
            if value is None:
                parser.error(f"{word}: expects a value")
        options[name.replace("-", "_")] = value
    return options


def read(session: SparkSession, paths: list[str], form: str | None, parser: argparse.ArgumentParser) -> DataFrame:
    if form is None:
        bare = paths[0].removesuffix(".gz").removesuffix(".zst").rstrip("/*")
        form = next((form for end, form in FORMATS.items() if bare.endswith(end)), None)
        if form is None:
            parser.error(f"{paths[0]}: the name tells no format: give --format")
    reader = session.read.format(form)
    return (reader.option("header", True) if form == "csv" else reader).load(paths)


if __name__ == "__main__":
    main(sys.argv[1:])
