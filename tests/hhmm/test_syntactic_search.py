"""Cube pruning in the example decoder, and the incremental syntactic model inside its search."""

import lzma
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from rerank_plugins.hhmm.language_model import HhmmLanguageModel

FOLDER = Path(__file__).parents[2] / "example_nbest"
SOURCES = [line.split() for line in (FOLDER / "mt/tune.de").read_text(encoding="utf-8").splitlines()[:3]]
UNPRUNED = 10**9


@pytest.fixture(scope="module", autouse=True)
def example_on_path() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        yield


@pytest.fixture(scope="module")
def plain():
    from decoder.cubes import CubeDecoder
    from decoder.language_model import LanguageModel
    from decoder.phrase_table import read
    from decoder.weights import Weights

    mt = FOLDER / "mt"
    with (mt / "phrase-table.txt").open(encoding="utf-8") as table, (mt / "lm.arpa").open(encoding="utf-8") as arpa:
        weights = Weights.read((mt / "moses.ini").read_text(encoding="utf-8").splitlines())
        return CubeDecoder(read(table), LanguageModel(arpa), weights, stack_size=10, table_limit=3, pops=30)


@pytest.fixture(scope="module")
def syntax():
    return HhmmLanguageModel(beam=10, threshold=1e-3)


@dataclass(frozen=True)
class WholeHistory:
    """A language model that never forgets: ln p of a word depends on every word before it."""

    words: tuple[str, ...] = ()

    @property
    def best(self) -> tuple[int, ...]:
        return tuple(hash(word) for word in self.words)

    def start(self):
        return WholeHistory()

    def advance(self, state, word):
        before = sum(len(each) for each in state.words)
        return -1.0 - (before * 7 + len(word) * 3 + len(state.words)) % 5, WholeHistory((*state.words, word))

    def finish(self, state):
        return -float(sum(len(each) for each in state.words) % 3)


def total_of(model, words):
    total, state = 0.0, model.start()
    for word in words:
        ln_p, state = model.advance(state, word)
        total += ln_p
    return total + model.finish(state)


@pytest.mark.parametrize("source", [SOURCES[0][:5], SOURCES[1][:6], SOURCES[2][-5:]])
def test_unpruned_cubes_give_the_lists_of_the_unpruned_stacks(plain, source):
    from decoder.beam import Decoder
    from decoder.nbest import nbest

    stacks = Decoder(plain.table, plain.model, plain.weights, stack_size=UNPRUNED, table_limit=3)
    cubes = replace(plain, stack_size=UNPRUNED, pops=UNPRUNED)
    assert nbest(cubes.search(source), plain.weights, 200) == nbest(stacks.search(source), plain.weights, 200)


def test_fewer_pops_find_no_better(plain):
    exact = replace(plain, stack_size=UNPRUNED, pops=UNPRUNED).search(SOURCES[0][:6]).score
    found = [replace(plain, pops=pops, stack_size=pops).search(SOURCES[0][:6]).score for pops in (1, 3, 1000)]
    assert found[0] <= found[2] <= exact + 1e-9
    assert found[2] == pytest.approx(exact)
    assert found[0] < exact


def test_the_search_is_exact_for_both_models(plain):
    """The best of all translations by both models: every text of the lattice, scored again from the beginning."""
    from decoder.nbest import nbest
    from decoder.syntactic import Syntactic

    source = SOURCES[1][:4]
    table = {phrase: targets[:2] for phrase, targets in plain.table.items()}
    whole = replace(plain, table=table, stack_size=UNPRUNED, pops=UNPRUNED)
    weights = replace(plain.weights, syntactic=3.0)
    model = WholeHistory()
    joint = replace(whole, weights=weights, syntax=Syntactic(model))
    found = nbest(joint.search(source), weights, UNPRUNED)
    every = nbest(whole.search(source), plain.weights, UNPRUNED)
    totals = {each.words: each.total + 3.0 * total_of(model, each.words) for each in every}
    assert len(found) == len(every) > 10
    np.testing.assert_allclose([each.total for each in found], sorted(totals.values(), reverse=True), atol=1e-3)
    assert [each.words for each in found] != [each.words for each in every]  # so the test can see a difference
    for each in found:
        assert each.total == pytest.approx(totals[each.words], abs=1e-3)


def test_without_weight_it_changes_no_score(plain, syntax):
    """Hypotheses are kept apart by their stores, but score as they did."""
    from decoder.nbest import nbest
    from decoder.syntactic import Syntactic

    wide = replace(plain, stack_size=40, pops=40)
    joint = replace(wide, weights=replace(plain.weights, syntactic=0.0), syntax=Syntactic(syntax))
    (before,), (after,) = (nbest(each.search(SOURCES[1][:4]), each.weights, 1) for each in (wide, joint))
    assert after.total == pytest.approx(before.total, abs=1e-6)


def test_scores_are_those_of_both_models(plain, syntax):
    """Of the best translation: ln p by n-grams and, though it was added phrase by phrase, ln p by the HHMM."""
    from decoder.nbest import moses_lines, nbest
    from decoder.syntactic import Syntactic

    joint = replace(plain, weights=replace(plain.weights, syntactic=0.2), syntax=Syntactic(syntax))
    for source in SOURCES[:2]:
        found = nbest(joint.search(source), joint.weights, 5)
        words, features, total = found[0]
        assert features[1] == pytest.approx(plain.model.extend(plain.model.START, (*words, "</s>"))[0], abs=1e-3)
        assert features[8] == pytest.approx(float(syntax.totals([words])[0]), abs=1e-3)
        assert total == joint.weights.total(features)
        assert next(moses_lines(0, found)).split(" ||| ")[2].endswith(f" SyntacticLM0= {features[8]:.4f}")
        assert 0 < joint.syntax.computed < joint.syntax.asked
        joint.syntax.reset()


def test_a_step_is_taken_once(syntax):
    from decoder.syntactic import Syntactic

    model = Syntactic(syntax)
    first = model.extend(model.start, ("the", "cat"))
    assert (model.asked, model.computed) == (2, 2)
    again = model.extend(model.start, ("the", "cat"))
    assert (model.asked, model.computed) == (4, 2)
    assert again == first
    assert first[2] == first[1].best
    model.reset()
    assert model.extend(model.start, ("the", "cat")) == first
    assert model.computed == 4


def test_the_likeliest_way_to_a_node_passes_its_beam_on(plain):
    from decoder.beam import Arc, Node
    from decoder.cubes import _recombine

    origin, node = Node((0, (), 0, ()), 0.0, 0.0), Node((1, (), 1, ()), -np.inf, 0.0)
    for score, beam in ((-3.0, "poor"), (-1.0, "best"), (-2.0, "fair")):
        _recombine(node, Arc(origin, None, 0.0, 0, score), SimpleNamespace(name=beam))
    assert (node.score, node.syntax.name, len(node.arcs)) == (-1.0, "best", 3)


def test_weights_with_and_without_the_syntactic_model():
    from decoder.weights import Weights

    lines = (FOLDER / "mt/moses.ini").read_text(encoding="utf-8").splitlines()
    assert Weights.read(lines).syntactic is None
    weights = Weights.read([*lines, "SyntacticLM0= 0.25"])
    features = (-2.0, -10.0, -3.0, 2.0, -1.0, -2.0, -3.0, -4.0)
    assert weights.total((*features, -8.0)) == pytest.approx(Weights.read(lines).total(features) - 2.0)


@pytest.mark.release
def test_the_experiment_runs(tmp_path):
    """On a corpus in the other layout: the first sentences of mt/, models made again, a table with a line a system."""
    mt, corpus, folder = FOLDER / "mt", tmp_path / "corpus", tmp_path / "folder"
    corpus.mkdir()
    texts = {name: (mt / name).read_text(encoding="utf-8").splitlines()[:300] for name in ("train.de", "train.en")}
    with lzma.open(corpus / "train.de-en.xz", "wt", encoding="utf-8") as file:
        file.writelines(f"{de} ||| {en}\n" for de, en in zip(*texts.values(), strict=True))
    for part in ("tune", "test"):
        for kind, language in (("src", "de"), ("ref", "en")):
            (corpus / f"{part}.{kind}").write_bytes((mt / f"{part}.{language}").read_bytes())
    subprocess.run([sys.executable, FOLDER / "larger_corpus.py", corpus, folder], check=True)
    assert {path.name for path in folder.iterdir()} >= {"lm.arpa", "phrase-table.txt", "test.de", "tune.en"}
    settings = {"tune": 4, "test": 4, "rounds": 1, "n": 20, "pops": 20, "stack": 10, "more": 40, "beam": 5}
    done = subprocess.run(
        [sys.executable, FOLDER / "syntactic_search.py", folder, *(f"--{name}={n}" for name, n in settings.items())],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    header, *rows = done.stdout.splitlines()
    assert header.split()[:3] == ["system", "BLEU", "difference"]
    assert [row[:32].strip() for row in rows] == [
        "n-grams", "n-grams, 40 pops", "reranked", "in the search",
    ]  # fmt: skip
    for row in rows:
        assert 0 <= float(row[32:39]) <= 100
    assert [int(row.split()[-1]) > 0 for row in rows] == [False, False, False, True]


@pytest.mark.release
@pytest.mark.parametrize("reverse", [False, True])
def test_only_the_plain_decoder(tmp_path, reverse):
    """Turned round, the models translate the .en files into German, by a folder that was made for that."""
    import make

    settings = {"tune": 4, "test": 3, "rounds": 1, "n": 5, "pops": 20, "stack": 10, "more": 0}
    folder, lists = FOLDER / "mt", tmp_path / "lists"
    if reverse:
        for name in ("train.de", "train.en", "tune.de", "tune.en", "test.de", "test.en"):
            lines = (FOLDER / "mt" / name).read_text(encoding="utf-8").splitlines()[:200]
            make.save(tmp_path / name, lines)
        make.train(tmp_path, reverse=True)
        folder = tmp_path
    done = subprocess.run(
        [sys.executable, FOLDER / "syntactic_search.py", folder, "--plain", "--lists", lists,
         *(["--reverse"] if reverse else []), *(f"--{name}={n}" for name, n in settings.items())],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert [row[:32].strip() for row in done.stdout.splitlines()[1:]] == ["n-grams"]
    assert {path.name for path in lists.glob("*.nbest")} == {"plain.tune.1.nbest", "n-grams.test.nbest"}
    language = "de" if reverse else "en"
    known = set((folder / f"train.{language}").read_text(encoding="utf-8").split())
    output = (lists / "n-grams.test.nbest").read_text(encoding="utf-8").split(" ||| ")[1].split()
    assert known & set(output) - {".", ",", "?"}
    assert (lists / f"test.{language}").exists()


def test_held_out_pairs(tmp_path):
    """The three parts are disjoint, and no held-out sentence begins like one of the training text."""
    import held_out_pairs

    ten = "eins zwei drei vier fünf sechs sieben acht neun"
    pairs = [(f"nummer {n} {ten}", f"number {n} is a sentence of some words") for n in range(20)]
    alike = [(f"Nummer 3, {ten} .", "another translation"), ("kurz", "Number 7 is a sentence of some words !")]
    short = [("zu kurz", "too short"), ("a " * 41, "too long")]
    with lzma.open(tmp_path / "train.de-en.xz", "wt", encoding="utf-8") as file:
        file.writelines(f"{de} ||| {en}\n" for de, en in [*pairs, *alike, *short])
    held_out_pairs.main(tmp_path, tmp_path / "parts", 4, 16)
    lines = {name: (tmp_path / "parts" / name).read_text(encoding="utf-8").splitlines()
             for name in ("tune.src", "tune.ref", "test.src", "test.ref")}  # fmt: skip
    tuned, tested = (list(zip(lines[f"{part}.src"], lines[f"{part}.ref"], strict=True)) for part in ("tune", "test"))
    assert (len(tuned), len(tested)) == (4, 16)
    assert sorted(tuned + tested) == sorted(pairs)
    with lzma.open(tmp_path / "parts/train.de-en.xz", "rt", encoding="utf-8") as file:
        left = [line.rstrip("\n") for line in file]
    assert left == [" ||| ".join(pair) for pair in short]
    with pytest.raises(SystemExit, match="wanted at least 25"):
        held_out_pairs.main(tmp_path, tmp_path / "parts", 5, 20)
