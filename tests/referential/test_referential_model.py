"""The referential model: exact against enumeration, and the paper's examples over the worlds of its figures."""

import math
import re
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins.core.errors import ConfigError, FormatError
from rerank_plugins.kit.language_models import UNPARSED
from rerank_plugins.referential.expressions import compile_expression
from rerank_plugins.referential.grammar import read_grammar
from rerank_plugins.referential.language_model import ReferentialLanguageModel
from rerank_plugins.referential.model import ReferentialModel, ground
from rerank_plugins.referential.trigrams import TrigramModel, compile_trigrams
from rerank_plugins.referential.world_file import read_world
from tests.conftest import ROOT
from tests.referential.naive_referential import NaiveModel

EXAMPLE = ROOT / "example_nbest" / "referential"
FILES = {"f1", "f2", "f3"}
SMALL_WORLD = """
individuals = ["f1", "f2", "f3"]
property.EXECUTABLE = ["f1", "f2"]
property.WRITABLE = ["f1"]
relation.LINK = [["f1", "f2"], ["f2", "f3"], ["f3", "f3"]]
measure.SIZE = { f1 = 1, f2 = 5, f3 = 5 }
functor.NOT = { kind = "complement" }
functor.LARGEST = { kind = "superlative", measure = "SIZE" }
"""
MEANING = {
    "EXECUTABLE": ("property", {"f1", "f2"}),
    "WRITABLE": ("property", {"f1"}),
    "LINK": ("relation", {("f1", "f2"), ("f2", "f3"), ("f3", "f3")}),
    "LINK'": ("relation", {("f2", "f1"), ("f3", "f2"), ("f3", "f3")}),
    "NOT": ("functor", lambda s: FILES - s),
    "LARGEST": ("functor", lambda s: s & ({"f2", "f3"} if s & {"f2", "f3"} else {"f1"})),
}
SMALL_GRAMMAR = """
start S
S    -> Adj* file (that links to S)?  ; weight 2
S    -> largest S ; reduce LARGEST
Link -> linked S  ; shift LINK ; reduce LINK'
S    -> Link
Adj  -> executable ; shift EXECUTABLE
Adj  -> writable ; shift WRITABLE
Adj  -> writable now ; shift WRITABLE ; weight 3
Adj  -> not Adj ; reduce NOT
"""


@pytest.fixture
def small(tmp_path):
    """A function from settings to the model of the three-file world."""
    (tmp_path / "w.toml").write_text(SMALL_WORLD)
    (tmp_path / "g.grammar").write_text(SMALL_GRAMMAR)
    world, grammar = read_world(tmp_path / "w.toml"), read_grammar(tmp_path / "g.grammar")
    return lambda **options: ReferentialModel(world, grammar, **{"beam": 0, **options})


def naive(model):
    def weigh(label, source, destination):
        if label in ("IDENTITY", "NIL"):
            return Fraction(1)
        if not destination:
            return Fraction(0)
        if model.description != "uniform" and destination == source:
            return Fraction(model.vacuous)
        if model.description == "sizes" and destination <= source:
            return max(Fraction(model.vacuous), 1 - Fraction(len(destination), len(source)))
        return Fraction(1)

    return NaiveModel(model.grammar, MEANING.__getitem__, FILES, model.depth, weigh)


@pytest.mark.parametrize(
    "options",
    [
        {"depth": 4, "description": "uniform"},
        {"depth": 4, "description": "informative", "vacuous": 0.125},
        {"depth": 3, "description": "sizes", "vacuous": 0.25},
        {"depth": 2, "description": "uniform"},
    ],
)
def test_prefixes_and_sentences_have_the_probabilities_of_their_derivations(small, options):
    """Forward probabilities equal enumeration; what all strings of a length lack is what went beyond the depth."""
    model = small(**options)
    prefixes, sentences, lost, best = naive(model).enumerate(4)
    forward: dict[int, float] = {}
    for words, p in prefixes.items():
        state, seen, ln_p = model.start(), Fraction(1), 0.0
        for i, word in enumerate(words):
            value, state = model.advance(state, word)
            now = prefixes[words[: i + 1]]
            assert value == pytest.approx(math.log(now / seen), abs=1e-12)
            seen, ln_p = now, ln_p + value
        if words in sentences:
            assert model.finish(state) == pytest.approx(math.log(sentences[words] / p), abs=1e-12)
            if len(words) <= 4:
                found = ground(model, state)
                assert found.complete
                assert float(best[words][0]) == pytest.approx(math.exp(state.best[model.final_row(state)]), rel=1e-12)
        if len(words) == 4:
            forward[words] = math.exp(ln_p)
    ended = sum(p for words, p in sentences.items() if len(words) < 4)
    assert sum(forward.values()) + float(ended) + float(lost) == pytest.approx(1, abs=1e-12)
    assert lost > 0
    for words in product(sorted(model.transitions.states.words), repeat=2):
        state = model.start()
        for word in words:
            state = model.advance(state, word)[1]
        assert (words in prefixes) == (state.unread == 0)


def test_the_best_derivation_has_the_right_referent(small):
    model = small(depth=5)
    _, _, _, best = naive(model).enumerate(4)
    assert len(best) > 20
    for words, (p, referent) in best.items():
        state = model.start()
        for word in words:
            state = model.advance(state, word)[1]
        found = ground(model, state)
        assert math.exp(state.best[model.final_row(state)]) == pytest.approx(float(p), rel=1e-12)
        assert [x.word for x in found.words] == list(words)
        assert re.findall(r" ([\w-]+)", found.tree.replace("(", " (")) == list(words)
        assert set(model.world.members(found.referent)) == referent


def test_viterbi_is_the_best_derivation_and_a_beam_of_one_follows_one(small):
    model, viterbi = small(depth=4), small(depth=4, viterbi=True)
    _, _, _, best = naive(model).enumerate(4)
    for words, (p, _) in best.items():
        state, total = viterbi.start(), 0.0
        for word in words:
            value, state = viterbi.advance(state, word)
            total += value
        assert total + viterbi.finish(state) == pytest.approx(math.log(p), abs=1e-12)
    narrow = small(depth=4, beam=1)
    state = narrow.start()
    for word in ["writable", "not", "executable", "file"]:
        state = narrow.advance(state, word)[1]
        assert len(state) == 1


def test_without_semantics_every_label_is_equally_probable(small):
    model = small(depth=4, semantics=False)
    ln_p = [model.advance(model.start(), word)[0] for word in ("executable", "not")]
    assert ln_p[0] == pytest.approx(ln_p[1])
    state = model.start()
    for word in ["executable", "executable", "file"]:
        state = model.advance(state, word)[1]
    assert model.world.describe(model.final_referent(state)) == "⊤"


def test_trigrams_of_a_chain_are_its_own_probabilities(tmp_path):
    """Where two words determine the state, the compiled model is the model itself, and its words always sum to one."""
    (tmp_path / "w.toml").write_text(SMALL_WORLD)
    (tmp_path / "g.grammar").write_text(
        "S -> open Adj* file\nAdj -> executable ; shift EXECUTABLE\nAdj -> writable ; shift WRITABLE\n"
    )
    model = ReferentialModel(read_world(tmp_path / "w.toml"), read_grammar(tmp_path / "g.grammar"), vacuous=0.5)
    trigrams = compile_trigrams(model)
    for words in trigrams.ln_p.values():
        assert sum(map(math.exp, words.values())) == pytest.approx(1)
    for sentence in (["open", "file"], ["open", "executable", "file"], ["open", "executable", "writable"]):
        state, history = model.start(), trigrams.start()
        for word in sentence:
            value, state = model.advance(state, word)
            compiled, history = trigrams.advance(history, word)
            assert compiled == pytest.approx(value)
    assert trigrams.finish(("executable", "file")) == pytest.approx(0)
    assert trigrams.advance(trigrams.start(), "file")[0] < -9


@pytest.mark.parametrize("depth", [2, 3])
def test_trigrams_are_those_of_all_stacks(small, depth):
    """Two words do not determine the stack, and a stack is reached by several words."""
    model = small(depth=depth, description="sizes", vacuous=0.25)
    compiled, wanted = compile_trigrams(model), naive(model).trigrams()
    assert compiled.ln_p.keys() == wanted.keys()
    assert len(wanted) > 15
    for history, words in wanted.items():
        found = {word: math.exp(ln_p) for word, ln_p in compiled.ln_p[history].items()}
        assert found == pytest.approx({word: float(p) for word, p in words.items()}, rel=1e-12)
        assert compiled.finish(history) == pytest.approx(compiled.ln_p[history].get("</s>", UNPARSED - math.log(10)))
    assert len(compiled.words) == 10
    assert compiled.advance(("largest", "file"), "largest")[0] == pytest.approx(UNPARSED - math.log(10))


def test_an_unseen_word_is_one_of_the_vocabulary():
    for words in ({"a"}, set()):
        model = TrigramModel({}, frozenset(words))
        assert model.advance(model.start(), "a")[0] == model.finish(model.start()) == UNPARSED


def test_where_every_relation_leads_nowhere_all_are_equally_probable(tmp_path):
    (tmp_path / "w.toml").write_text(SMALL_WORLD + 'property.PLAIN = ["f3"]\n')
    (tmp_path / "g.grammar").write_text(
        "S -> plain Adj file ; shift PLAIN\nAdj -> executable ; shift EXECUTABLE\nAdj -> writable ; shift WRITABLE\n"
    )
    model = ReferentialModel(read_world(tmp_path / "w.toml"), read_grammar(tmp_path / "g.grammar"), vacuous=0.5)
    _, state = model.advance(model.start(), "plain")
    for word in ("executable", "writable"):  # f3 is neither
        ln_p, after = model.advance(state, word)
        assert ln_p == pytest.approx(math.log(1 / 2))
        assert model.world.describe(model.final_referent(after)) == "∅"


@pytest.mark.parametrize("viterbi", [False, True])
def test_a_beam_keeps_the_most_probable_stacks(small, viterbi):
    """Forward, those with the highest sum over derivations; by Viterbi, those with the best derivation."""
    wide, narrow = (small(depth=4, vacuous=0.3, viterbi=viterbi, beam=beam) for beam in (0, 1))
    state, sizes = wide.start(), set()
    for word in ("not", "not", "writable", "writable"):  # alone, or at the beginning of `writable now`
        kept, state = narrow.advance(state, word)[1], wide.advance(state, word)[1]
        values = dict(zip(state.stacks, state.best if viterbi else state.values, strict=True))
        assert [values[stack] for stack in kept.stacks] == [max(values.values())]
        sizes.add(len(set(values.values())))
    assert 2 in sizes


EXAMPLES = {
    "the executables": {"f1", "f2"},
    "the executable read-only files": {"f2"},
    "the read-only executable": {"f2"},
    "the directory containing the executable file": {"d2"},
    "the file in the directory": {"f2", "f3"},
    "the files that are not writable": {"f2", "f3"},
    "the not writable executable": {"f2"},
    "the largest executable": {"f2"},
    "the smallest file": {"f1"},
    "the executable file that is larger": {"f2"},
    "the file larger than the largest executable": {"f3"},
    "the large files": {"f3"},
    "the directories containing two files": {"d2", "d3"},
}


@pytest.fixture(scope="module")
def figures():
    world = read_world(EXAMPLE / "worlds" / "files.toml")
    return ReferentialModel(world, read_grammar(EXAMPLE / "grammars" / "files.grammar"))


def grounded(model, sentence):
    state = model.start()
    for word in sentence.split():
        state = model.advance(state, word)[1]
    return ground(model, state)


@pytest.mark.parametrize("sentence", EXAMPLES)
def test_what_the_examples_of_the_paper_refer_to(figures, sentence):
    found = grounded(figures, sentence)
    assert found.complete
    assert set(figures.world.members(found.referent)) == EXAMPLES[sentence]


def test_the_steps_of_figure_5(figures):
    """The set of directories waits on its level while their contents are described."""
    found = grounded(figures, "the directory containing the executable file")
    top = [figures.world.describe(x.levels[0].referent) for x in found.words]
    deepest = [figures.world.describe(x.levels[-1].referent) for x in found.words]
    assert top == ["⊤", "⊤", *["{d1 d2 d3}"] * 4]
    assert deepest == ["⊤", "{d1 d2 d3}", "{f2 f3}", "{f2 f3}", "{f2}", "{f2}"]
    assert found.tree == (
        "(NP (Det the) (Noun:DIRECTORY directory) (RC:CONTAIN/CONTAIN' containing "
        "(NP (Det the) (Adj:EXECUTABLE executable) (Noun:FILE file))))"
    )


def test_a_word_that_cannot_be_read_leaves_the_referent(figures):
    found = grounded(figures, "the blah largest executable")
    assert [x.levels is None for x in found.words] == [False, True, False, False]
    assert figures.world.members(found.referent) == ["f2"]
    assert found.tree == "(NP (Det the) (? blah) (Noun/LARGEST largest (Noun:EXECUTABLE executable)))"
    _, before = figures.advance(figures.start(), "the")
    ln_p, after = figures.advance(before, "blah")
    assert ln_p == pytest.approx(UNPARSED - math.log(len(figures.transitions.states.words)))
    assert after.best == pytest.approx(before.best + ln_p)  # ln p of the best derivation has that word, too


def test_descriptions_avoid_what_rules_out_nothing(figures):
    """Within the contents of directories there is one executable, so that `executable` is no further constraint."""
    vacuous, informative = figures.start(), figures.start()
    for word in ["the", "directory", "containing", "the", "executable"]:
        vacuous = figures.advance(vacuous, word)[1]
    for word in ["the", "directory", "containing", "the"]:
        informative = figures.advance(informative, word)[1]
    assert figures.advance(vacuous, "executable")[0] < figures.advance(informative, "executable")[0] - 2


@settings(max_examples=40)
@given(st.recursive(
    st.sampled_from("abc"),
    lambda parts: st.one_of(
        st.tuples(parts, parts).map(lambda p: f"{p[0]} {p[1]}"),
        st.tuples(parts, parts).map(lambda p: f"({p[0]} | {p[1]})"),
        st.tuples(parts, st.sampled_from("*+?")).map(lambda p: f"({p[0]}){p[1]}"),
    ),
    max_leaves=6,
))  # fmt: skip
def test_automata_accept_what_regular_expressions_do(text):
    pattern = re.compile(text.replace(" ", ""))
    if pattern.fullmatch(""):
        with pytest.raises(ValueError, match="can be empty"):
            compile_expression(text)
        return
    automaton = compile_expression(text)
    for length in range(1, 5):
        for string in map("".join, product("abc", repeat=length)):
            states = {q for q in automaton.initial if automaton.symbols[q // 2].name == string[0]}
            for character in string[1:]:
                after = {r for q in states for r in automaton.following[q]}
                states = {q for q in after if automaton.symbols[q // 2].name == character}
            assert any(q % 2 for q in states) == bool(pattern.fullmatch(string)), string


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("S -> the Nuon", "undefined category 'Nuon'; did you mean 'Noun'?"),
        ("S -> S the", r"left recursion, S > S: no number of levels is enough; use a repetition (* or +)"),
        ("S -> the?", "the expression can be empty; wanted one that has at least one word"),
        ("S -> (the", "a parenthesis is not closed"),
        ("S -> the | * a", "expected a word or a category, found '*'"),
        ("S -> {sideways}", "unknown {sideways}, wanted {down} or {up}"),
        ("S -> the S", "category 'S' never ends"),
        ("S -> the dog of S", "category 'S' never ends"),
        ("s -> the", "category 's' must begin with a capital letter"),
        ("S the", "found 'S the', wanted CATEGORY -> EXPRESSION"),
        ("S -> a ; shift", "found 'shift', wanted shift LABEL, reduce LABEL or weight NUMBER, each once"),
        ("S -> a ; weight -1", "weight '-1', wanted a positive number"),
    ],
)
def test_what_is_wrong_with_a_grammar(tmp_path, line, message):
    path = tmp_path / "bad.grammar"
    path.write_text(f"# a comment\n{line}\nNoun -> file\n")
    with pytest.raises(FormatError) as error:
        read_grammar(path)
    assert str(error.value) == f"{path}:2: {message}"


def test_a_grammar_that_does_not_fit_its_world_or_depth(figures, tmp_path):
    path = tmp_path / "bad.grammar"
    path.write_text("S -> the Noun\nNoun -> file ; shift FIEL\n")
    with pytest.raises(FormatError) as error:
        ReferentialModel(figures.world, read_grammar(path))
    assert str(error.value) == f"{path}:2: the world has no relation 'FIEL'; did you mean 'FILE'?"
    path.write_text("S -> {down}\n")
    with pytest.raises(FormatError, match=r":1: \{down\} needs a world with a taxonomy"):
        ReferentialModel(figures.world, read_grammar(path))
    with pytest.raises(ConfigError, match=r"a depth of 1 levels, but a sentence of .* takes 2 or more"):
        ReferentialModel(figures.world, figures.grammar, depth=1)
    with pytest.raises(ConfigError, match="no individual or property 'f9'"):
        _ = ReferentialModel(figures.world, figures.grammar, context="f9").transitions
    for options, message in (
        ({"beam": -1}, "beam is -1, wanted 1 or more hypotheses, or 0 for all"),
        ({"depth": 0}, "depth is 0, wanted 1 or more levels"),
        ({"vacuous": 0.0}, "vacuous is 0.0, wanted more than 0"),
    ):
        with pytest.raises(ValueError, match=message):
            ReferentialLanguageModel(path, path, **options)
