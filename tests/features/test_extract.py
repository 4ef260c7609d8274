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

from rerank_adapters.features.extract import extract
from rerank_adapters.features.extraction import Extraction
from rerank_adapters.features.feature import Feature, check_names, names_of, seen_part
from rerank_adapters.features.processes import Processes
from rerank_adapters.features.tables import hash_of_lists
from rerank_adapters.runtime.progress import CountingBar, ExtractionProgress, StatusLine
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
)
from rerank_plugins.core.loader import import_file, load_plugins
from rerank_plugins.kit.cache import Cache, user_cache
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


@pytest.fixture(autouse=True)
def own_cache_of_each_test(tmp_path, monkeypatch):
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path / "cache"))


def features(extractors, texts=None, sources=None):
    none = TextPipeline()
    return [
        Feature(label, extractor, (texts or {}).get(label, none), (sources or {}).get(label, none))
        for label, extractor in extractors.items()
    ]


def table_of(nbests, features, decoder=None, jobs=1):
    return Extraction(features, processes=Processes(jobs)).table(nbests, decoder)


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

    cached: ClassVar = False

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
    monkeypatch.setattr("rerank_adapters.features.extract.ROWS_OF_FIRST_CHUNK", 20)
    monkeypatch.setattr("rerank_adapters.features.extract.MAX_ROWS_OF_CHUNK", 40)


def test_columns_names_and_decoder_features(extractors):
    nbests = lists()
    decoder = decoder_of(nbests)
    table = table_of(nbests, features(extractors), decoder=decoder, jobs=1)
    new = ("lm.total", "lm.per_word", "lm.oovs", "mbr.1", "mbr.2", "mbr.3", "mbr.4", "mbr.length")[: 3 + 4]
    assert table.names[: 2 + len(new)] == ("A0", "B0", *new)
    assert table.names == ("A0", "B0", *names_of(features(extractors)))
    np.testing.assert_array_equal(table.values[:, :2], decoder.values)
    assert table.sparse is decoder.sparse
    assert table.segment_ids == decoder.segment_ids
    assert table.provenance["who"] == "me"
    assert table.provenance["features"]["lm"]["plugin"] == "NgramLanguageModel(model=lm.arpa)"
    column = 2
    for extractor in extractors.values():
        width = len(extractor.components)
        wanted = np.concatenate([extractor.extract(nbest) for nbest in nbests])
        np.testing.assert_allclose(table.values[:, column : column + width], wanted, rtol=1e-12)
        column += width
    assert column == len(table.names)


def test_without_a_decoders_table(extractors):
    nbests = [NBestList(nbest.segment_id, tuple(map(Hypothesis, nbest.texts)), source="s") for nbest in lists()]
    table = table_of(nbests, features(extractors), jobs=1)
    assert table.names == names_of(features(extractors))
    assert table.sparse.names == ()
    empty = table_of([], features(extractors))
    assert empty.values.shape == (0, len(table.names))
    assert table_of(nbests, features({})).values.shape == (len(table.values), 0)


def test_each_distinct_text_of_a_list_is_seen_once():
    nbests = lists()
    spy = Spy()
    table = table_of(nbests, features({"spy": spy}, {"spy": TextPipeline(("uppercase",))}), jobs=1)
    assert set(spy.seen.values()) == {1}
    assert set(spy.seen) == {(nbest.segment_id, text.upper()) for nbest in nbests for text in nbest.texts}
    wanted = np.concatenate([LengthFeature().extract(nbest) for nbest in nbests])
    np.testing.assert_array_equal(table.values[:, 2:], wanted)


def test_text_pipelines_of_hypothesis_and_source():
    nbests = [NBestList("0", (Hypothesis("HA@@ US x"), Hypothesis("haus X")), source="da@@ s haus")]
    overlap = {"o": LexicalOverlapFeature(ignore_case=False)}
    bpe, lower = TextPipeline(("undo-bpe",)), TextPipeline(("undo-bpe", "lowercase"))
    plain = table_of(nbests, features(overlap))
    np.testing.assert_allclose(plain.values, [[0, 0], [1 / 2, 1 / 3]])
    mapped = table_of(nbests, features(overlap, {"o": lower}, {"o": bpe}))
    np.testing.assert_allclose(mapped.values, [[1 / 2, 1 / 2], [1 / 2, 1 / 2]])
    assert mapped.provenance["features"]["o"]["text"] == "undo-bpe+lowercase"
    assert mapped.provenance["features"]["o"]["source"] == "undo-bpe"
    assert nbests[0].texts == ["HA@@ US x", "haus X"]


@pytest.mark.slow
def test_nothing_depends_on_chunks_or_processes(extractors, tmp_path, small_chunks):
    nbests = lists(30)
    extractors = {**extractors, "lower": CharacterLengthFeature()}
    del extractors["mbr"]  # loading its kernel takes a second in each worker; the real lists below have it
    texts = {"lower": TextPipeline(("tokenize:en",))}
    decoder = decoder_of(nbests)
    here = table_of(nbests, features(extractors, texts), decoder=decoder, jobs=1)
    there = table_of(nbests, features(extractors, texts), decoder=decoder, jobs=2)
    assert saved(here, tmp_path / "1") == saved(there, tmp_path / "2")
    one = list(Extraction(features(extractors, texts)).stream(iter(nbests)))
    np.testing.assert_array_equal(np.concatenate([t.values for _, t in one]), here.values)
    two = list(Extraction(features(extractors, texts), processes=Processes(2)).stream(iter(nbests)))
    assert [nbest.segment_id for nbest, _ in two] == [nbest.segment_id for nbest in nbests]
    np.testing.assert_array_equal(np.concatenate([t.values for _, t in two]), here.values)


@pytest.mark.slow
def test_workers_really_work(small_chunks):
    table = table_of(lists(40), features({"where": Where()}), jobs=2)
    processes = set(table.values[:, 2])
    assert os.getpid() in processes  # the first chunk
    assert len(processes) >= 2
    assert set(table_of(lists(40), features({"where": Where()}), jobs=1).values[:, 2]) == {os.getpid()}


def test_a_feature_that_wants_one_process_keeps_all_here(small_chunks):
    class Large(Where):
        one_process = True

        def __reduce__(self):
            raise AssertionError("it is too large to be sent")

    table = table_of(lists(40), features({"where": Where(), "large": Large()}), jobs=2)
    assert set(table.values[:, 3]) == {os.getpid()}
    assert len(set(table.values[:, 2])) > 1


@pytest.mark.parametrize("fork", [True, False])
def test_extractors_of_a_plugin_file_reach_the_workers(tmp_path, small_chunks, monkeypatch, fork):
    if not fork:
        monkeypatch.setattr("rerank_adapters.features.processes.may_fork", lambda: False)
    monkeypatch.setenv("RERANK_CACHE", "")
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
    here = table_of(nbests, features({"v": extractor}), jobs=1)
    there = table_of(nbests, features({"v": extractor}), jobs=2)
    np.testing.assert_array_equal(here.values, there.values)


def test_workers_import_only_the_plugin_files_that_the_work_names(tmp_path, small_chunks, monkeypatch, capfd):
    monkeypatch.setattr("rerank_adapters.features.processes.may_fork", lambda: False)
    (tmp_path / "other_plugin.py").write_text("print('imported')\n")
    import_file(tmp_path / "other_plugin.py")
    capfd.readouterr()
    table_of(lists(40), features({"length": LengthFeature()}), jobs=2)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("nan", r"segment 7, row 2: is nan, expected a finite number \(text: '"),
        ("shape", r"segment 7: expected shape \(\d+, 1\) \(hypotheses, components\), got \(\d+, 2\)"),
        ("rows", r"segment 7: expected shape \(\d+, 1\) \(hypotheses, components\), got \(\d+, 1\)"),
        ("integers", "segment 7: expected a numpy array of float64, got int64"),
        ("list", "segment 7: expected a numpy array of float64, got list"),
        ("raise", "segment 7: KeyError: 'oops'"),
        ("together", "[0-9]+ segments together, [0-9] among them: KeyError: 'oops'"),
    ],
)
def test_what_an_extractor_must_not_do(how, message):
    nbests = [NBestList(str(s), tuple(map(Hypothesis, ["a", "a", "a b"]))) for s in range(10)]
    with pytest.raises(PluginError, match=r"feature 'mine' \(tests.features.test_extract.Broken\), " + message):
        table_of(nbests, features({"mine": Broken(how)}), jobs=1)


@pytest.mark.slow
def test_errors_come_back_from_workers(small_chunks):
    nbests = lists(30)
    with pytest.raises(PluginError, match=r"feature 'mine'.*segment 7, row .*is nan"):
        table_of(nbests, features({"mine": Broken()}), jobs=2)
    with pytest.raises(RerankError, match="a worker process ended early"):
        table_of(nbests, features({"mine": Dies(os.getpid())}), jobs=2)


def test_an_extractor_that_does_not_pickle(small_chunks, monkeypatch):
    monkeypatch.setattr("rerank_adapters.features.processes.may_fork", lambda: False)

    @dataclass
    class Local(FeatureExtractor):
        def extract(self, nbest):
            return LengthFeature().extract(nbest)

    with pytest.raises(PluginError, match="cannot be sent to a worker process"):
        table_of(lists(30), features({"mine": Local()}), jobs=2)
    assert table_of(lists(30), features({"mine": Local()}), jobs=1).names == ("A0", "B0", "mine")


def test_names_that_collide():
    nbests = lists(2)
    with pytest.raises(ConfigError, match="the decoder has a feature 'B0' too"):
        table_of(nbests, features({"B0": LengthFeature()}), decoder=decoder_of(nbests))
    with pytest.raises(ConfigError, match="the decoder has a feature 'r_1' too"):
        table_of(nbests, features({"r_1": LengthFeature()}), decoder=decoder_of(nbests))
    with pytest.raises(ConfigError, match=r"another extractor makes a feature 'c\.2' too"):
        table_of(nbests, features({"c": ConsensusFeature(), "c.2": LengthFeature()}))
    with pytest.raises(ConfigError, match="feature 'my=chars': its label is no name of a feature"):
        check_names(features({"my=chars": LengthFeature()}))


def test_the_table_of_other_lists():
    with pytest.raises(ConfigError, match="not that of these n-best lists"):
        table_of(lists(3), features({"len": LengthFeature()}), decoder=decoder_of(lists(4)))


def test_an_interrupted_extraction_continues(tmp_path, small_chunks, monkeypatch):
    nbests, stop = lists(), tmp_path / "stop"
    run = features({"i": Interrupted(str(stop)), "c": ConsensusFeature()})
    whole = saved(table_of(nbests, run), tmp_path / "whole")
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path / "other"))
    stop.touch()
    with pytest.raises(KeyboardInterrupt):
        table_of(nbests, run)
    kept = [usage.values for usage in user_cache().usage()]
    assert len(kept) == 2
    assert all(0 < values < len(nbests) for values in kept)
    stop.unlink()
    cached, rows = Counter(), Counter()
    extract(nbests, run, report=lambda n, s: rows.update({"new": n}), cached=cached)
    assert 0 < cached["i"] < sum(map(len, nbests)) == cached["i"] + rows["new"]
    assert saved(table_of(nbests, run), tmp_path / "again") == whole


def test_what_workers_extract_is_kept(tmp_path, small_chunks):
    nbests = lists(30)
    extractors = features({"len": LengthFeature(), "overlap": LexicalOverlapFeature()})
    first = table_of(nbests, extractors, jobs=2)
    progress = ExtractionProgress()
    extract(nbests, extractors, report=progress)
    assert not progress.seconds  # nothing was extracted
    assert saved(first, tmp_path / "1") == saved(table_of(nbests, extractors), tmp_path / "2")


def _texts(nbests):
    return [(nbest.segment_id, text) for nbest in nbests for text in nbest.texts]


def test_a_folder_that_cannot_be_written(tmp_path, caplog, monkeypatch):
    (tmp_path / "file").write_text("")
    wanted = table_of(lists(), features({"len": LengthFeature()})).values
    monkeypatch.setenv("RERANK_CACHE", str(tmp_path / "file" / "cache"))
    np.testing.assert_array_equal(table_of(lists(), features({"len": LengthFeature()})).values, wanted)
    assert caplog.text.count("the cache is not used ([Errno 20] Not a directory") == 1


def test_whatever_changes_values_is_extracted_again(tmp_path):
    def known(nbests, extractor, **pipelines):
        cached = Counter()
        extract(nbests, features({"x": extractor}, **pipelines), cached=cached)
        return cached["x"] == sum(map(len, nbests))

    arpa = write_arpa(tmp_path / "lm.arpa")
    nbests, lower = lists(3), {"x": TextPipeline(("lowercase",))}
    moved = [NBestList("x" + n.segment_id, n.hypotheses) for n in nbests]
    other_source = [NBestList(n.segment_id, n.hypotheses, source="other") for n in nbests]
    calls = [
        (nbests, ConsensusFeature(), {}),
        (nbests, ConsensusFeature(scale=0.1), {}),
        (nbests, LengthFeature(), {}),
        (nbests, CharacterLengthFeature(), {}),
        (nbests, ConsensusFeature(), {"texts": lower}),
        (nbests, ConsensusFeature(), {"sources": lower}),
        (lists(3, seed=1), ConsensusFeature(), {}),
        (other_source, ConsensusFeature(), {}),
        (moved, ConsensusFeature(), {}),
        (nbests, NgramLanguageModel(arpa), {}),
    ]
    for own, extractor, pipelines in calls:
        assert not known(own, extractor, **pipelines)
        assert known(own, extractor, **pipelines)
    write_arpa(arpa, order=2)
    assert not known(nbests, NgramLanguageModel(arpa))
    assert known(moved, NgramLanguageModel(arpa))  # a feature of sentences depends on the texts alone


def test_values_of_a_class_in_a_function_are_not_taken_for_those_of_another():
    def times(number):
        @dataclass(frozen=True)
        class Local(FeatureExtractor):
            def extract(self, nbest):
                return number * LengthFeature().extract(nbest)

        return Local()

    once, twice = (extract(lists(3), features({"mine": times(number)})) for number in (1, 2))
    assert np.array_equal(2 * once, twice)


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
    assert len({seen_part(nbest, "list") for nbest in changed}) == len(changed)
    assert hash_of_lists(lists(3)) == hash_of_lists(lists(3)) != hash_of_lists(lists(3, seed=1))


def test_streams_hold_few_lists():
    pulled = 0

    def source():
        nonlocal pulled
        for s in range(2000):
            pulled += 1
            yield NBestList(str(s), tuple(Hypothesis("a b") for _ in range(50)))

    ahead = 0
    for done, (nbest, table) in enumerate(Extraction(features({"len": LengthFeature()})).stream(source())):
        assert table.values.shape == (len(nbest), 1)
        ahead = max(ahead, pulled - done)
    assert ahead <= 12  # a group of 512 hypotheses
    assert pulled == 2000


def test_a_stream_that_is_left_leaves_no_process_and_no_thread(small_chunks):
    import threading

    for _ in range(3):
        stream = Extraction(features({"where": Where()}), processes=Processes(2)).stream(iter(lists(300)))
        next(stream)
        stream.close()
    assert threading.active_count() == 1


def test_progress_counts_and_says_what_features_cost(extractors, capsys):
    nbests = lists()
    with ExtractionProgress(1) as progress:
        table = table_of(nbests, [])
        extract(nbests, features(extractors), report=progress)
    assert progress.done == len(table.values)
    assert list(progress.seconds) == list(extractors)
    assert all(seconds >= 0 for seconds in progress.seconds.values())
    assert capsys.readouterr() == ("", "")  # stderr is no terminal
    costs = r"features took \d\.\d s; CPU seconds, summed over processes: (\w+ \d\.\d\d, ){3}\w+ \d\.\d\d"
    assert re.fullmatch(costs, progress.costs())
    assert ExtractionProgress().costs() == ""


def test_a_bar_for_the_patient(monkeypatch, capsys):
    monkeypatch.setattr("rerank_adapters.runtime.progress.CountingBar.delay", -1.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with ExtractionProgress(10) as progress:
        progress(5, {"a": 0.5})
        progress._due = 0.0
        progress(5, {"a": 0.5})
    assert progress.seconds == {"a": 1.0}
    out, err = capsys.readouterr()
    assert out == ""
    assert "10/10" in err


def test_a_quick_job_shows_no_bar_and_a_stage_is_shown_at_once(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with CountingBar("at work") as bar:
        bar.add(1)
    assert capsys.readouterr().err == ""
    with StatusLine("at work"):
        assert "at work" in capsys.readouterr().err


SCRIPT = """
import sys, time
from pathlib import Path
import numpy as np
from dataclasses import dataclass
from rerank_adapters.features.extraction import Extraction
from rerank_adapters.features.feature import Feature
from rerank_adapters.features.processes import Processes
from rerank_plugins import FeatureExtractor, Hypothesis, NBestList

@dataclass(frozen=True)
class Slow(FeatureExtractor):
    def extract(self, nbest):
        time.sleep(float(sys.argv[2]))
        return np.array([[float(len(text))] for text in nbest.texts])

if __name__ == "__main__":
    nbests = [NBestList(str(s), tuple(Hypothesis("a" * (i + s)) for i in range(100))) for s in range(60)]
    Extraction([Feature("slow", Slow())], processes=Processes(2)).table(nbests).save(Path(sys.argv[1]))
"""


@pytest.mark.slow
def test_ctrl_c_leaves_finished_values_and_no_process(tmp_path):
    (tmp_path / "job.py").write_text(SCRIPT)
    out = tmp_path / "table.npz"

    def command(cache, out, seconds):
        script = [sys.executable, str(tmp_path / "job.py"), str(out), str(seconds)]
        return {"args": script, "env": {**os.environ, "RERANK_CACHE": str(cache)}}

    def kept():
        return sum(usage.values for usage in Cache(tmp_path / "kept").usage())

    job = subprocess.Popen(
        **command(tmp_path / "kept", out, 0.1), start_new_session=True, stderr=subprocess.PIPE, text=True
    )
    while kept() < 3 and job.poll() is None:
        time.sleep(0.05)
    os.killpg(job.pid, signal.SIGINT)
    _, errors = job.communicate(timeout=20)  # returns when nobody holds stderr any more: workers have ended too
    assert job.returncode != 0
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert not out.exists()
    assert kept()
    subprocess.run(**command(tmp_path / "kept", out, 0), check=True, timeout=60)
    subprocess.run(**command(tmp_path / "none", tmp_path / "whole", 0), check=True, timeout=60)
    assert out.read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "rows"), [("example", 5000), ("europarl", 6700)])
def test_features_of_real_lists_do_not_depend_on_jobs(request, root, name, rows, tmp_path, small_chunks):
    from rerank_adapters.formats.catalogue import FORMATS
    from rerank_adapters.formats.decoder_features import decoder_table
    from rerank_adapters.formats.reading import read_nbest

    path = root / "example_nbest" / "mt" / "test.nbest"
    if name == "europarl":
        path = request.getfixturevalue("shared_data") / "mt_nbest_moses_europarl" / "nbest.txt"
    nbests = read_nbest([path], FORMATS["moses"]())
    extractors = {"mbr": ConsensusFeature(), "len": LengthFeature(), "chars": CharacterLengthFeature()}
    tables = [table_of(nbests, features(extractors), decoder=decoder_table(nbests), jobs=jobs) for jobs in (1, 2)]
    assert saved(tables[0], tmp_path / "1") == saved(tables[1], tmp_path / "2")
    assert len(tables[0].values) == rows
