"""Processor seconds of a whole job on an engine: Python, the JVM and all that they start.

    simtool generate --documents 200000 --output articles
    python python/benches/on_engines.py make articles/article.txt p400
    python python/benches/on_engines.py sail p400 max_distance=3
    python python/benches/on_engines.py 'local[1]' p400 max_distance=3 --runs 5

`make` writes two documents of each pair of articles, in any order; every second one is changed in two words.
The job reads these, finds what goes by the options, and writes that as Parquet; the first run starts what
there is to start. The program's seconds are those of

    time simtool dedup p400 --method simhash --max-distance 3 --threads 1 --output out
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

FILES, ROWS_OF_GROUP = 4, 12_500


def make(articles: Path, folder: Path) -> None:
    rng = random.Random(5)
    texts = [article.partition("\n")[2] for article in articles.read_text(encoding="utf-8").split("\f")]
    documents = [text + texts[(row * 7 + 1) % len(texts)] for row, text in enumerate(texts)]
    for row in range(len(documents)):
        words = documents[row].split(" ")
        if row % 2 == 0:
            for _ in range(2):
                words[rng.randrange(len(words))] = "changed"
        documents.append(" ".join(words))
    rng.shuffle(documents)
    folder.mkdir(parents=True)
    rows = len(documents) // FILES
    for file in range(FILES):
        ids = range(file * rows, (file + 1) * rows)
        table = pa.table({"id": ids, "text": documents[file * rows : (file + 1) * rows]})
        pq.write_table(table, folder / f"{file}.parquet", compression="zstd", row_group_size=ROWS_OF_GROUP)
    print(f"{len(documents):,} documents, {sum(map(len, documents)) / 1e6:,.0f} MB")


def processor_seconds() -> Counter:
    """Returns the processor seconds of this process and all its children, by the names of the programs."""
    seconds, children = {}, {}
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            name, _, fields = Path(f"/proc/{process}/stat").read_text().partition("(")[2].rpartition(") ")
        except OSError:
            continue
        fields = fields.split()
        seconds[int(process)] = name, sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        children.setdefault(int(fields[1]), []).append(int(process))
    total, left = Counter(), [os.getpid()]
    while left:
        process = left.pop()
        name, of_process = seconds.get(process, ("", 0))
        total[name] += of_process
        left += children.get(process, [])
    return total


def session(engine: str):
    from pyspark.sql import SparkSession

    if engine == "sail":
        from pysail.spark import SparkConnectServer

        server = SparkConnectServer()
        server.start(background=True)
        spark = SparkSession.builder.remote(f"sc://localhost:{server.listening_address[1]}").getOrCreate()
        # It ends with what holds it.
        spark.server = server
        return spark
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(engine).config("spark.ui.enabled", "false")
    settings = {"spark.driver.memory": "4g", "spark.sql.shuffle.partitions": "8", "spark.ui.showConsoleProgress": "false"}
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", help="sail, a master of Spark, or make")
    parser.add_argument("input", type=Path)
    parser.add_argument("options", nargs="*", metavar="NAME=VALUE", help="with make, the folder of the documents")
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    if asked.engine == "make":
        return make(asked.input, Path(asked.options[0]))
    import simtool_spark

    options = dict(option.split("=", 1) for option in asked.options)
    spark = session(asked.engine)
    for _ in range(asked.runs):
        with tempfile.TemporaryDirectory() as folder:
            before, begin = processor_seconds(), time.time()
            documents = spark.read.parquet(str(asked.input.resolve()))
            removed = simtool_spark.deduplicate(documents, work_dir=f"{folder}/work", **options)
            removed.write.parquet(f"{folder}/removed")
            took, wall = processor_seconds() - before, time.time() - begin
            rows = spark.read.parquet(f"{folder}/removed").count()
        parts = ", ".join(f"{name} {seconds:.1f}" for name, seconds in sorted(took.items()))
        print(f"{sum(took.values()):.1f} s ({parts}), {wall:.1f} s of wall time, {rows:,} removed", flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
