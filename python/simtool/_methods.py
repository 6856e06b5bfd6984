"""Methods as objects, generated from the program."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

from ._method import Method
from ._types import _Integer, _Number, _Path

__all__ = ["Exact", "Covered", "SimHash", "MultiLexicon", "MinHash", "IMatch"]


class Exact(Method):
    """All pairs whose sets of shingles have at least `similarity`, by Jaccard or another measure.
    Needs one to five bytes of memory per word, or reads the input more often.

        >>> simtool.Exact(similarity=0.9)
        simtool.Exact(similarity=0.9)
        >>> str(simtool.Exact(similarity=0.9))
        'exact:similarity=0.9'

    Options:
        weight: Weight of each distinct shingle [default: tf for fingerprints, binary with exact].
            With exact, only binary and idf are possible; with idf, similarities compare sums of
            weights instead of numbers of shingles.
        similarity: Minimum similarity of near-duplicates, as a decimal or a ratio such as 4/5
            [default: 0.8, or 0.65 if all inputs are web pages, or 0.9 with minhash by cosine].
        shingle: Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3,
            or words:8 with covered].
        stop_words: Leave these words out before shingles are made, so that their neighbours become
            adjacent: none, english, chinese, or a file of words separated by white space [default:
            none; with N and M in front, stopwords.txt in the folder if it exists, otherwise
            english].
        ignore: Compare texts without these pieces: numbers, links, mentions, dates, or regular
            expressions such as 're:ORDER-[0-9]+'; commas separate them (repeatable).
        fold: Make spellings equal that differ by default: diacritics, arabic, cyrillic-latin, han,
            hyphens; commas separate several.
    """

    _name = "exact"

    def __new__(
        cls,
        *,
        weight: Literal["tf", "binary", "log-tf", "idf", "tf-idf", "log-tf-idf", "levels"] | None = None,
        similarity: _Number | str | None = None,
        shingle: _Integer | str | None = None,
        stop_words: _Path | Collection[str] | None = None,
        ignore: str | Sequence[str] | None = None,
        fold: str | None = None,
    ) -> Exact:
        return cls._with(
            weight=weight,
            similarity=similarity,
            shingle=shingle,
            stop_words=stop_words,
            ignore=ignore,
            fold=fold,
        )


class Covered(Method):
    """Documents whose words are all in one or several kept documents, except for those that --lose
    allows. A word is there if a run of words around it is (by --shingle, 8 words).

        >>> simtool.Covered(shingle='words:5')
        simtool.Covered(shingle='words:5')
        >>> str(simtool.Covered(shingle='words:5'))
        'covered:shingle=words:5'

    Options:
        shingle: Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3,
            or words:8 with covered].
        stop_words: Leave these words out before shingles are made, so that their neighbours become
            adjacent: none, english, chinese, or a file of words separated by white space [default:
            none; with N and M in front, stopwords.txt in the folder if it exists, otherwise
            english].
        ignore: Compare texts without these pieces: numbers, links, mentions, dates, or regular
            expressions such as 're:ORDER-[0-9]+'; commas separate them (repeatable).
        fold: Make spellings equal that differ by default: diacritics, arabic, cyrillic-latin, han,
            hyphens; commas separate several.
    """

    _name = "covered"

    def __new__(
        cls,
        *,
        shingle: _Integer | str | None = None,
        stop_words: _Path | Collection[str] | None = None,
        ignore: str | Sequence[str] | None = None,
        fold: str | None = None,
    ) -> Covered:
        return cls._with(
            shingle=shingle,
            stop_words=stop_words,
            ignore=ignore,
            fold=fold,
        )


class SimHash(Method):
    """All pairs whose SimHash fingerprints differ in at most `max_distance` bits. Needs only 16
    bytes per document and one reading, so it works for collections that are too large for exact.

        >>> simtool.SimHash(max_distance=6)
        simtool.SimHash(max_distance=6)
        >>> str(simtool.SimHash(max_distance=6))
        'simhash:max_distance=6'

    Options:
        bits: Bits of a fingerprint, 64, 128, 256 or 512 [default: 64].
        weight: Weight of each distinct shingle [default: tf for fingerprints, binary with exact].
            With exact, only binary and idf are possible; with idf, similarities compare sums of
            weights instead of numbers of shingles.
        recall: Use LSH bands that find at least this fraction of the pairs at the maximum distance
            [default: find all].
        verify_weight: Weight of each shingle in the similarity of `verify`, binary or idf [default:
            binary].
        top: Use only the K shingles with the greatest tf-idf of each document. With `shingle` 1,
            these are the keywords of the document, and 200 is a usual value of K [default: all].
        idf_band: Use only shingles whose normalized idf is from LOW to HIGH, for example 0.2-0.8.
            The normalized idf is 0 for a shingle that all documents contain, and 1 for a shingle
            that only one document contains. With top, the band applies to the K chosen shingles
            [default: use all].
        max_distance: With fingerprints: maximum distance of near-duplicates, with simhash in bits
            [default: 3 with simhash].
        verify: With fingerprints: read the texts of the pairs again and keep only pairs with a
            similarity of at least S. S can name the same measures as `similarity`. The terms of the
            texts need memory.
        shingle: Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3,
            or words:8 with covered].
        stop_words: Leave these words out before shingles are made, so that their neighbours become
            adjacent: none, english, chinese, or a file of words separated by white space [default:
            none; with N and M in front, stopwords.txt in the folder if it exists, otherwise
            english].
        ignore: Compare texts without these pieces: numbers, links, mentions, dates, or regular
            expressions such as 're:ORDER-[0-9]+'; commas separate them (repeatable).
        fold: Make spellings equal that differ by default: diacritics, arabic, cyrillic-latin, han,
            hyphens; commas separate several.
    """

    _name = "simhash"

    def __new__(
        cls,
        *,
        bits: _Integer | None = None,
        weight: Literal["tf", "binary", "log-tf", "idf", "tf-idf", "log-tf-idf", "levels"] | None = None,
        recall: _Number | str | None = None,
        verify_weight: Literal["binary", "idf"] | None = None,
        top: _Integer | None = None,
        idf_band: str | None = None,
        max_distance: _Integer | None = None,
        verify: _Number | str | None = None,
        shingle: _Integer | str | None = None,
        stop_words: _Path | Collection[str] | None = None,
        ignore: str | Sequence[str] | None = None,
        fold: str | None = None,
    ) -> SimHash:
        return cls._with(
            bits=bits,
            weight=weight,
            recall=recall,
            verify_weight=verify_weight,
            top=top,
            idf_band=idf_band,
            max_distance=max_distance,
            verify=verify,
            shingle=shingle,
            stop_words=stop_words,
            ignore=ignore,
            fold=fold,
        )


class MultiLexicon(Method):
    """All pairs for which at least `votes` of the `lexicons` SimHash fingerprints of 64 bits, each
    over a random part of the shingles, differ in at most `max_distance` bits.

        >>> simtool.MultiLexicon(max_distance=6)
        simtool.MultiLexicon(max_distance=6)
        >>> str(simtool.MultiLexicon(max_distance=6))
        'multi-lexicon:max_distance=6'

    Options:
        lexicons: Number of lexicons. A lexicon is a random set of shingles, and each gives one
            fingerprint of 64 bits [default: 8].
        lexicon_share: Fraction of all shingles that each lexicon contains [default: 0.5].
        votes: Number of fingerprints that must each differ in at most max_distance bits, or sum to
            add up the differing bits of all fingerprints [default: half of the lexicons].
        lexicon_bits: Whether the random bits of shingles differ between lexicons (own) or not
            (shared) [default: own].
        weight: Weight of each distinct shingle [default: tf for fingerprints, binary with exact].
            With exact, only binary and idf are possible; with idf, similarities compare sums of
            weights instead of numbers of shingles.
        recall: Use LSH bands that find at least this fraction of the pairs at the maximum distance
            [default: find all].
        verify_weight: Weight of each shingle in the similarity of `verify`, binary or idf [default:
            binary].
        top: Use only the K shingles with the greatest tf-idf of each document. With `shingle` 1,
            these are the keywords of the document, and 200 is a usual value of K [default: all].
        idf_band: Use only shingles whose normalized idf is from LOW to HIGH, for example 0.2-0.8.
            The normalized idf is 0 for a shingle that all documents contain, and 1 for a shingle
            that only one document contains. With top, the band applies to the K chosen shingles
            [default: use all].
        max_distance: With fingerprints: maximum distance of near-duplicates, with simhash in bits
            [default: 3 with simhash].
        verify: With fingerprints: read the texts of the pairs again and keep only pairs with a
            similarity of at least S. S can name the same measures as `similarity`. The terms of the
            texts need memory.
        shingle: Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3,
            or words:8 with covered].
        stop_words: Leave these words out before shingles are made, so that their neighbours become
            adjacent: none, english, chinese, or a file of words separated by white space [default:
            none; with N and M in front, stopwords.txt in the folder if it exists, otherwise
            english].
        ignore: Compare texts without these pieces: numbers, links, mentions, dates, or regular
            expressions such as 're:ORDER-[0-9]+'; commas separate them (repeatable).
        fold: Make spellings equal that differ by default: diacritics, arabic, cyrillic-latin, han,
            hyphens; commas separate several.
    """

    _name = "multi-lexicon"

    def __new__(
        cls,
        *,
        lexicons: _Integer | None = None,
        lexicon_share: _Number | str | None = None,
        votes: _Integer | Literal["sum"] | None = None,
        lexicon_bits: Literal["own", "shared"] | None = None,
        weight: Literal["tf", "binary", "log-tf", "idf", "tf-idf", "log-tf-idf", "levels"] | None = None,
        recall: _Number | str | None = None,
        verify_weight: Literal["binary", "idf"] | None = None,
        top: _Integer | None = None,
        idf_band: str | None = None,
        max_distance: _Integer | None = None,
        verify: _Number | str | None = None,
        shingle: _Integer | str | None = None,
        stop_words: _Path | Collection[str] | None = None,
        ignore: str | Sequence[str] | None = None,
        fold: str | None = None,
    ) -> MultiLexicon:
        return cls._with(
            lexicons=lexicons,
            lexicon_share=lexicon_share,
            votes=votes,
            lexicon_bits=lexicon_bits,
            weight=weight,
            recall=recall,
            verify_weight=verify_weight,
            top=top,
            idf_band=idf_band,
            max_distance=max_distance,
            verify=verify,
            shingle=shingle,
            stop_words=stop_words,
            ignore=ignore,
            fold=fold,
        )


class MinHash(Method):
    """All pairs whose MinHash fingerprints are as similar as those of sets with `similarity` are on
    average. Better than simhash of the same size if near-duplicates differ much.

        >>> simtool.MinHash(max_distance=6)
        simtool.MinHash(max_distance=6)
        >>> str(simtool.MinHash(max_distance=6))
        'minhash:max_distance=6'

    Options:
        lanes: Number of lanes, which hold one minimum each [default: as many as fit into 64 bytes].
        bits: Bits of a lane, 1, 2, 4, 8, 16 or 32 [default: 4].
        hashing: One-permutation computes one hash per shingle, classical one per shingle and lane
            [default: one-permutation].
        measure: What distances measure, jaccard (lanes that differ) or cosine (thousandths below 1,
            estimated from the lanes and the sizes of the sets) [default: cosine, or jaccard where
            only that allows the lanes].
        recall: Use LSH bands that find at least this fraction of the pairs at the maximum distance
            [default: find all].
        verify_weight: Weight of each shingle in the similarity of `verify`, binary or idf [default:
            binary].
        top: Use only the K shingles with the greatest tf-idf of each document. With `shingle` 1,
            these are the keywords of the document, and 200 is a usual value of K [default: all].
        idf_band: Use only shingles whose normalized idf is from LOW to HIGH, for example 0.2-0.8.
            The normalized idf is 0 for a shingle that all documents contain, and 1 for a shingle
            that only one document contains. With top, the band applies to the K chosen shingles
            [default: use all].
        similarity: Minimum similarity of near-duplicates, as a decimal or a ratio such as 4/5
            [default: 0.8, or 0.65 if all inputs are web pages, or 0.9 with minhash by cosine].
        max_distance: With fingerprints: maximum distance of near-duplicates, with simhash in bits
            [default: 3 with simhash].
        verify: With fingerprints: read the texts of the pairs again and keep only pairs with a
            similarity of at least S. S can name the same measures as `similarity`. The terms of the
            texts need memory.
        shingle: Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3,
            or words:8 with covered].
        stop_words: Leave these words out before shingles are made, so that their neighbours become
            adjacent: none, english, chinese, or a file of words separated by white space [default:
            none; with N and M in front, stopwords.txt in the folder if it exists, otherwise
            english].
        ignore: Compare texts without these pieces: numbers, links, mentions, dates, or regular
            expressions such as 're:ORDER-[0-9]+'; commas separate them (repeatable).
        fold: Make spellings equal that differ by default: diacritics, arabic, cyrillic-latin, han,
            hyphens; commas separate several.
    """

    _name = "minhash"

    def __new__(
        cls,
        *,
        lanes: _Integer | None = None,
        bits: _Integer | None = None,
        hashing: Literal["one-permutation", "classical"] | None = None,
        measure: Literal["jaccard", "cosine"] | None = None,
        recall: _Number | str | None = None,
        verify_weight: Literal["binary", "idf"] | None = None,
        top: _Integer | None = None,
        idf_band: str | None = None,
        similarity: _Number | str | None = None,
        max_distance: _Integer | None = None,
        verify: _Number | str | None = None,
        shingle: _Integer | str | None = None,
        stop_words: _Path | Collection[str] | None = None,
        ignore: str | Sequence[str] | None = None,
        fold: str | None = None,
    ) -> MinHash:
        return cls._with(
            lanes=lanes,
            bits=bits,
            hashing=hashing,
            measure=measure,
            recall=recall,
            verify_weight=verify_weight,
            top=top,
            idf_band=idf_band,
            similarity=similarity,
            max_distance=max_distance,
            verify=verify,
            shingle=shingle,
            stop_words=stop_words,
            ignore=ignore,
            fold=fold,
        )


class IMatch(Method):
    """All pairs with the same hash of all their words in a lexicon of words that are neither rare
    nor frequent, or in one of `lexicons` random parts of it.

        >>> simtool.IMatch(max_distance=6)
        simtool.IMatch(max_distance=6)
        >>> str(simtool.IMatch(max_distance=6))
        'i-match:max_distance=6'

    Options:
        lexicons: Number of random lexicons in addition to the whole one [default: 0].
        lexicon_share: Fraction of the whole lexicon in each random lexicon [default: 0.7].
        least_terms: Minimum number of words of a document that must be in the lexicon; with fewer,
            a document is near only documents whose compared words are the same [default: 5].
        least_share: Minimum fraction of a document's words that must be in the lexicon [default:
            0.1].
        recall: Use LSH bands that find at least this fraction of the pairs at the maximum distance
            [default: find all].
        verify_weight: Weight of each shingle in the similarity of `verify`, binary or idf [default:
            binary].
        top: Use only the K shingles with the greatest tf-idf of each document. With `shingle` 1,
            these are the keywords of the document, and 200 is a usual value of K [default: all].
        idf_band: Use only shingles whose normalized idf is from LOW to HIGH, for example 0.2-0.8.
            The normalized idf is 0 for a shingle that all documents contain, and 1 for a shingle
            that only one document contains. With top, the band applies to the K chosen shingles
            [default: use all].
        max_distance: With fingerprints: maximum distance of near-duplicates, with simhash in bits
            [default: 3 with simhash].
        verify: With fingerprints: read the texts of the pairs again and keep only pairs with a
            similarity of at least S. S can name the same measures as `similarity`. The terms of the
            texts need memory.
        shingle: Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3,
            or words:8 with covered].
        stop_words: Leave these words out before shingles are made, so that their neighbours become
            adjacent: none, english, chinese, or a file of words separated by white space [default:
            none; with N and M in front, stopwords.txt in the folder if it exists, otherwise
            english].
        ignore: Compare texts without these pieces: numbers, links, mentions, dates, or regular
            expressions such as 're:ORDER-[0-9]+'; commas separate them (repeatable).
        fold: Make spellings equal that differ by default: diacritics, arabic, cyrillic-latin, han,
            hyphens; commas separate several.
    """

    _name = "i-match"

    def __new__(
        cls,
        *,
        lexicons: _Integer | None = None,
        lexicon_share: _Number | str | None = None,
        least_terms: _Integer | None = None,
        least_share: _Number | str | None = None,
        recall: _Number | str | None = None,
        verify_weight: Literal["binary", "idf"] | None = None,
        top: _Integer | None = None,
        idf_band: str | None = None,
        max_distance: _Integer | None = None,
        verify: _Number | str | None = None,
        shingle: _Integer | str | None = None,
        stop_words: _Path | Collection[str] | None = None,
        ignore: str | Sequence[str] | None = None,
        fold: str | None = None,
    ) -> IMatch:
        return cls._with(
            lexicons=lexicons,
            lexicon_share=lexicon_share,
            least_terms=least_terms,
            least_share=least_share,
            recall=recall,
            verify_weight=verify_weight,
            top=top,
            idf_band=idf_band,
            max_distance=max_distance,
            verify=verify,
            shingle=shingle,
            stop_words=stop_words,
            ignore=ignore,
            fold=fold,
        )
