"""Lattices: the n best distinct word sequences, against an enumeration of all paths; Kaldi's and HTK's files."""

import io
import math
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.lattices.search import Arc, Lattice, Scales, best_sequences
from rerank_adapters.formats.reading import read_nbest
from rerank_plugins.core.errors import FormatError
from tests.formats.naive_lattices import all_sequences

GOLDEN = Path(__file__).parents[1] / "golden" / "formats"
COST = st.integers(-8, 8).map(lambda eighths: eighths / 8)


def read(format, text, path="x"):
    return list(format.read(io.StringIO(text, newline="\n"), str(path)))


def lattice_of(arcs, finals, start=0):
    lattice = Lattice(finals=dict(finals), start=start)
    for source, to, word, acoustic, lm in arcs:
        lattice.add(source, Arc(to, word, acoustic, lm))
    return lattice


@st.composite
def graphs(draw):
    """Acyclic arcs between up to 7 nodes with few words, so that many paths have the same words; epsilons too."""
    nodes = draw(st.integers(1, 7))
    name = draw(st.permutations(range(nodes)))  # numbers that are not in topological order
    arcs = []
    for _ in range(draw(st.integers(0, 14)) if nodes > 1 else 0):
        i = draw(st.integers(0, nodes - 2))
        j = draw(st.integers(i + 1, nodes - 1))
        arcs.append((name[i], name[j], draw(st.sampled_from(["", "a", "b", "c"])), draw(COST), draw(COST)))
    finals = {name[i]: (draw(COST), draw(COST)) for i in draw(st.sets(st.integers(0, nodes - 1), min_size=1))}
    return arcs, finals, name[0]


@settings(max_examples=60)
@given(graphs(), st.integers(1, 30), st.sampled_from([(1.0, 1.0, 0.0), (0.5, 2.0, 0.25), (0.125, 1.0, -1.0)]))
def test_the_best_sequences_are_those_of_an_enumeration(graph, n, weights):
    arcs, finals, start = graph
    wanted = all_sequences(arcs, finals, start, *weights)
    lattice = lattice_of(arcs, finals, start)
    if not wanted:
        with pytest.raises(FormatError, match="no path from its start to a final node"):
            best_sequences(lattice, n, Scales(*weights), "x", 1)
        return
    found = best_sequences(lattice, n, Scales(*weights), "x", 1)
    assert [best.cost for best in found] == sorted(wanted.values())[:n]
    assert len({best.words for best in found}) == len(found) == min(n, len(wanted))
    acoustic, lm, penalty = weights
    for best in found:
        assert best.cost == wanted[best.words]
        assert best.cost == acoustic * best.acoustic + lm * best.lm + penalty * len(best.words)


def test_a_state_level_lattice_is_searched_quickly():
    """The same three words along 40 alignments of each, 10,000 arcs: only distinct sequences are found, and soon."""
    rng = np.random.default_rng(1)
    arcs, node = [], 1
    before = [0]
    for _ in range(12):
        after = list(range(node, node + 20))
        node += 20
        for source in before:
            for to in after:
                for word in ("so", "it"):
                    arcs.append((source, to, word, *rng.uniform(0, 5, 2)))
        before = after
    lattice = lattice_of(arcs, dict.fromkeys(before, (0.0, 0.0)))
    started = time.process_time()
    found = best_sequences(lattice, 100, Scales(), "x", 1)
    assert time.process_time() - started < 5
    assert len({best.words for best in found}) == 100
    assert [best.cost for best in found] == sorted(best.cost for best in found)


def test_kaldi_lattices():
    first, second = read_nbest([GOLDEN / "kaldi.lat"], FORMATS["kaldi-lattice"]())
    assert (first.segment_id, first.texts) == ("utt-07", ["so it is", "so is it"])
    assert first.feature_names == ("acoustic", "lm")
    assert first[0].features == pytest.approx((-(120.5 + 80.25 + 60.5), -(4.25 + 1.5 + 0.5 + 0.25)))
    assert first[0].score == pytest.approx(-26.125 - 6.5)
    assert (second.segment_id, second.texts) == ("utt-12", ["oh no"])
    assert second[0].features == (-61.5, -4.375)


def test_kaldi_scales_and_n():
    text = (GOLDEN / "kaldi.lat").read_text()
    (first, _) = read(FORMATS["kaldi-lattice"](acoustic_scale=10, n=1), text)
    assert first.texts == ["so it is"]
    (first, _) = read(FORMATS["kaldi-lattice"](acoustic_scale=0.1, lm_scale=0.001, n=1), text)
    assert first.texts == ["so it is"]
    (first, _) = read(FORMATS["kaldi-lattice"](word_penalty=2), text)
    assert first[0].score == pytest.approx(-26.125 - 6.5 - 6)


def test_kaldi_integers(tmp_path):
    (tmp_path / "words.txt").write_text("<eps> 0\n<s> 1\nso 2\n")
    text = "u\n0 1 1 1,2\n1 2 2\n2 3 0\n3\n"
    (nbest,) = read(FORMATS["kaldi-lattice"](words=tmp_path / "words.txt"), text)
    assert nbest.texts == ["so"]


def test_htk_lattices():
    (nbest,) = read_nbest([GOLDEN / "htk.slf"], FORMATS["htk-slf"]())
    assert (nbest.segment_id, nbest.texts) == ("utt-07", ["so it is", "so is it", "so it it"])
    assert nbest[0].features == (-1203.25 - 810.5 - 600.5, -3.75)
    assert nbest[0].score == -1203.25 - 810.5 - 600.5 + 10 * -3.75 - 3 * 2.5
    (other,) = read_nbest([GOLDEN / "htk.slf"], FORMATS["htk-slf"](acoustic_scale=0.1, lm_scale=0, word_penalty=0))
    assert other[0].score == pytest.approx(-(1203.25 + 810.5 + 600.5) / 10)


def test_htk_words_on_arcs_bases_and_several_lattices(tmp_path):
    text = "VERSION=1.0\nbase=10\nstart=0 end=1\nN=3 L=2\nI=0 W=oh\nI=1\nI=2\nJ=0 S=0 E=2 W=so a=-1\nJ=1 S=2 E=1 WORD='it\\'s' l=-2\n"
    first, second = read(FORMATS["htk-slf"](), text + text, "utt-3.lat")
    assert (first.segment_id, first.texts) == ("utt-3", ["oh so it's"])
    assert first[0].features == pytest.approx((-math.log(10), -2 * math.log(10)))
    assert second.line == 10
    (tmp_path / "b.lat").write_text(text)
    (tmp_path / "a.lat").write_text(text)
    assert [nbest.segment_id for nbest in read_nbest([tmp_path], FORMATS["htk-slf"]())] == ["a", "b"]


@pytest.mark.parametrize(
    ("format", "text", "said"),
    [
        (FORMATS["kaldi-lattice"](), "u\n0 1 a\n1 2 b\n2 1 c\n2\n", r"x:1: the lattice has a cycle through node 1; expected an acy"),
        (FORMATS["kaldi-lattice"](), "u\n0 0 a\n0\n", r"x:1: the lattice has a cycle through node 0"),
        (FORMATS["kaldi-lattice"](), "u\n0 1 a\n", r"x:1: the lattice has no path from its start to a final node"),
        (FORMATS["kaldi-lattice"](), "u\n0 1\n", r"x:2: found '0 1', expected from, to, word and costs"),
        (FORMATS["kaldi-lattice"](), "u\n0 1 a 2,b\n", r"x:2: the acoustic cost is 'b', expected a number"),
        (FORMATS["kaldi-lattice"](), "u v\n0 1 a\n", r"x:1: found 'u v', expected the key of a lattice alone on its line"),
        (FORMATS["htk-slf"](), "N=2\nI=0\nI=1\nJ=0 S=0 E=1\nJ=1 S=1 E=0\n", r"x:1: the lattice has a cycle: it has no start"),
        (FORMATS["htk-slf"](), "start=0 end=2\nI=0\nI=1\nI=2\nJ=0 S=0 E=1\nJ=1 S=1 E=1\nJ=2 S=1 E=2\n", r"x:1: the lattice has a cycle"),
        (FORMATS["htk-slf"](), "I=0\nJ=0 S=0 E=7\n", r"x:2: the arc 0 lacks its start or end node"),
        (FORMATS["htk-slf"](), "I=0\nend=7\n", r"x:1: end=7 names no node"),
        (FORMATS["htk-slf"](), "I=0\nI=1\nJ=0 S=0 E=1 a=b\n", r"x:3: a is 'b', expected a number"),
        (FORMATS["htk-slf"](), "so it is\n", r"x:1: found 'so it is', expected fields NAME=value"),
    ],
)  # fmt: skip
def test_errors(format, text, said):
    with pytest.raises(FormatError, match=said):
        read(format, text)
