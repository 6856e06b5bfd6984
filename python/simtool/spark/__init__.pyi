"""Types of the functions on Spark."""

import os
from collections.abc import Collection, Sequence
from typing import Literal, SupportsFloat, SupportsIndex

from pyspark.sql import DataFrame

# Values of options. Numbers may also be those of NumPy, fractions and decimals.
_Integer = SupportsIndex
_Number = SupportsFloat | SupportsIndex
_Path = str | os.PathLike[str]

def deduplicate(
    df: DataFrame,
    *,
    text_column: str = "text",
    id_column: str = "id",
    check_ids: bool = True,
    partitions: int | None = None,
    sample: int = 0,
    work_dir: str | None = None,
    full_bucket: int = 4_000_000,
    max_pairs: int = 20_000_000,
    max_terms: int = 4_000_000,
    annotate: bool | str = False,
    # Options of deduplicate, generated.
    keep: str | None = "first",
    cluster: Literal["proven", "components"] | None = "proven",
    method: Literal["exact", "simhash", "multi-lexicon", "minhash", "i-match", "auto"] | str | None = "simhash",
    similarity: _Number | str | None = None,
    max_distance: _Integer | None = None,
    verify: _Number | str | None = None,
    shingle: _Integer | str | None = "words:3",
    stop_words: _Path | Collection[str] | None = None,
    # End of the options.
) -> DataFrame:
    r"""Returns the removed documents: `id`, and `kept_id` of the document that is kept instead.

    If texts are compared, the column `similarity` has their similarity. If documents have fingerprints,
    `distance` has the distance of these. Both are null if only a chain links the two documents.

    The options are those of `simtool dedup`, with `_` for `-`. The default `method` is simhash. `keep="max:size"`
    and `"min:size"` keep the document with the greatest or smallest value of the column `size`.

    `text_column`, `id_column` and the column of `keep` are selected as `--text-field` does, for example
    `title+body`, `messages[].content`, `text,body`, `meta\.text` or `*` for all texts of a row. Ids are texts or whole numbers, one for each
    document, and their order is the reading order.

    Args:
        df: Documents, one in each row.
        text_column: Selector of the text.
        id_column: Selector of the ID.
        check_ids: Look for missing and repeated ids in a job of its own. They are an error.
        partitions: Number of parts in which different documents are compared. By default, the number of
            shuffle partitions of the session.
        sample: Number of fingerprints from which keys are chosen that separate them equally well. With
            the method exact, number of documents from which the common terms are learned (20,000 for 0).
        work_dir: Folder for steps that are used twice, as Parquet. Without it, they are persisted.
        full_bucket: Number of fingerprints of one bucket that one task compares. A fuller bucket is cut
            by further blocks.
        max_pairs: Number of close pairs of different documents that the driver clusters. More pairs need
            a `work_dir`, and one task clusters each chain.
        max_terms: Number of terms whose document counts go to each task, if weights are learned.
        annotate: Return a row for every document, kept or removed. `weight=RULE` is the rule for the column
            `weight`: 1, sqrt, log (1 + ln n), or sizes from which a weight holds, such as weight=1:1,2:2,10:3.

    Returns:
        The columns `id`, `kept_id` and the closeness. With `annotate`, the columns of the output
        `documents`: `bytes`, `tokens`, whether it is `kept`, `kept_id`, the closeness, `cluster_id` (the
        number of the kept document in the order of the ids), `cluster_size`, `exact_copies` and `weight`.

    Raises:
        ValueError: An option does not exist here or has a wrong value, a selector names no column, ids
            are missing or repeated, or a limit is too small.
        RuntimeError: The documents changed between two readings, and there is no `work_dir`.

    Options:
        keep: Document to keep of several near-duplicates: rules, separated by commas [default: first].
        cluster: Documents to remove: only documents near a kept document (proven), or also documents
            that a chain of near-duplicates links to it (components) [default: proven]. Values: proven,
            components.
        method: Method that finds near-duplicates; its settings follow a colon, as in simhash:bits=128
            [default: simhash]. Values: exact, simhash, multi-lexicon, minhash, i-match, auto.
        similarity: Minimum similarity of near-duplicates, as a decimal or a ratio such as 4/5 [default:
            0.8, or 0.9 with minhash by cosine].
        max_distance: With fingerprints: maximum distance of near-duplicates, with simhash in bits
            [default: 3 with simhash].
        verify: With fingerprints: read the texts of the pairs again and keep only pairs with a
            similarity of at least S. S can name the same measures as `similarity`. The terms of the
            texts need memory.
        shingle: Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3].
        stop_words: Leave these words out before shingles are made, so that their neighbours become
            adjacent: none, english, chinese, or a file of words separated by white space [default:
            none; with N and M in front, stopwords.txt in the folder if it exists, otherwise english].
    """
def match(
    df: DataFrame,
    *,
    against: DataFrame,
    text_column: str = "text",
    id_column: str = "id",
    against_text_column: str | None = None,
    against_id_column: str | None = None,
    check_ids: bool = True,
    partitions: int | None = None,
    sample: int = 0,
    work_dir: str | None = None,
    full_bucket: int = 4_000_000,
    max_terms: int = 4_000_000,
    # Options of match, generated.
    method: Literal["exact", "simhash", "multi-lexicon", "minhash", "i-match", "auto"] | str | None = "simhash",
    similarity: _Number | str | None = None,
    max_distance: _Integer | None = None,
    verify: _Number | str | None = None,
    shingle: _Integer | str | None = "words:3",
    stop_words: _Path | Collection[str] | None = None,
    # End of the options.
) -> DataFrame:
    """Returns the documents of `df` that are similar to a document of `against`.

    The options are those of `deduplicate`, except `keep` and `cluster`.

    Args:
        df: Documents to find in the other collection, one in each row.
        against: Documents of the collection to compare with, one in each row. Their ids may be repeated.
        text_column: Selector of the text.
        id_column: Selector of the ID.
        against_text_column: Selector of the text in `against`. By default, as in `df`.
        against_id_column: Selector of the ID in `against`. By default, as in `df`.
        check_ids: Look for missing and repeated ids in a job of its own. They are an error.
        partitions: Number of parts in which different documents are compared. By default, the number of
            shuffle partitions of the session.
        sample: Number of fingerprints from which keys are chosen that separate them equally well. With
            the method exact, number of documents from which the common terms are learned (20,000 for 0).
        work_dir: Folder for steps that are used twice, as Parquet. Without it, they are persisted.
        full_bucket: Number of fingerprints of one bucket that one task compares. A fuller bucket is cut
            by further blocks.
        max_terms: Number of terms whose document counts go to each task, if weights are learned.

    Returns:
        The columns `id`, `kept_id` of the closest document of `against` (among equally close ones the first
        id), and the closeness as in `deduplicate`.

    Raises:
        ValueError: An option does not exist here or has a wrong value, a selector names no column, ids of
            `df` are missing or repeated, or a limit is too small.
        RuntimeError: The documents changed between two readings, and there is no `work_dir`.

    Options:
        method: Method that finds near-duplicates; its settings follow a colon, as in simhash:bits=128
            [default: simhash]. Values: exact, simhash, multi-lexicon, minhash, i-match, auto.
        similarity: Minimum similarity of near-duplicates, as a decimal or a ratio such as 4/5 [default:
            0.8, or 0.9 with minhash by cosine].
        max_distance: With fingerprints: maximum distance of near-duplicates, with simhash in bits
            [default: 3 with simhash].
        verify: With fingerprints: read the texts of the pairs again and keep only pairs with a
            similarity of at least S. S can name the same measures as `similarity`. The terms of the
            texts need memory.
        shingle: Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3].
        stop_words: Leave these words out before shingles are made, so that their neighbours become
            adjacent: none, english, chinese, or a file of words separated by white space [default:
            none; with N and M in front, stopwords.txt in the folder if it exists, otherwise english].
    """
