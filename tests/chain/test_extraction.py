import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest

from rerank_adapters.chain.extraction import WorkerEstimate, extract_features, stream_features
from rerank_adapters.chain.extraction.known_values import fingerprint_of_values, of_lists
from rerank_adapters.chain.extraction.plan import Plan
from rerank_adapters.chain.extraction.value_cache import ValueCache
from rerank_adapters.runtime.progress import CountingBar, ExtractionProgress, StatusLine
from rerank_adapters.runtime.workers import may_fork
from rerank_adapters.text import TextPipeline
from rerank_plugins import (
    ConfigError,
    FeatureExtractor,
    FeatureTable,
    Hypothesis,
    NBestList,
    PluginError,
    RerankError,
    SparseBlock,
    option,
)
from rerank_plugins.core.fingerprint import describe
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.kit.files.store import Store
from rerank_plugins.lists.consensus import ConsensusFeature
from rerank_plugins.lists.length import CharacterLengthFeature, LengthFeature
from rerank_plugins.ngram.language_model import NgramLanguageModel
from rerank_plugins.translation.copied_words import LexicalOverlapFeature
from tests.ngram.naive_features import write_arpa

WORDS = ["the", "a", "cat", "dog", "sat", "barked", "on", "mat", ",", "."]


def lists(segments=20, size=30, seed=0):
    rng = np.random.default_rng(seed)
    made = []
    for s in range(segments):
        texts = [" ".join(rng.choice(WORDS, rng.integers(0, 9))) for _ in range(rng.integers(1, size))]
        rows = tuple(
            Hypothesis(t, (float(i), 1.0), -0.1 * i, {"r_1": 1.0} if i % 3 else {}) for i, t in enumerate(texts)
        )
        made.append(NBestList(str(s), rows, ("A0", "B0"), source="der Hund sat , ."))
    return made


@pytest.fixture(scope="module")
def extractors(tmp_path_factory):
    arpa = write_arpa(tmp_path_factory.mktemp("lm") / "lm.arpa")
    return {
        "lm": NgramLanguageModel(arpa),
        "mbr": ConsensusFeature(),
        "len": LengthFeature(),
        "overlap": LexicalOverlapFeature(),
    }


def saved(table, path):
    table.save(path)
    return path.read_bytes()


def decoder_of(nbests):
    offsets = np.cumsum([0, *map(len, nbests)])
    values = np.array([h.features for nbest in nbests for h in nbest], float).reshape(-1, 2)
    sparse = SparseBlock.from_mappings([h.sparse for nbest in nbests for h in nbest])
    return FeatureTable(("A0", "B0"), values, offsets, tuple(n.segment_id for n in nbests), sparse, {"who": "me"})


@dataclass
class Spy(FeatureExtractor):
    """Counts what it sees; returns the text's length."""

    seen: Counter = field(default_factory=Counter)

    def extract(self, nbest):
        self.seen.update((nbest.segment_id, text) for text in nbest.texts)
        return LengthFeature().extract(nbest)


@dataclass(frozen=True)
class Broken(FeatureExtractor):
    """Does what it must not, on segment 7."""

    how: str = "nan"

    def extract(self, nbest):
        values = np.zeros((len(nbest), 1))
        if nbest.segment_id != "7":
            return values
        if self.how == "nan":
            values[-1] = np.nan
        return {
            "nan": values,
            "shape": np.zeros((len(nbest), 2)),
            "rows": np.zeros((len(nbest) + 1, 1)),
            "integers": np.zeros((len(nbest), 1), int),
            "list": values.tolist(),
        }.get(self.how) if self.how != "raise" else {}["oops"]  # fmt: skip

    def extract_all(self, nbests):
        return {}["oops"] if self.how == "together" and len(nbests) > 1 else super().extract_all(nbests)


@dataclass(frozen=True)
class Interrupted(FeatureExtractor):
    """Length, until a file says stop (then Ctrl-C)."""

    stop: str
    scope: ClassVar = "text"

    def extract(self, nbest):
        if os.path.exists(self.stop) and nbest.segment_id == "13":
            raise KeyboardInterrupt
        return LengthFeature().extract(nbest)


class Plain:
    """An object that is no dataclass."""

    def __init__(self, value):
        self.value = value


@dataclass(frozen=True)
class Where(FeatureExtractor):
    """The process that extracted."""

    def extract(self, nbest):
        return np.full((len(nbest), 1), float(os.getpid()))


@dataclass(frozen=True)
class Dies(FeatureExtractor):
    """Ends its process, if that is not the first one."""

    parent: int

    def extract(self, nbest):
        if os.getpid() != self.parent:
            os._exit(1)
        return LengthFeature().extract(nbest)


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr("rerank_adapters.chain.extraction.plan.FIRST", 20)
    monkeypatch.setattr("rerank_adapters.chain.extraction.plan.LARGEST", 40)


@pytest.fixture
def eager_workers(monkeypatch, small_chunks):
    """Workers start after the first chunk, whatever they cost."""
    monkeypatch.setattr(WorkerEstimate, "workers_worthwhile", lambda self, jobs, forks=False: self.passed > 0)


def test_columns_names_and_decoder_features(extractors):
    nbests = lists()
    decoder = decoder_of(nbests)
    table = extract_features(nbests, Plan(extractors), decoder=decoder, jobs=1)
    new = ("lm.total", "lm.per_word", "lm.oovs", "mbr.1", "mbr.2", "mbr.3", "mbr.4", "mbr.length")[: 3 + 4]
    assert table.names[: 2 + len(new)] == ("A0", "B0", *new)
    assert table.names == ("A0", "B0", *Plan(extractors).names)
    np.testing.assert_array_equal(table.values[:, :2], decoder.values)
    assert table.sparse is decoder.sparse
    assert table.segment_ids == decoder.segment_ids
    assert table.provenance["who"] == "me"
    assert table.provenance["features"]["lm"]["extractor"]["options"]["model"]["file"] == "lm.arpa"
    column = 2
    for extractor in extractors.values():
        width = len(extractor.components)
        wanted = np.concatenate([extractor.extract(nbest) for nbest in nbests])
        np.testing.assert_allclose(table.values[:, column : column + width], wanted, rtol=1e-12)
        column += width
    assert column == len(table.names)


def test_without_a_decoders_table(extractors):
    nbests = lists()
    table = extract_features(nbests, Plan(extractors), jobs=1)
    assert table.names == Plan(extractors).names
    assert table.sparse.names == ()
    empty = extract_features([], Plan(extractors))
    assert empty.values.shape == (0, len(table.names))
    assert extract_features(nbests, Plan({})).values.shape == (len(table.values), 0)


def test_each_distinct_text_of_a_list_is_seen_once():
    nbests = lists()
    spy = Spy()
    table = extract_features(nbests, Plan({"spy": spy}, {"spy": TextPipeline(("uppercase",))}), jobs=1)
    assert set(spy.seen.values()) == {1}
    assert set(spy.seen) == {(nbest.segment_id, text.upper()) for nbest in nbests for text in nbest.texts}
    wanted = np.concatenate([LengthFeature().extract(nbest) for nbest in nbests])
    np.testing.assert_array_equal(table.values, wanted)


def test_text_pipelines_of_hypothesis_and_source():
    nbests = [NBestList("0", (Hypothesis("HA@@ US x"), Hypothesis("haus X")), source="da@@ s haus")]
    overlap = {"o": LexicalOverlapFeature(ignore_case=False)}
    bpe, lower = TextPipeline(("undo-bpe",)), TextPipeline(("undo-bpe", "lowercase"))
    plain = extract_features(nbests, Plan(overlap))
    np.testing.assert_allclose(plain.values, [[0, 0], [1 / 2, 1 / 3]])
    mapped = extract_features(nbests, Plan(overlap, {"o": lower}, {"o": bpe}))
    np.testing.assert_allclose(mapped.values, [[1 / 2, 1 / 2], [1 / 2, 1 / 2]])
    assert mapped.provenance["features"]["o"]["text"] == "undo-bpe+lowercase"
    assert mapped.provenance["features"]["o"]["source"] == "undo-bpe"
    assert nbests[0].texts == ["HA@@ US x", "haus X"]


@pytest.mark.slow
def test_nothing_depends_on_chunks_or_processes(extractors, tmp_path, eager_workers):
    nbests = lists(30)
    extractors = {**extractors, "lower": CharacterLengthFeature()}
    del extractors["mbr"]  # loading its kernel takes a second in each worker; the real lists below have it
    texts = {"lower": TextPipeline(("tokenize:en",))}
    decoder = decoder_of(nbests)
    here = extract_features(nbests, Plan(extractors, texts), decoder=decoder, jobs=1)
    there = extract_features(nbests, Plan(extractors, texts), decoder=decoder, jobs=2)
    assert saved(here, tmp_path / "1") == saved(there, tmp_path / "2")
    one = np.concatenate([v for _, v in stream_features(iter(nbests), Plan(extractors, texts), jobs=1)])
    np.testing.assert_array_equal(one, here.values[:, 2:])
    two = list(stream_features(iter(nbests), Plan(extractors, texts), jobs=2))
    assert [nbest.segment_id for nbest, _ in two] == [nbest.segment_id for nbest in nbests]
    np.testing.assert_array_equal(np.concatenate([v for _, v in two]), one)


@pytest.mark.slow
def test_workers_really_work(eager_workers):
    table = extract_features(lists(40), Plan({"where": Where()}), jobs=2)
    processes = set(table.values[:, 0])
    assert os.getpid() in processes  # the first chunk
    assert len(processes) >= 2
    assert set(extract_features(lists(40), Plan({"where": Where()}), jobs=1).values[:, 0]) == {os.getpid()}


def test_a_feature_that_wants_one_process_keeps_all_here(eager_workers):
    class Large(Where):
        one_process = True

    table = extract_features(lists(10), Plan({"where": Where(), "large": Large()}), jobs=2)
    assert set(table.values.ravel()) == {os.getpid()}


SECOND_CHUNK = """
import os
from dataclasses import dataclass
import numpy as np
from rerank_adapters.chain.extraction import extract_features
from rerank_adapters.chain.extraction.plan import Plan, chunks_by_cost
from rerank_plugins import FeatureExtractor
from tests.chain.test_extraction import lists

calls = []

@dataclass
class Calls(FeatureExtractor):
    "The process, and how many calls of features it has seen before."
    components = ("process", "calls")

    def extract(self, nbest):
        calls.append(self)
        return np.array([[os.getpid(), len(calls)]] * len(nbest), np.float64).reshape(-1, 2)

if __name__ == "__main__":
    nbests = lists(100)
    table = extract_features(nbests, Plan({"first": Calls(), "last": Calls()}), jobs=2)
    process, first, _, last = table.values.T
    elsewhere = process != os.getpid()
    rows = np.repeat(np.arange(100), np.diff(table.offsets))
    assert set(rows[elsewhere]) == set(list(chunks_by_cost(nbests, 2))[1])
    assert (last > first)[~elsewhere].all() and (last < first)[elsewhere].all()
    assert set(extract_features(lists(2), Plan({"here": Calls()}), jobs=2).values[:, 0]) == {os.getpid()}
"""


@pytest.mark.skipif(sys.platform != "linux", reason="workers are forks on Linux only")
def test_a_fork_extracts_the_second_chunk_of_a_small_job_the_last_feature_first():
    subprocess.run([sys.executable, "-c", SECOND_CHUNK], check=True)  # a process without torch and threads, which forks


def test_when_workers_pay():
    estimate = WorkerEstimate(rows=10_000)
    assert not estimate.workers_worthwhile(2)
    estimate.add(100, 1.5)  # with loading
    estimate.add(100, 0.1)
    assert estimate.workers_worthwhile(2)  # 9.8 s are left: half of them saved, against loading and starting
    slow_start = WorkerEstimate(rows=10_000)
    slow_start.add(100, 6.0)
    slow_start.add(100, 0.1)
    assert not slow_start.workers_worthwhile(2)
    unknown = WorkerEstimate(rows=None)
    unknown.add(100, 0.1)
    unknown.add(500, 2.5)
    assert not unknown.workers_worthwhile(2)
    unknown.add(500, 2.5)
    assert unknown.workers_worthwhile(2)


@pytest.mark.parametrize("fork", [True, False])
def test_extractors_of_a_plugin_file_reach_the_workers(tmp_path, eager_workers, monkeypatch, fork):
    monkeypatch.setattr("rerank_adapters.runtime.workers.may_fork", lambda: fork and may_fork())
    (tmp_path / "my_plugin.py").write_text(
        textwrap.dedent("""
        from dataclasses import dataclass
        import numpy as np
        from rerank_plugins import FeatureExtractor, hookimpl, option

        @dataclass(frozen=True)
        class Vowels(FeatureExtractor):
            "Number of vowels."
            letters: str = option("aeiou", doc="which")

            def extract(self, nbest):
                return np.array([[float(sum(c in self.letters for c in text))] for text in nbest.texts])

        @hookimpl
        def register_feature_extractors(register):
            register("vowels", Vowels)
        """)
    )
    registry = load_plugins(files=[tmp_path / "my_plugin.py"], installed=False)
    extractor = registry.get("feature", "vowels").factory()
    nbests = lists(40)
    here = extract_features(nbests, Plan({"v": extractor}), jobs=1)
    there = extract_features(nbests, Plan({"v": extractor}), jobs=2)
    np.testing.assert_array_equal(here.values, there.values)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("nan", r"segment 7, row 2: is nan, wanted a finite number \(text: '"),
        ("shape", r"segment 7: shape \(\d+, 2\), wanted \(\d+, 1\)"),
        ("rows", r"segment 7: shape \(\d+, 1\), wanted \(\d+, 1\)"),
        ("integers", "segment 7: found int64, wanted a numpy array of float64"),
        ("list", "segment 7: found list, wanted a numpy array of float64"),
        ("raise", "segment 7: extract: KeyError: 'oops'"),
        ("together", "[0-9]+ segments together, [0-9] among them: extract_all: KeyError: 'oops'"),
    ],
)
def test_what_an_extractor_must_not_do(how, message):
    nbests = [NBestList(str(s), tuple(map(Hypothesis, ["a", "a", "a b"]))) for s in range(10)]
    with pytest.raises(PluginError, match=r"feature 'mine' \(tests.chain.test_extraction.Broken\), " + message):
        extract_features(nbests, Plan({"mine": Broken(how)}), jobs=1)


@pytest.mark.slow
def test_errors_come_back_from_workers(eager_workers):
    nbests = lists(30)
    with pytest.raises(PluginError, match=r"feature 'mine'.*segment 7, row .*is nan"):
        extract_features(nbests, Plan({"mine": Broken()}), jobs=2)
    with pytest.raises(RerankError, match="a worker process ended early"):
        extract_features(nbests, Plan({"mine": Dies(os.getpid())}), jobs=2)


def test_an_extractor_that_does_not_pickle(eager_workers, monkeypatch):
    monkeypatch.setattr("rerank_adapters.runtime.workers.may_fork", lambda: False)

    @dataclass
    class Local(FeatureExtractor):
        def extract(self, nbest):
            return LengthFeature().extract(nbest)

    with pytest.raises(PluginError, match="cannot be sent to a worker process"):
        extract_features(lists(30), Plan({"mine": Local()}), jobs=2)
    assert extract_features(lists(30), Plan({"mine": Local()}), jobs=1).names == ("mine",)


def test_names_that_collide():
    nbests = lists(2)
    with pytest.raises(ConfigError, match="the decoder has a feature 'B0' too"):
        extract_features(nbests, Plan({"B0": LengthFeature()}), decoder=decoder_of(nbests))
    with pytest.raises(ConfigError, match="the decoder has a feature 'r_1' too"):
        extract_features(nbests, Plan({"r_1": LengthFeature()}), decoder=decoder_of(nbests))
    with pytest.raises(ConfigError, match=r"another extractor makes a feature 'c\.2' too"):
        extract_features(nbests, Plan({"c": ConsensusFeature(), "c.2": LengthFeature()}))
    with pytest.raises(ConfigError, match="feature 'typo', which is not extracted"):
        extract_features(nbests, Plan({"c": ConsensusFeature()}, {"typo": TextPipeline()}))


def test_the_table_of_other_lists():
    with pytest.raises(ConfigError, match="not that of these n-best lists"):
        extract_features(lists(3), Plan({"len": LengthFeature()}), decoder=decoder_of(lists(4)))


def test_an_interrupted_extraction_continues(tmp_path, small_chunks):
    nbests, stop = lists(), tmp_path / "stop"
    parts = ValueCache(Store(tmp_path), "parts")
    whole = saved(
        extract_features(nbests, Plan({"i": Interrupted(str(stop)), "c": ConsensusFeature()}), jobs=1),
        tmp_path / "whole",
    )
    stop.touch()
    run = {"i": Interrupted(str(stop)), "c": ConsensusFeature()}
    with pytest.raises(KeyboardInterrupt):
        extract_features(nbests, Plan(run), jobs=1, work=parts)
    assert [holding.blobs for holding in parts.store.usage()] == [1, 1]  # a block for each feature
    stop.unlink()
    rows = Counter()
    table = extract_features(nbests, Plan(run), jobs=1, work=parts, progress=lambda n, s: rows.update({bool(s): n}))
    assert saved(table, tmp_path / "again") == whole
    assert [holding.blobs for holding in parts.store.usage()] == [2, 2]
    assert 0 < rows[False] < rows[False] + rows[True] == len(table.values)  # some were there, some were extracted
    parts.clear()
    assert not parts.store.usage()


def test_what_workers_extract_is_kept(tmp_path, eager_workers):
    nbests, work = lists(30), ValueCache(Store(tmp_path))
    extractors = {"len": LengthFeature(), "overlap": LexicalOverlapFeature()}
    first = extract_features(nbests, Plan(extractors), jobs=2, work=work)
    progress = ExtractionProgress()
    again = extract_features(nbests, Plan(extractors), jobs=1, work=work, progress=progress)
    assert not progress.seconds  # nothing was extracted
    assert saved(first, tmp_path / "1") == saved(again, tmp_path / "2")


def _texts(nbests):
    return [(nbest.segment_id, text) for nbest in nbests for text in nbest.texts]


def test_a_folder_that_cannot_be_written(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    work = ValueCache(Store(tmp_path / "file" / "work"))
    table = extract_features(lists(), Plan({"len": LengthFeature()}), jobs=1, work=work)
    np.testing.assert_array_equal(
        table.values, extract_features(lists(), Plan({"len": LengthFeature()}), jobs=1).values
    )
    assert caplog.text.count("the cache is not used ([Errno 20] Not a directory") == 1


def _key(nbests, extractors, path, **pipelines):
    """What identifies the values: their identity, and their keys."""
    work = ValueCache(Store(path))
    extract_features(nbests, Plan(extractors, **pipelines), jobs=1, work=work)
    names = {
        (kind.identity, block.keys.tobytes())
        for kind, _, _ in work.store.usage()
        for block in work.of(kind.identity, 1)._read().values()
    }
    work.clear()
    return names


def test_whatever_changes_values_changes_the_fingerprint(tmp_path):
    arpa = write_arpa(tmp_path / "lm.arpa")
    nbests, work = lists(3), tmp_path / "work"
    keys = [
        _key(nbests, {"x": ConsensusFeature()}, work),
        _key(nbests, {"x": ConsensusFeature(scale=0.1)}, work),
        _key(nbests, {"y": LengthFeature()}, work),
        _key(nbests, {"x": CharacterLengthFeature()}, work),
        _key(nbests, {"x": ConsensusFeature()}, work, texts={"x": TextPipeline(("lowercase",))}),
        _key(nbests, {"x": ConsensusFeature()}, work, sources={"x": TextPipeline(("lowercase",))}),
        _key(lists(3, seed=1), {"x": ConsensusFeature()}, work),
        _key([NBestList(n.segment_id, n.hypotheses, source="other") for n in nbests], {"x": ConsensusFeature()}, work),
        _key([NBestList("x" + n.segment_id, n.hypotheses) for n in nbests], {"x": ConsensusFeature()}, work),
        _key(nbests, {"x": NgramLanguageModel(arpa)}, work),
    ]
    write_arpa(arpa, order=2)
    keys.append(_key(nbests, {"x": NgramLanguageModel(arpa)}, work))
    assert len(set.union(*keys)) == sum(map(len, keys))
    assert _key(lists(3), {"other label": ConsensusFeature()}, work) == keys[0]
    both = _key(nbests, {"x": ConsensusFeature(), "y": LengthFeature()}, work)
    assert both == keys[0] | keys[2]  # a feature's values do not depend on the other features


def test_options_that_change_no_results_are_not_described():
    @dataclass
    class Batched:
        model: str = option("a", doc="the model")
        batch: int = option(8, doc="sentences of a batch", changes_results=False)

    assert describe(Batched(batch=9)) == describe(Batched())
    assert describe(Batched(model="b")) != describe(Batched())


def test_descriptions_of_options(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "f").write_text("x")
    before = describe(tmp_path / "d")
    (tmp_path / "d" / "f").write_text("yz")
    assert describe(tmp_path / "d") != before
    assert describe(tmp_path / "none")["sha256"] is None
    assert describe({"b", "a"}) == ["a", "b"]
    assert describe(np.arange(3)) != describe(np.arange(3.0))
    assert describe((1, 2.5, None, True, {"k": "v"})) == [1, 2.5, None, True, {"k": "v"}]
    plain = describe(Plain(1))
    assert plain["class"].endswith("Plain")
    assert plain["pickle"] != describe(Plain(2))["pickle"]
    with pytest.raises(PluginError, match="cannot be sent"):
        describe(lambda: 1)


def test_classes_that_are_defined_in_a_function_are_described_and_never_cached():
    class Local(FeatureExtractor):
        def __init__(self, times):
            self.times = times

        def extract(self, nbest):
            return self.times * LengthFeature().extract(nbest)

    assert describe(Local(2)) == describe(Local(2)) != describe(Local(3))
    assert not fingerprint_of_values(Plan({"mine": Local(2)}), "mine").complete
    once = extract_features(lists(3), Plan({"mine": Local(1)}), jobs=2)
    twice = extract_features(lists(3), Plan({"mine": Local(2)}), jobs=2)
    assert np.array_equal(2 * once.values, twice.values)


def test_lists_are_told_apart_by_all_that_extractors_see():
    base = lists(1)[0]
    first = base.hypotheses[0]
    changed = [
        base,
        NBestList("x", base.hypotheses, base.feature_names, base.source),
        NBestList("0", base.hypotheses, base.feature_names, base.source, "context"),
        NBestList("0", base.hypotheses, ("A0", "C0"), base.source),
        *(
            NBestList("0", (first._replace(**change), *base.hypotheses[1:]), base.feature_names, base.source)
            for change in ({"text": "new"}, {"score": None}, {"score": 9.0}, {"features": (9.0, 1.0)}, {"sparse": {"z": 1.0}})
        ),
    ]  # fmt: skip
    assert len({of_lists([nbest]) for nbest in changed}) == len(changed)
    assert of_lists(lists(3)) == of_lists(lists(3))


def test_streams_hold_few_lists():
    pulled = 0

    def source():
        nonlocal pulled
        for s in range(2000):
            pulled += 1
            yield NBestList(str(s), tuple(Hypothesis("a b") for _ in range(50)))

    ahead = 0
    for done, (nbest, values) in enumerate(stream_features(source(), Plan({"len": LengthFeature()}), jobs=1)):
        assert values.shape == (len(nbest), 1)
        ahead = max(ahead, pulled - done)
    assert ahead <= 12  # a chunk of 512 hypotheses
    assert pulled == 2000


def test_workers_do_not_run_ahead_of_the_reader(eager_workers):
    pulled = 0

    def source():
        nonlocal pulled
        for nbest in lists(300):
            pulled += 1
            yield nbest

    stream = stream_features(source(), Plan({"len": LengthFeature()}), jobs=2)
    next(stream)
    assert pulled < 30
    stream.close()


def test_progress_counts_and_says_what_features_cost(extractors, capsys):
    nbests = lists()
    with ExtractionProgress(1) as progress:
        table = extract_features(nbests, Plan(extractors), jobs=1, progress=progress)
    assert progress.done == len(table.values)
    assert list(progress.seconds) == list(extractors)
    assert all(seconds >= 0 for seconds in progress.seconds.values())
    assert capsys.readouterr() == ("", "")  # stderr is no terminal
    costs = r"features took \d\.\d s; CPU seconds, summed over processes: (\w+ \d\.\d\d, ){3}\w+ \d\.\d\d"
    assert re.fullmatch(costs, progress.costs())
    assert ExtractionProgress().costs() == ""


def test_a_bar_for_the_patient(monkeypatch, capsys):
    monkeypatch.setattr("rerank_adapters.runtime.progress.DELAY", -1.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with ExtractionProgress(10) as progress:
        progress._timer.join(10)
        progress(5, {"a": 0.5})
        progress(5, {"a": 0.5})
    assert progress.seconds == {"a": 1.0}
    out, err = capsys.readouterr()
    assert out == ""
    assert "10/10" in err


@pytest.mark.parametrize("kind", [StatusLine, CountingBar])
def test_a_display_appears_by_itself(kind, monkeypatch, capsys):
    """In a job that reports nothing, too; a quick job shows nothing."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with kind("at work"):
        pass
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("rerank_adapters.runtime.progress.DELAY", 0.0)
    with kind("at work") as display:
        display._timer.join(10)
    assert "at work" in capsys.readouterr().err


SCRIPT = """
import sys, time
from pathlib import Path
import numpy as np
from dataclasses import dataclass
from rerank_adapters.chain.extraction import WorkerEstimate, extract_features, value_cache
from rerank_adapters.chain.extraction.value_cache import ValueCache
from rerank_adapters.chain.extraction.plan import Plan
from rerank_plugins import FeatureExtractor, Hypothesis, NBestList
from rerank_plugins.kit.files.store import Store

@dataclass(frozen=True)
class Slow(FeatureExtractor):
    def extract(self, nbest):
        time.sleep(float(sys.argv[3]))
        return np.array([[float(len(text))] for text in nbest.texts])

if __name__ == "__main__":
    WorkerEstimate.workers_worthwhile = lambda self, jobs, forks=False: self.passed > 0
    value_cache.PACE = 0.2
    nbests = [NBestList(str(s), tuple(Hypothesis("a" * (i + s)) for i in range(100))) for s in range(60)]
    table = extract_features(nbests, Plan({"slow": Slow()}), jobs=2, work=ValueCache(Store(Path(sys.argv[1]))))
    table.save(Path(sys.argv[2]))
"""


@pytest.mark.slow
def test_ctrl_c_leaves_finished_values_and_no_process(tmp_path):
    (tmp_path / "job.py").write_text(SCRIPT)
    work, out = tmp_path / "work", tmp_path / "table.npz"
    command = [sys.executable, str(tmp_path / "job.py"), str(work), str(out)]
    job = subprocess.Popen([*command, "0.1"], start_new_session=True, stderr=subprocess.PIPE, text=True)
    while sum(holding.blobs for holding in Store(work).usage()) < 3 and job.poll() is None:
        time.sleep(0.05)
    os.killpg(job.pid, signal.SIGINT)
    _, errors = job.communicate(timeout=20)  # returns when nobody holds stderr any more: workers have ended too
    assert job.returncode != 0
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert not out.exists()
    assert Store(work).usage()
    subprocess.run([*command, "0"], check=True, timeout=60)
    (tmp_path / "whole").mkdir()
    subprocess.run([*command[:2], str(tmp_path / "work2"), str(tmp_path / "whole" / "t"), "0"], check=True, timeout=60)
    assert out.read_bytes() == (tmp_path / "whole" / "t").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "rows"), [("example", 5000), pytest.param("europarl", 6700, marks=pytest.mark.release)]
)
def test_features_of_real_lists_do_not_depend_on_jobs(request, root, name, rows, tmp_path, eager_workers):
    from rerank_adapters.formats.decoder_features import decoder_table
    from rerank_adapters.formats.delimited import MosesFormat
    from rerank_adapters.formats.reading import read_nbest

    path = root / "example_nbest" / "mt" / "test.nbest"
    if name == "europarl":
        path = request.getfixturevalue("shared_data") / "mt_nbest_moses_europarl" / "nbest.txt"
    nbests = read_nbest([path], MosesFormat())
    extractors = {"mbr": ConsensusFeature(), "len": LengthFeature(), "chars": CharacterLengthFeature()}
    tables = [extract_features(nbests, Plan(extractors), decoder=decoder_table(nbests), jobs=jobs) for jobs in (1, 2)]
    assert saved(tables[0], tmp_path / "1") == saved(tables[1], tmp_path / "2")
    assert len(tables[0].values) == rows
