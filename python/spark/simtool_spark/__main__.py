"""Deduplicates a collection on Spark, with the names of the command line's options.

    spark-submit .../simtool_spark/__main__.py PATH... --output FOLDER --method simhash --max-distance 6
    spark-submit .../simtool_spark/__main__.py QUERIES... --against CORPUS... --output FOLDER

Reads Parquet, JSON Lines or CSV, chosen by the names of the files. Writes Parquet. FOLDER/removed gets a row for each
removed document: its ID, that of the kept document, and how close they are. --write-kept also writes the kept documents
to FOLDER/kept, and --annotate writes a row for each document, with its cluster, to FOLDER/documents.
"""

from __future__ import annotations

import argparse
import sys

from pyspark.sql import DataFrame, SparkSession

import simtool_spark
from simtool_spark.selectors import Selectors

FORMATS = {".parquet": "parquet", ".json": "json", ".jsonl": "json", ".csv": "csv"}


def main(arguments: list[str], session: SparkSession | None = None) -> None:
    parser = argparse.ArgumentParser("simtool_spark", epilog="Other options are those of the method: see `simtool dedup --help`.", allow_abbrev=False)
    parser.add_argument("paths", nargs="+", metavar="PATH")
    parser.add_argument("--against", nargs="+", metavar="PATH", help="find the documents that are similar to one of these")
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER")
    parser.add_argument("--text-field", metavar="NAMES", help="columns with the text, as `simtool dedup` selects them [default: text]")
    parser.add_argument("--id-field", default="id", metavar="NAMES")
    parser.add_argument("--against-text-field", metavar="NAMES", help="columns with the text of the documents of --against")
    parser.add_argument("--against-id-field", metavar="NAMES", help="columns with the ID of the documents of --against")
    parser.add_argument("--no-id-check", action="store_true", help="do not check that every document has its own ID")
    parser.add_argument("--format", choices=sorted(set(FORMATS.values())), help="format of the input files [default: by file name]")
    parser.add_argument("--write-kept", action="store_true", help="also write the kept documents")
    parser.add_argument(
        "--annotate", nargs="?", const=True, default=False, metavar="weight=RULE",
        help="also write every document, kept or removed, to FOLDER/documents, with weights of kept ones by the size of their cluster",
    )
    parser.add_argument("--partitions", type=int, metavar="N")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="number of fingerprints from which the keys are chosen")
    parser.add_argument("--max-pairs", type=int, metavar="N", help="maximum number of close pairs that the driver clusters")
    parser.add_argument("--max-terms", type=int, metavar="N", help="maximum number of terms whose frequencies go to each task")
    parser.add_argument("--work-dir", metavar="FOLDER", help="write steps here as Parquet instead of persisting them")
    asked, rest = parser.parse_known_args(arguments)
    options = given(parser, rest)
    for name in ("max_pairs", "max_terms"):
        if getattr(asked, name) is not None:
            options[name] = getattr(asked, name)
    session = session or SparkSession.builder.appName("simtool").getOrCreate()
    documents = read(session, asked.paths, asked.format, parser)
    if asked.against is None and (asked.against_text_field or asked.against_id_field):
        parser.error("--against-text-field and --against-id-field need --against")
    text_field = asked.text_field or "text"
    columns = {"text_column": text_field, "id_column": asked.id_field}
    how = {**columns, "check_ids": not asked.no_id_check, "partitions": asked.partitions, "sample": asked.sample, "work_dir": asked.work_dir}
    if asked.annotate and asked.against is not None:
        parser.error("--annotate is of a deduplication, so it does not go with --against")
    if asked.against is None:
        how |= {"annotate": asked.annotate}
        removed = simtool_spark.deduplicate(documents, **how, **options)
    else:
        corpus = read(session, asked.against, asked.format, parser)
        of_corpus = {"against_text_column": asked.against_text_field, "against_id_column": asked.against_id_field}
        removed = simtool_spark.match(documents, against=corpus, **how, **of_corpus, **options)
    if asked.annotate:
        path = f"{asked.output}/documents"
        removed.write.parquet(path)
        of_all = session.read.parquet(path)
        closeness = [name for name in ("similarity", "distance") if name in of_all.columns]
        removed = of_all.where("NOT kept").select("id", "kept_id", *closeness)
    path = f"{asked.output}/removed"
    removed.write.parquet(path)
    if asked.write_kept:
        gone = session.read.parquet(path).select("id")
        own_id = Selectors(text_field, asked.id_field).of_ids(documents)
        documents.join(gone, own_id == gone["id"], "left_anti").write.parquet(f"{asked.output}/kept")


def given(parser: argparse.ArgumentParser, rest: list[str]) -> dict[str, str]:
    """Parses the options of the method, `--name value` or `--name=value`."""
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
            parser.error(f"{paths[0]}: the format is not known from the name: give --format")
    reader = session.read.format(form)
    return (reader.option("header", True) if form == "csv" else reader).load(paths)


if __name__ == "__main__":
    main(sys.argv[1:])
