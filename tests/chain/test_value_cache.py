"""The cache of feature values: a value is extracted once, as long as nothing changes that it depends on."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from rerank_adapters.chain.extraction import extract_features, stream_features
from rerank_adapters.chain.extraction.known_values import fingerprint_of_values
from rerank_adapters.chain.extraction.plan import Plan
from rerank_adapters.chain.extraction.value_cache import ValueCache
from rerank_adapters.text import TextPipeline
from rerank_plugins import FeatureExtractor, Hypothesis, NBestList
from rerank_plugins.core.fingerprint import package_hash
from rerank_plugins.core.interfaces import SentenceFeature
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.hhmm.language_model import HhmmLanguageModel
from rerank_plugins.kit.files import blobs
from rerank_plugins.kit.files.blobs import Kind
from rerank_plugins.kit.files.store import FILE, FULL, KEPT, Store
from rerank_plugins.lists.length import LengthFeature
from tests.command_line import done, refused
from tests.runtime.test_interrupt import run, seen


@dataclass(frozen=True)
class OfWords(SentenceFeature):
    """The number of words, and of characters in the model; records the sentences."""

    model: Path | None = None
    factor: float = 1.0
    seen: ClassVar[Counter] = Counter()

    @property
    def components(self):
        return ("words", "model")

    def values(self, sentences):
        self.seen.update(" ".join(sentence) for sentence in sentences)
        characters = len(self.model.read_text()) if self.model else 0
        return np.array([[len(sentence) * self.factor, characters] for sentence in sentences], float).reshape(-1, 2)


@dataclass(frozen=True)
class OfSource(FeatureExtractor):
    """The length of the text plus that of the source; records them."""

    seen: ClassVar[Counter] = Counter()

    def extract(self, nbest):
        self.seen.update((nbest.source, text) for text in nbest.texts)
        return np.array([[float(len(text) + len(nbest.source or ""))] for text in nbest.texts]).reshape(-1, 1)


@dataclass(frozen=True)
class OfList(FeatureExtractor):
    """The rank; records the lists."""

    scope: ClassVar = "list"
    seen: ClassVar[Counter] = Counter()

    def extract(self, nbest):
        self.seen[nbest.segment_id] += 1
        return np.arange(float(len(nbest)))[:, None]


@dataclass(frozen=True)
class KeptOut(OfSource):
    """As its base class, but never cached."""

    cached: ClassVar = False
    seen: ClassVar[Counter] = Counter()


SPIES = (OfWords, OfSource, OfList, KeptOut)


@pytest.fixture(autouse=True)
def nothing_seen():
    for spy in SPIES:
        spy.seen.clear()


def lists(segments=6, size=8, prefix="w", source="quelle"):
    return [
        NBestList(
            str(s),
            tuple(Hypothesis(f"{prefix}{s} {i % 5}", score=-float(i)) for i in range(size)),
            source=f"{source} {s}",
        )
        for s in range(segments)
    ]


def extracted(cache, nbests, extractors, **pipelines):
    """The table's values, and which sentences, texts and lists were extracted for them."""
    for spy in SPIES:
        spy.seen.clear()
    values = extract_features(nbests, Plan(extractors, **pipelines), jobs=1, cache=cache).values
    return values, {spy.__name__: Counter(spy.seen) for spy in SPIES if spy.seen}


def test_a_second_run_extracts_nothing(tmp_path):
    features = {"words": OfWords(), "source": OfSource(), "list": OfList()}
    first, seen = extracted(ValueCache(Store(tmp_path)), lists(), features)
    assert {name: len(counts) for name, counts in seen.items()} == {"OfWords": 30, "OfSource": 30, "OfList": 6}
    again = ValueCache(Store(tmp_path))
    values, seen = extracted(again, lists(), features)
    np.testing.assert_array_equal(values, first)
    assert seen == {}
    assert again.taken == dict.fromkeys(features, 48)
    streamed = stream_features(lists(), Plan(features), jobs=1, cache=ValueCache(Store(tmp_path)))
    np.testing.assert_array_equal(np.concatenate([values for _, values in streamed]), first)
    assert not OfWords.seen


def test_an_added_feature_alone_is_extracted(tmp_path):
    extracted(ValueCache(Store(tmp_path)), lists(), {"words": OfWords()})
    values, seen = extracted(ValueCache(Store(tmp_path)), lists(), {"list": OfList(), "other label": OfWords()})
    assert set(seen) == {"OfList"}
    np.testing.assert_array_equal(
        values, extract_features(lists(), Plan({"list": OfList(), "w": OfWords()}), jobs=1).values
    )


def test_only_what_changed_is_extracted(tmp_path):
    model = tmp_path / "model"
    model.write_text("one")
    cache = tmp_path / "cache"
    features = {"words": OfWords(model), "source": OfSource(), "list": OfList()}

    def new(nbests, features=features, **pipelines):
        values, seen = extracted(ValueCache(Store(cache)), nbests, features, **pipelines)
        np.testing.assert_array_equal(values, extract_features(nbests, Plan(features, **pipelines), jobs=1).values)
        return {name: sorted(counts) for name, counts in seen.items()}

    nbests = lists()
    assert len(new(nbests)) == 3
    os.utime(model, (1, 1))
    assert new(nbests) == {}
    model.rename(tmp_path / "renamed")
    assert new(nbests, {**features, "words": OfWords(tmp_path / "renamed")}) == {}
    (tmp_path / "renamed").rename(model)
    model.write_text("other")
    assert set(new(nbests)) == {"OfWords"}
    assert set(new(nbests, {**features, "words": OfWords(model, factor=2.0)})) == {"OfWords"}
    changed = [*nbests[:5], nbests[5].with_texts([*nbests[5].texts[:-1], "new text"])]
    assert new(changed) == {"OfWords": ["new text"], "OfSource": [("quelle 5", "new text")], "OfList": ["5"]}
    other = [*nbests[:5], nbests[5].with_texts(nbests[5].texts, "andere")]
    assert new(other) == {"OfSource": [("andere", f"w5 {i}") for i in range(5)], "OfList": ["5"]}
    assert new(nbests[::-1]) == {}
    assert new([nbests[2].select([3, 1])]) == {"OfList": ["2"]}
    assert new([NBestList("x", nbests[2].hypotheses, source="quelle")]).keys() == {"OfSource", "OfList"}
    upper = {"texts": {"words": TextPipeline(("uppercase",))}}
    assert new(nbests, **upper) == {"OfWords": sorted({text.upper() for nbest in nbests for text in nbest.texts})}
    assert new(nbests, **upper) == {}


def test_what_may_not_outlive_the_job_is_kept_apart(tmp_path):
    @dataclass(frozen=True)
    class Local(OfList):
        pass

    (tmp_path / "plugin.py").write_text(PLUGIN)
    entries = load_plugins(files=[tmp_path / "plugin.py"], installed=False).entries["feature"]
    features = {"length": LengthFeature(), "out": KeptOut(), "local": Local(), "no file": OfWords(tmp_path / "none")}
    features = {**features, "file": entries["of-file"].factory(), "sure": entries["of-file-surely"].factory()}
    plan = Plan(features)
    lasting = {label for label in features if fingerprint_of_values(plan, label).complete}
    assert lasting == {"length", "sure"}
    del features["no file"]
    cache = ValueCache(Store(tmp_path))

    def parts():
        return ValueCache(Store(tmp_path), "parts of a table")

    extract_features(lists(), Plan(features), jobs=1, cache=cache, work=parts())
    families = Counter(holding.kind.family for holding in cache.store.usage())
    assert families == {"values": 2, "parts of a table": 3}
    KeptOut.seen.clear()
    extract_features(lists(), Plan(features), jobs=1, cache=cache, work=parts())
    assert not KeptOut.seen
    extract_features(lists(), Plan(features), jobs=1, cache=cache, work=ValueCache(Store(tmp_path), "parts of another"))
    assert KeptOut.seen
    parts().clear()
    families = Counter(holding.kind.family for holding in cache.store.usage())
    assert families == {"values": 2, "parts of another": 3}


PLUGIN = """
from dataclasses import dataclass
from typing import ClassVar
from rerank_plugins import hookimpl
from rerank_plugins.lists.length import LengthFeature

@dataclass(frozen=True)
class OfFile(LengthFeature):
    "Number of words."

@dataclass(frozen=True)
class OfFileSurely(LengthFeature):
    "Number of words."
    cached: ClassVar[bool] = True

@hookimpl
def register_feature_extractors(register):
    register("of-file", OfFile)
    register("of-file-surely", OfFileSurely)
"""


def test_an_identity_names_the_code_of_packages_and_their_data(tmp_path, monkeypatch):
    identity = json.loads(fingerprint_of_values(Plan({"h": HhmmLanguageModel()}), "h").text)
    assert identity["packages"].keys() == {"rerank_plugins", "rerank_adapters.text"}
    assert identity["libraries"].keys() == {"numpy", "numba", "kenlm", "sacrebleu", "rapidfuzz"}
    package = tmp_path / "package_of_a_test"
    package.mkdir()
    (package / "__init__.py").write_text("from package_of_a_test import part\n")
    (package / "part.py").write_text("A = 1\n")
    (package / "model").write_bytes(bytes(100_000))
    monkeypatch.syspath_prepend(tmp_path)
    __import__("package_of_a_test")

    def hashed():
        package_hash.cache_clear()
        return package_hash("package_of_a_test")

    first = hashed()
    (package / "__pycache__").mkdir(exist_ok=True)
    (package / "__pycache__" / "left.pyc").write_bytes(b"x")
    assert hashed() == first is not None
    (package / "part.py").write_text("A = 2\n")
    second = hashed()
    assert second != first
    (package / "model").write_bytes(bytes(99_999) + b"1")
    assert hashed() not in (first, second)
    assert package_hash("__main__") is None
    assert package_hash("no_such_module") is None
    package_hash.cache_clear()


def stored(folder, width=1):
    return ValueCache(Store(folder)).of("{}", width)


def held(folder):
    """What the store has of the only identity."""
    (holding,) = Store(folder).usage()
    return holding


def keys(numbers):
    """Keys that differ in both halves, with bytes 0 at both ends."""
    halves = np.column_stack([np.array(numbers, np.uint64) * np.uint64(2**40 + 1), np.array(numbers, np.uint64)])
    return halves.view("S16")[:, 0]


def test_values_come_back_whatever_the_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("rerank_adapters.chain.extraction.value_cache.MANY", 4)
    rng = np.random.default_rng(0)
    values = rng.normal(size=(500, 3))
    for start in range(0, 500, 50):
        rows = rng.permutation(np.arange(max(0, start - 10), start + 50))  # some of the rows again
        store = stored(tmp_path, 3)
        store.add(keys(rows), values[rows])
        store.close()
    assert held(tmp_path).blobs == 2  # many are merged
    order = rng.permutation(500)
    found, known = stored(tmp_path, 3).load(keys(order))
    assert known.all()
    np.testing.assert_array_equal(found, values[order])
    found, known = stored(tmp_path, 3).load(keys([3, 1000, 2000]))
    assert known.tolist() == [True, False, False]
    assert not found[1:].any()
    assert stored(tmp_path, 3).load(keys([]))[0].shape == (0, 3)
    for half in (slice(0, 8), slice(8, 16)):  # half of a key is not enough
        other = keys([3]).view("u1").copy()
        other[half] += 1
        assert not stored(tmp_path, 3).load(other.view("S16"))[1].any()


WRITER = """
import sys
import numpy as np
from pathlib import Path
from rerank_adapters.chain.extraction import value_cache
from rerank_adapters.chain.extraction.value_cache import ValueCache
from tests.chain.test_value_cache import keys, stored
value_cache.MANY = 2
for number in range(int(sys.argv[2]), 200, 2):
    store = stored(Path(sys.argv[1]))
    store.add(keys([number]), np.array([[float(number)]]))
    store.close()
"""


@pytest.mark.slow
def test_two_processes_write_and_merge_at_once(tmp_path):
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    writers = [subprocess.Popen([*command, str(number)]) for number in (0, 1)]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    found, known = stored(tmp_path).load(keys(range(200)))
    assert known.all()
    assert found[:, 0].tolist() == list(range(200))
    assert held(tmp_path).blobs < 20


def test_the_least_recently_used_blocks_go_first(tmp_path, monkeypatch):
    now = [0]
    monkeypatch.setattr(blobs, "hour", lambda: now[0])
    nbests = [lists(1, 500, prefix=f"p{i}") for i in range(4)]
    for nbest in (*nbests, nbests[0]):
        now[0] += 48
        extracted(ValueCache(Store(tmp_path)), nbest, {"source": OfSource()})
    size = held(tmp_path).size // 4
    store = Store(tmp_path, limit=int(2.5 * size / FULL / KEPT))
    store.save(Kind("other", "{}"), [])
    left = [not extracted(ValueCache(Store(tmp_path)), nbest, {"source": OfSource()})[1] for nbest in nbests]
    assert left == [True, False, False, True]


def test_damaged_blocks_are_extracted_again(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("rerank_adapters.chain.extraction.value_cache.PACE", -1.0)  # a block for each chunk
    monkeypatch.setattr("rerank_adapters.chain.extraction.value_cache.MANY", 1000)
    nbests = lists(40)
    first, _ = extracted(ValueCache(Store(tmp_path)), nbests, {"source": OfSource()})
    whole = held(tmp_path)
    with sqlite3.connect(tmp_path / FILE) as database:
        database.execute("UPDATE blobs SET value = substr(value, 9) WHERE key IN (SELECT key FROM blobs LIMIT 2)")
    database.close()
    again, seen = extracted(ValueCache(Store(tmp_path)), nbests, {"source": OfSource()})
    np.testing.assert_array_equal(first, again)
    assert 0 < len(seen["OfSource"]) < 200
    assert caplog.messages == [f"{tmp_path / FILE}: 2 values are damaged; they are made again"]
    assert extracted(ValueCache(Store(tmp_path)), nbests, {"source": OfSource()})[1] == {}
    assert held(tmp_path).size == whole.size


SLOW = """
import os, time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
import numpy as np
from rerank_adapters.chain.extraction import value_cache
from rerank_plugins import FeatureExtractor, hookimpl

value_cache.PACE = 0.05

@dataclass(frozen=True)
class Slow(FeatureExtractor):
    "Slow."
    cached: ClassVar[bool] = True

    def extract(self, nbest):
        time.sleep(0.004)
        with open("seen", "a") as file:
            file.write(f"{nbest.segment_id} {os.getpid()}\\n")
        return np.array([[float(len(text))] for text in nbest.texts])

@hookimpl
def register_feature_extractors(register):
    register("slow", Slow)
"""


@pytest.mark.slow
def test_a_killed_extraction_goes_on_where_it_stopped(tmp_path, root, monkeypatch):
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path / "cache"))
    lines = (root / "example_nbest" / "mt" / "tune.nbest").read_text().splitlines(keepends=True)
    (tmp_path / "lists").write_text("".join(line for row, line in enumerate(lines) if row % 50 < 10))
    (tmp_path / "slow.py").write_text(SLOW)
    command = [sys.executable, "-m", "rerank_adapters.cli", "--plugin", "slow.py", "extract", "lists", "-f", "slow"]
    with subprocess.Popen([*command, "-j", "1", "-o", "killed.npz"], cwd=tmp_path) as process:
        while sum(held.blobs for held in Store(tmp_path / "cache").usage()) < 2 and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
    first = len(seen(tmp_path))
    assert first < 100
    assert run(tmp_path, "extract", "lists", "-f", "slow", "-o", "killed.npz").code == 0
    second = len(seen(tmp_path))
    assert 100 - first <= second <= 100 - 13  # two blocks, of 64 hypotheses or more each
    monkeypatch.setenv("RERANK_CACHE", "")
    assert run(tmp_path, "extract", "lists", "-f", "slow", "-o", "whole.npz").code == 0
    assert (tmp_path / "whole.npz").read_bytes() == (tmp_path / "killed.npz").read_bytes()


def test_commands_share_the_cache(small, tmp_path, monkeypatch):
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path / "cache"))
    features = ("-f", "length", "-f", "consensus")
    assert "in the cache" not in done("extract", small / "tune.nbest", *features, "-o", tmp_path / "t.npz").err
    tune = ("tune", small / "tune.nbest", "-r", small / "tune.en", "-o", tmp_path / "w.toml")
    said = "features in the cache: length, consensus of 200 hypotheses"
    assert said in done(*tune, *features).err
    assert said in done("apply", small / "tune.nbest", "-w", tmp_path / "w.toml").err
    store = Store(tmp_path / "cache")
    listed = done("tools", "cache").lines
    assert listed[0].startswith(f"{store.file}: 0.")
    assert "200 hypotheses, 0.0 MB: LengthFeature" in listed
    store.save(Kind("values", "{"), [(b"key", b"no block")])
    assert "0 hypotheses, 0.0 MB: ?" in done("tools", "cache").lines
    assert "cleared" in done("tools", "cache", "--clear").out
    assert not store.usage()
    monkeypatch.setenv("RERANK_CACHE", "")
    assert "in the cache" not in done(*tune, *features).err
    assert refused("tools", "cache") == "nothing is kept, because RERANK_CACHE is set to nothing"


def test_a_full_disk_is_done_without_and_said_once(tmp_path, caplog):
    store = stored(tmp_path)
    store.load(keys([1]))
    store.store._open().execute("PRAGMA max_page_count = 1")
    for number in range(3):
        store.add(keys(range(number, 2000)), np.ones((2000 - number, 1)))
        store.flush()
    store.close()
    assert [record.getMessage() for record in caplog.records] == [
        f"{tmp_path / FILE}: the cache is not used (database or disk is full)"
    ]
