"""Meanings of options and parameters, generated from the program."""

OPTIONS = {
    "deduplicate": r"""

Options:
    keep: Document to keep of several near-duplicates: rules, separated by commas [default: first].
    cluster: Documents to remove: only documents near a kept document (proven), or also documents
        that a chain of near-duplicates links to it (components) [default: proven]. Values: proven,
        components.
    method: Method that finds near-duplicates; its settings follow a colon, as in simhash:bits=128
        [default: simhash]. Values: exact, covered, simhash, multi-lexicon, minhash, i-match, auto.
    similarity: Minimum similarity of near-duplicates, as a decimal or a ratio such as 4/5 [default:
        0.8, or 0.65 if all inputs are web pages, or 0.9 with minhash by cosine].
    max_distance: With fingerprints: maximum distance of near-duplicates, with simhash in bits
        [default: 3 with simhash].
    verify: With fingerprints: read the texts of the pairs again and keep only pairs with a
        similarity of at least S. S can name the same measures as `similarity`. The terms of the
        texts need memory.
    shingle: Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3, or
        words:8 with covered].
    stop_words: Leave these words out before shingles are made, so that their neighbours become
        adjacent: none, english, chinese, or a file of words separated by white space [default:
        none; with N and M in front, stopwords.txt in the folder if it exists, otherwise english].
    ignore: Compare texts without these pieces: numbers, links, mentions, dates, or regular
        expressions such as 're:ORDER-[0-9]+'; commas separate them (repeatable).
    fold: Make spellings equal that differ by default: diacritics, arabic, cyrillic-latin, han,
        hyphens; commas separate several.
""",
    "match": r"""

Options:
    method: Method that finds near-duplicates; its settings follow a colon, as in simhash:bits=128
        [default: simhash]. Values: exact, covered, simhash, multi-lexicon, minhash, i-match, auto.
    similarity: Minimum similarity of near-duplicates, as a decimal or a ratio such as 4/5 [default:
        0.8, or 0.65 if all inputs are web pages, or 0.9 with minhash by cosine].
    max_distance: With fingerprints: maximum distance of near-duplicates, with simhash in bits
        [default: 3 with simhash].
    verify: With fingerprints: read the texts of the pairs again and keep only pairs with a
        similarity of at least S. S can name the same measures as `similarity`. The terms of the
        texts need memory.
    shingle: Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3, or
        words:8 with covered].
    stop_words: Leave these words out before shingles are made, so that their neighbours become
        adjacent: none, english, chinese, or a file of words separated by white space [default:
        none; with N and M in front, stopwords.txt in the folder if it exists, otherwise english].
    ignore: Compare texts without these pieces: numbers, links, mentions, dates, or regular
        expressions such as 're:ORDER-[0-9]+'; commas separate them (repeatable).
    fold: Make spellings equal that differ by default: diacritics, arabic, cyrillic-latin, han,
        hyphens; commas separate several.
""",
}
