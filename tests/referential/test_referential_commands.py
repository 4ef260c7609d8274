"""The referential model from the outside: language model, feature, `rerank lm ground`, and the example's lists and worlds."""

import gzip
import json
import math

import numpy as np
import pytest

from example_nbest.referential.students import channel, make, ontology, recogniser
from example_nbest.referential.students import search as decoding
from example_nbest.referential.students.directives import concepts, directives
from example_nbest.referential.students.pronunciation import made_names, pronunciations
from rerank_plugins.core.identity import describe
from rerank_plugins.referential.language_model import ReferentialLanguageModel
from rerank_plugins.referential.world_file import read_world
from tests.command_line import done, refused, says_what_it_wrote
from tests.conftest import ROOT

EXAMPLE = ROOT / "example_nbest" / "referential"
FILES = {"world": EXAMPLE / "worlds" / "files.toml", "grammar": EXAMPLE / "grammars" / "files.grammar"}
STUDENTS = {
    "world": EXAMPLE / "worlds" / "students-240.csv",
    "grammar": EXAMPLE / "grammars" / "directives.grammar",
    "description": "uniform",
    "depth": 3,
}
ACTIVITIES = {"world": EXAMPLE / "worlds" / "activities.csv", "grammar": STUDENTS["grammar"]}
DIRECTIVE = "set Crookston campus homeroom two Clark to sports football captain"


def ground(files, *options, stdin):
    return done("lm", "ground", "--world", files["world"], "-g", files["grammar"], *options, stdin=stdin)


def test_ground_shows_the_referent_of_every_word():
    ran = ground(FILES, stdin="the directory containing the executable file\n\nthe largest executable\n")
    header, *rows = [line.split("\t") for line in ran.lines]
    assert header == ["sentence", "position", "word", "surprisal", "referent", "levels"]
    assert [(row[0], row[2], row[4]) for row in rows] == [
        ("1", "the", "⊤"), ("1", "directory", "{d1 d2 d3}"), ("1", "containing", "{f2 f3}"), ("1", "the", "{f2 f3}"),
        ("1", "executable", "{f2}"), ("1", "file", "{f2}"), ("1", "</s>", "{d2}"),
        ("3", "the", "⊤"), ("3", "largest", "⊤"), ("3", "executable", "{f1 f2}"), ("3", "</s>", "{f2}"),
    ]  # fmt: skip
    assert rows[4][5] == "NP {d1 d2 d3} > RC {f2 f3} > NP {f2 f3} > Adj {f2}"
    assert says_what_it_wrote(ran, "the referents of 2 sentences")


def test_ground_as_json_and_as_trees():
    record = json.loads(ground(FILES, "--as", "json", stdin="the blah largest executable\n").out)
    assert record["complete"]
    assert record["referent"] == {"size": 1, "members": ["f2"]}
    assert [word["levels"] is None for word in record["words"]] == [False, True, False, False]
    assert record["words"][2]["levels"][1] == {
        "category": "Noun",
        "shift": "IDENTITY",
        "reduce": "LARGEST",
        "referent": {"size": 6, "members": ["f1", "f2", "f3", "d1", "d2"]},
    }
    lm = ReferentialLanguageModel(**FILES)
    assert record["ln_p"] == pytest.approx(float(lm.totals([["the", "blah", "largest", "executable"]])[0]))
    trees = ground(FILES, "--as", "trees", stdin="the largest executable\n").out
    assert trees == "(NP (Det the) (Noun/LARGEST largest (Noun:EXECUTABLE executable)))\t{f2}\n"


def test_the_captain_depends_on_the_context():
    """§4.1: in the context of one team, CAPTAIN is one player, and in that of another someone else."""
    captains = {
        context: ground(ACTIVITIES, "--context", context, "--as", "trees", stdin="show captain\n")
        .out.split("\t")[1]
        .strip()
        for context in ("crookston-football", "crookston-soccer", "duluth-football")
    }
    assert captains == {"crookston-football": "{clark}", "crookston-soccer": "{baker}", "duluth-football": "{evans}"}
    said = ground(ACTIVITIES, "--as", "trees", stdin=f"{DIRECTIVE}\n").out
    assert said.endswith("(Step:UP-sports sports) (Step:football football) (Step:captain captain)))\t{clark}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--context", "f9"], "the world has no individual or property 'f9'"),
        (["--depth", "1"], "a depth of 1 levels, but a sentence of"),
    ],
)
def test_what_ground_refuses(arguments, message):
    line = refused("lm", "ground", "--world", FILES["world"], "-g", FILES["grammar"], *arguments, stdin="the file\n")
    assert line.startswith(message)


def test_bad_worlds_and_grammars_are_one_line(tmp_path):
    bad = tmp_path / "bad.toml"
    bad.write_text('individuals = ["f1"]\nproperty.FILE = ["f2"]\n')
    line = refused("lm", "ground", "--world", bad, "-g", FILES["grammar"], stdin="the file\n")
    assert line.startswith(f"{bad}:2: unknown individual 'f2'")
    grammar = tmp_path / "bad.grammar"
    grammar.write_text("NP -> NP PP | the file\nPP -> here\n")
    line = refused("lm", "ground", "--world", FILES["world"], "-g", grammar, stdin="the file\n")
    assert line.startswith(f"{grammar}:1: left recursion, NP > NP: no number of levels is enough")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ('kind = "superlative", measure = "SIZE", lowest = "no"', "lowest is 'no', wanted true or false"),
        ('kind = "superlative", measure = "SIZE", lowest = 0', "lowest is 0, wanted true or false"),
        ('kind = "cardinality", least = 3, most = 2', "least is 3 and most is 2, which exclude each other"),
        ('kind = "counting", relation = "IN", least = 1, most = 0', "least is 1 and most is 0, which exclude each other"),
    ],
)  # fmt: skip
def test_functors_that_cannot_be_meant(tmp_path, options, said):
    """What would turn a functor round, or leave nothing that it relates to, is an error with its line."""
    bad = tmp_path / "bad.toml"
    facts = 'individuals = ["f1"]\nmeasure.SIZE = { f1 = 1 }\nrelation.IN = [["f1", "f1"]]\n'
    bad.write_text(f"{facts}functor.LARGEST = {{ {options} }}\n")
    line = refused("lm", "ground", "--world", bad, "-g", FILES["grammar"], stdin="the file\n")
    assert line == f"{bad}:4: functor 'LARGEST': {said}"


def test_the_language_model_in_its_three_forms():
    """LM-NoSem allows every label in every place, LM-Sem only those that depart; trigrams are between."""
    sentence = DIRECTIVE.split()
    mixed = ["set", "Crookston", "campus", "homeroom", "two", "Clark", "to", "strings", "violin", "cast"]
    totals = {}
    for semantics in ("world", "trigram", "none"):
        lm = ReferentialLanguageModel(**{**ACTIVITIES, "description": "uniform", "depth": 3}, semantics=semantics)
        assert "Clark" in lm
        assert "strings" not in lm
        totals[semantics] = lm.totals([sentence])[0]
    assert totals["world"] > totals["trigram"] > totals["none"]
    sem, nosem = (ReferentialLanguageModel(**STUDENTS, semantics=kind) for kind in ("world", "none"))
    assert sem.totals([mixed])[0] < nosem.totals([mixed])[0] < -30
    values = nosem.score([sentence])[0]
    labels = len(read_world(STUDENTS["world"]).taxonomy.labels)
    assert values[5] == pytest.approx(-math.log(2 * labels) + math.log(2 * 0.5), abs=0.01)


def test_the_feature_tells_whether_a_referent_is_left():
    feature = ReferentialLanguageModel(**FILES)
    texts = ["the largest executable", "the largest", "", "the read-only writable file", "the blah file"]
    values = feature.values([text.split() for text in texts])
    assert values[:, 2].tolist() == [1, 0, 0, 0, 0]
    np.testing.assert_allclose(values[:, 1] * [4, 3, 1, 5, 4], values[:, 0])
    assert feature.vocabulary.__contains__("executable")


def test_files_that_a_world_names_are_part_of_its_identity(tmp_path):
    (tmp_path / "a.csv").write_text("parent,label,child\n,a,a\n,c,c\n")
    (tmp_path / "w.toml").write_text('table = [{ file = "a.csv", holds = "taxonomy" }]\n')
    (tmp_path / "g.grammar").write_text("S -> {down}\n")
    lm = ReferentialLanguageModel(world=tmp_path / "w.toml", grammar=tmp_path / "g.grammar")
    before = describe(lm)
    assert lm.totals([["a"]])[0] == pytest.approx(math.log(0.5))
    (tmp_path / "a.csv").write_text("parent,label,child\n,b,b\n")
    assert describe(lm) != before


@pytest.mark.parametrize("option", [{"beam": -1}, {"depth": 0}, {"vacuous": 0.0}])
def test_options_out_of_range(option):
    with pytest.raises(ValueError, match=next(iter(option))):
        ReferentialLanguageModel(**FILES, **option)


def test_a_world_of_many_entities_is_only_evaluated_where_it_is_entered(tmp_path):
    """However many concepts there are, one directive touches the few on its way."""
    rows = ["parent,label,child"]
    for campus in range(40):
        rows.append(f",campus {campus},c{campus}")
        for room in range(10):
            rows.append(f"c{campus},room {room},c{campus}r{room}")
            rows += [f"c{campus}r{room},s{campus}x{room}x{i},s{campus}x{room}x{i}" for i in range(20)]
    (tmp_path / "w.csv").write_text("\n".join(rows) + "\n")
    lm = ReferentialLanguageModel(world=tmp_path / "w.csv", grammar=STUDENTS["grammar"], depth=3)
    scores, refers = lm.score_and_refer([["show", "campus", "3", "room", "7", "s3x7x4"]])
    assert refers[0]
    assert np.isfinite(scores[0]).all()
    assert len(lm.model.world.names) == 40 + 400 + 8000
    assert len(lm.model.world.sets) < 100


@pytest.mark.slow
def test_the_example_is_what_the_generator_makes(tmp_path):
    """The worlds, the directives, and the first lists; `make.py` writes the rest in the same way."""
    arcs = ontology.small_world()
    for size in (ontology.SMALL, ontology.LARGE):
        name = f"students-{sum(size[:2])}.csv"
        ontology.write_csv(arcs if size == ontology.SMALL else ontology.world(size), tmp_path / name)
        assert (tmp_path / name).read_bytes() == (EXAMPLE / "worlds" / name).read_bytes()
    texts = directives(arcs)
    references = [
        (EXAMPLE / "lists" / f"{part}.ref").read_text(encoding="utf-8").splitlines() for part in ("tune", "test")
    ]
    assert [*references[0], *references[1]] == texts
    loop = recogniser.Recogniser(make.vocabulary(arcs), channel.Channel(make.LEVEL))
    lines = list(make.moses_lines(make.heard(texts, make.LEVEL)[:3], loop, make.N))
    with gzip.open(EXAMPLE / "lists" / "tune.nbest.gz", "rt", encoding="utf-8") as stream:
        assert [next(stream) for _ in lines] == lines


@pytest.mark.parametrize(
    ("size", "arcs_a_node"), [(ontology.SMALL, 16.79), (ontology.LARGE, 37.77)], ids=["small", "large"]
)
def test_worlds_are_like_those_of_the_paper(size, arcs_a_node):
    world = read_world(EXAMPLE / "worlds" / f"students-{sum(size[:2])}.csv")
    assert len(world.names) == size.concepts + size.students
    referents = [world.taxonomy.extension(node) for node in range(len(world.names))]
    departing = [len(world.taxonomy.down(r)) + len(world.taxonomy.up(r)) for r in referents]
    assert np.mean(departing) == pytest.approx(arcs_a_node, abs=0.2)
    assert {arc.child for arc in ontology.small_world()} <= set(world.names)


def test_directives_are_like_those_of_the_paper():
    arcs = ontology.small_world()
    texts = directives(arcs)
    assert len(set(texts)) == 144
    assert np.mean([len(text.split()) for text in texts]) == pytest.approx(7.17, abs=0.05)
    assert {word for text in texts for word in text.split()} <= pronunciations().keys()
    lm = ReferentialLanguageModel(**STUDENTS)
    assert lm.score_and_refer([text.split() for text in texts])[1].all()
    labels = frozenset(arc.label for arc in arcs)
    assert concepts(DIRECTIVE, labels) == "Crookston_campus homeroom_two Clark sports football captain"
    assert concepts("to two first chair set", labels) == "two first_chair"


def test_every_phone_is_one_of_the_channel_and_confusions_sum_to_one():
    assert {phone for phones in pronunciations().values() for phone in phones} <= set(channel.PHONES)
    assert len({name for name, *_ in made_names()}) > 3400
    np.testing.assert_allclose(channel.Channel(0.3).confusion.sum(axis=1), 1)


def test_the_recogniser_aligns_exactly():
    """Its scores are those of the best alignment, computed here one cell at a time; its lists are sorted and distinct."""
    noisy = channel.Channel(0.3)
    known = pronunciations()
    heard = make.heard(["set Clark to chess"], 0.3)[0].phones
    words = ["set", "Clark", "to", "two", "chess", "chair", "one"]
    loop = recogniser.Recogniser(words, noisy)
    arcs = loop.arcs(heard)
    for arc in arcs[::3]:
        said, part = known[arc.word], heard[arc.start : arc.end]
        best = {(0, 0): 0.0}
        for i in range(len(said) + 1):
            for j in range(len(part) + 1):
                cells = [best.get((i, j - 1), -math.inf) + math.log(noisy.insertion / len(channel.PHONES))]
                if i:
                    stay = math.log(1 - noisy.insertion)
                    cells.append(best.get((i - 1, j), -math.inf) + stay + math.log(noisy.deletion))
                    if j:
                        row, column = channel.PHONES.index(said[i - 1]), channel.PHONES.index(part[j - 1])
                        p = (1 - noisy.deletion) * noisy.confusion[row, column]
                        cells.append(best[i - 1, j - 1] + stay + math.log(p))
                if i or j:
                    best[i, j] = max(cells)
        assert arc.ln_p == pytest.approx(best[len(said), len(part)])
    nbest = loop.nbest(arcs, len(heard), 30)
    totals = [ln_p + len(text.split()) * loop.word_penalty for text, ln_p in nbest]
    assert (np.diff(totals) < 1e-9).all()
    assert len({text for text, _ in nbest}) == len(nbest) == 30


@pytest.mark.slow
def test_the_search_finds_what_reranking_all_hypotheses_does():
    noisy, arcs_of_world = channel.Channel(0.2), ontology.small_world()
    lm = ReferentialLanguageModel(**STUDENTS, inference="viterbi")
    automaton = decoding.ReferentialAutomaton(lm.model)
    loop = recogniser.Recogniser(make.vocabulary(arcs_of_world), noisy)
    for text, phones in make.heard(directives(arcs_of_world)[:1], 0.2):
        arcs = loop.arcs(phones)
        best, total, _ = decoding.search(automaton, arcs, len(phones), 300)
        nbest = loop.nbest(arcs, len(phones), 60)
        scores = [ln_p + float(lm.totals([hypothesis.split()])[0]) for hypothesis, ln_p in nbest]
        assert total >= max(scores) - 1e-9
        heard = dict(nbest)
        if best in heard:
            assert total == pytest.approx(heard[best] + float(lm.totals([best.split()])[0]))
        assert best == text
