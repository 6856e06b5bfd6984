"""The pairs of all buckets equal the pairs of a comparison of everything with everything."""

import random

import pytest

import simtool
from simtool._simtool import Engine, Learner, SetKeys, Verifier

np = pytest.importorskip("numpy", reason="skipped: numpy is not installed")
pa = pytest.importorskip("pyarrow", reason="skipped: pyarrow is not installed")


def made(seed, centres, around, words):
    """Builds distinct fingerprints near some centres. Half of them have the highest bit set."""
    rng = random.Random(seed)
    rows = set()
    for _ in range(centres):
        centre = rng.getrandbits(64 * words)
        for _ in range(around):
            row = centre
            for _ in range(rng.randrange(6)):
                row ^= 1 << rng.randrange(64 * words)
            rows.add(row)
    return sorted(rows, key=lambda row: row * 7919 % 10007)


def column(rows, words):
    low = [[row >> 64 * word & 2**64 - 1 for word in range(words)] for row in rows]
    values = pa.array(np.array(low, dtype=np.uint64).ravel())
    return values.view(pa.int64()) if words == 1 else pa.FixedSizeListArray.from_arrays(values, words)


def found(engine, rows, words, full, sides):
    """Finds pairs by buckets, as tasks do."""
    every = column(rows, words)
    table = pa.table(engine.buckets(every, full)).sort_by("bucket")
    numbers = table["row"].combine_chunks()
    sides = None if sides is None else pa.array(sides, pa.int32()).take(numbers)
    buckets = table["bucket"].combine_chunks().view(pa.int32())
    pairs = pa.table(engine.pairs(every.take(numbers), buckets, full, sides)).to_pydict()
    numbers = numbers.to_pylist()
    pairs = [(numbers[a], numbers[b], distance) for a, b, distance in zip(*pairs.values())]
    assert len(pairs) == len(set(pairs))
    return sorted((*(ends if sides is not None else sorted(ends)), distance) for *ends, distance in pairs)


@pytest.mark.parametrize("words, distance, cut", [(1, 3, 0), (1, 6, 4), (2, 9, 2), (1, 0, 0), (1, 31, 0)])
@pytest.mark.parametrize("sided", [False, True])
def test_pairs_of_buckets(words, distance, cut, sided):
    rows = made(words, 20, 12, words)
    engine = Engine(method=f"simhash:bits={64 * words}", max_distance=distance)
    buckets = pa.table(engine.buckets(column(rows, words)))["bucket"].to_pylist()
    full = sorted({bucket for bucket in buckets if cut and buckets.count(bucket) > cut})
    assert bool(full) == bool(cut)
    sides = [row % 3 % 2 for row in range(len(rows))] if sided else None
    expected = []
    for a, one in enumerate(rows):
        for b in range(len(rows)) if sided else range(a + 1, len(rows)):
            apart = (one ^ rows[b]).bit_count()
            if apart <= distance and (not sided or (sides[a], sides[b]) == (0, 1)):
                expected.append((a, b, apart))
    assert found(engine, rows, words, full, sides) == expected


def test_a_bucket_of_many_is_joined_as_on_one_machine():
    # All rows agree in the first mask, so its bucket is full.
    rows = [row << 16 | 5 for row in made(3, 50, 60, 1) if row < 2**47]
    rng = random.Random(4)
    rows += [rng.getrandbits(20) << 17 | 5 for _ in range(2000)]
    rows = sorted({row % 2**64 for row in rows})
    assert len(rows) > 1500
    engine = Engine(method="simhash", max_distance=3)
    expected = []
    words = np.array(rows, dtype=np.uint64)
    for a in range(len(rows)):
        apart = np.array([int(x).bit_count() for x in words[a + 1 :] ^ words[a]])
        expected += [(a, int(a + 1 + at), int(apart[at])) for at in np.flatnonzero(apart <= 3)]
    assert expected
    assert found(engine, rows, 1, [], None) == expected


def test_texts_are_compared_as_on_one_machine():
    rng = random.Random(5)
    texts = []
    for _ in range(80):
        words = rng.choice(texts).split() if texts else [f"w{at}" for at in range(20)]
        words[rng.randrange(20)] = f"w{rng.randrange(30)}"
        texts.append(" ".join(words))
    options = {"method": "simhash", "max_distance": 31, "verify": 0.5, "shingle": "words:2"}
    pairs = simtool.deduplicate(texts, **options).pairs.to_pydict()
    pairs = {(a, b): how for a, b, *how in zip(*(pairs[name] for name in ("a", "b", "similarity", "distance")))}
    verifier = Verifier(**options)
    fingerprints = pa.array(simtool.fingerprint(texts, **options))
    groups = pa.table(verifier.groups(pa.array(texts), fingerprints))["group"].to_pylist()
    equal = {(a, b) for b in range(80) for a in range(b) if groups[a] == groups[b]}
    assert equal and {tuple(pairs.pop(pair)) for pair in equal} == {(1, 0)}
    # Each text is the only one of its fingerprint here.
    given = {"a": [a for a, _ in pairs], "b": [b for _, b in pairs], "distance": [how[1] for how in pairs.values()]}
    found = pa.table(verifier.similar(pa.array(texts), pa.array(range(80)), pa.table(given))).to_pydict()
    assert {(a, b): how for a, b, *how in zip(*found.values())} == pairs
    with pytest.raises(ValueError, match="compares no texts"):
        Verifier(method="simhash")


def test_parts_teach_the_model_of_the_whole():
    texts = [" ".join(f"w{chr(97 + number * at % 11)}" for at in range(1, number % 7)) for number in range(60)]
    for options in [{"method": "simhash:weight=idf", "shingle": "words:2"}, {"words": 8}, {"method": "simhash:top=2", "shingle": "words:1"}]:
        learner, sums = Learner(**options), {}
        for part in (texts[:13], texts[13:50], texts[50:]):
            assert learner.add(part) > 0
            for term, count in zip(*learner.take().to_pydict().values()):
                sums[term] = sums.get(term, 0) + count
        documents = sums.pop(None, 0)
        assert documents == (0 if learner.most else len(texts))
        kind = pa.string() if learner.most else pa.uint64()
        learned = learner.learned(pa.array(sums.keys(), kind), pa.array(sums.values(), pa.int64()), documents)
        expected = simtool.fingerprint(texts, **options)
        made = Engine(learned=learned, **options).fingerprints(texts, range(60))
        assert pa.array(made) == pa.array(expected)
        assert made.recipe == expected.recipe
        with pytest.raises(ValueError, match="was not learned for"):
            Engine(**options).fingerprints(texts, range(60))
    assert Learner().recipe is None
    with pytest.raises(ValueError, match="there is nothing to learn"):
        Learner().take()
    with pytest.raises(ValueError, match="learned, byte 0: expected"):
        Engine(learned=b"nothing")


def rows_of(numbers):
    return pa.FixedSizeListArray.from_arrays(pa.array(numbers.ravel()), numbers.shape[1])


def numbers_of(table, name):
    column = pa.table(table)[name].combine_chunks()
    return column.flatten().to_numpy().reshape(len(column), -1)


def test_sets_of_one_part_of_the_keys_are_neighbours():
    rng = np.random.default_rng(20)
    counts = rng.integers(0, 5, 400)
    keys = rng.integers(0, 2**64, (counts.sum(), 2), np.uint64)
    # Many rows share this key.
    keys[::2, 0] = 12 << 32
    classes = rng.integers(0, 2**64, (400, 2), np.uint64)
    weights = np.arange(400, dtype=np.uint64)
    sides = weights % np.uint64(2)
    given = (rows_of(classes), pa.array(weights), pa.array(sides), rows_of(keys), pa.array(counts.cumsum()))
    sets, rows = SetKeys.parted(*given, 16)
    sets, parts, ends = numbers_of(sets, "set"), *(pa.table(rows)[name].to_numpy() for name in ("part", "end"))
    of_set = np.repeat(np.arange(400), counts)
    expected = np.column_stack([keys, weights[of_set], sides[of_set], classes[of_set]])
    assert sorted(map(tuple, sets)) == sorted(map(tuple, expected))
    sizes = np.diff(ends, prepend=0)
    assert (sizes > 0).all() and sizes.max() == 128 and ends[-1] == len(sets)
    assert (np.repeat(parts, sizes) == sets[:, 0] >> np.uint64(32) & np.uint64(15)).all()
    assert (np.diff(parts) >= 0).all() and len(set(parts)) == 16
    with pytest.raises(ValueError, match="must be one for each class"):
        SetKeys.parted(*given[:2], pa.array([1]), *given[3:], 16)
    with pytest.raises(ValueError, match="classes: must be rows of 2 numbers"):
        SetKeys.parted(rows_of(classes.reshape(-1, 4)), *given[1:], 16)


def test_candidates_of_a_key_come_in_parts():
    count = 1600
    sets = np.full((3 + count, 6), 10, np.uint64)
    sets[:3, 0] = 2**64 - 7
    sets[:, 4] = np.random.default_rng(21).permutation(3 + count)
    keys, on, found = SetKeys(), (0, 0), []
    while on is not None:
        part, on = keys.candidates(rows_of(sets), False, on)
        found.append(part)
    assert len(found) > 1
    a, b = (np.concatenate([numbers_of(part, name) for part in found])[:, 0].astype(np.int64) for name in "ab")
    assert len(np.unique(a * count * 2 + b)) == len(a) == 3 + count * (count - 1) // 2
    assert (a < b).all()
    # A pair of sets that share two keys comes once, under the first key.
    sets = np.array([[key, 9, 10, side, number, 0] for key in (3, 2) for number, side in [(5, 1), (4, 0), (7, 0)]], np.uint64)
    for is_sided, expected in [(False, [(4, 5, 2), (4, 7, 2), (5, 7, 2)]), (True, [(4, 5, 2), (7, 5, 2)])]:
        table, on = keys.candidates(rows_of(sets), is_sided)
        a, b = (numbers_of(table, name)[:, 0].tolist() for name in "ab")
        assert (list(zip(a, b, pa.table(table)["term"].to_pylist())), on) == (expected, None)
    for options, message in [({"method": "simhash"}, "compares no sets"), ({"method": "exact:weight=idf"}, "was not learned for")]:
        with pytest.raises(ValueError, match=message):
            SetKeys(**options)
    with pytest.raises(ValueError, match="there are no fingerprints"):
        Engine(method="exact").words
