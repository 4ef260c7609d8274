"""Worlds: sets with numbers, relations as transitions (equation 12), taxonomies (25), and the files that describe them."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins.core.errors import ConfigError, FormatError
from rerank_plugins.referential.relations import EMPTY, TOP, SetTable
from rerank_plugins.referential.world_file import read_world
from tests.conftest import ROOT

WORLDS = ROOT / "example_nbest" / "referential" / "worlds"


def array(members):
    return np.array(sorted(members), np.int32)


@settings(max_examples=40)
@given(st.integers(1, 200), st.data())
def test_sets_are_those_of_python(size, data):
    """Whatever a set is stored as: bits, or a sorted array."""
    sets = SetTable(size)
    few = st.frozensets(st.integers(0, size - 1), max_size=5)
    many = few.map(lambda left_out: frozenset(range(size)) - left_out)
    a, b = data.draw(st.one_of(few, many)), data.draw(st.one_of(few, many))
    numbers = [sets.of(array(a)), sets.of(array(b))]
    assert (numbers[0] == numbers[1]) == (a == b)
    assert sets.of(array([])) == EMPTY
    assert sets.of(array(range(size))) == TOP
    for number, wanted in (
        (numbers[0], a),
        (sets.intersection(*numbers), a & b),
        (sets.difference(*numbers), a - b),
        (sets.difference(TOP, numbers[0]), frozenset(range(size)) - a),
    ):
        assert sets.members(number).tolist() == sorted(wanted)
        assert sets.count(number) == len(wanted)
        assert sets._present(number, np.arange(size)).tolist() == [i in wanted for i in range(size)]
        assert sets.of(array(wanted)) == number


WORLD = """
individuals = ["ann", "bob", "cat", "dan"]
property.TALL = ["ann", "bob"]
relation.KNOW = [["ann", "bob"], ["ann", "cat"], ["bob", "cat"], ["dan", "dan"]]
relation.GIVE = { arguments = ["giver", "gift", "receiver"], tuples = [["ann", "cat", "bob"], ["bob", "dan", "ann"]] }
measure.AGE = { ann = 30, bob = 20, cat = 30 }
functor.NOT = { kind = "complement" }
functor.OLDEST = { kind = "superlative", measure = "AGE" }
functor.YOUNGEST = { kind = "superlative", measure = "AGE", lowest = true }
functor.OLDER = { kind = "comparative", measure = "AGE" }
functor.OLDER-THAN-ALL = { kind = "comparative", measure = "AGE", than = "every" }
functor.OLD = { kind = "subsective", measure = "AGE" }
functor.YOUNG = { kind = "subsective", measure = "AGE", lowest = true, norm = "median" }
functor.TWO = { kind = "cardinality", least = 2, most = 2 }
functor.KNOWN-BY-TWO = { kind = "counting", relation = "KNOW", least = 2 }
functor.AT-MOST-TWO = { kind = "cardinality", most = 2 }
functor.KNOWN-BY-ONE-AT-MOST = { kind = "counting", relation = "KNOW", most = 1 }
relation.LEND = [["ann", "cat", "bob"], ["bob", "dan", "ann"]]
"""
HAND = [  # label, argument, context, destination
    ("TALL", "ann cat", "dan", "ann"),  # a property ignores the context
    ("KNOW", "ann", "ann bob cat dan", "bob cat"),
    ("KNOW", "ann", "cat dan", "cat"),
    ("KNOW", "ann dan", "ann bob cat dan", "bob cat dan"),
    ("KNOW", "cat", "ann bob cat dan", ""),
    ("KNOW'", "cat", "ann bob cat dan", "ann bob"),
    ("GIVE", "ann", "ann bob cat dan", "cat"),
    ("GIVE:receiver:giver", "ann bob", "bob cat", "bob"),
    ("GIVE:gift:receiver:giver=bob", "cat dan", "ann bob cat dan", "ann"),
    ("NOT", "ann bob", "bob cat dan", "cat dan"),
    ("OLDEST", "ann bob", "ann bob cat dan", "ann"),
    ("OLDEST", "ann bob cat dan", "ann bob cat dan", "ann cat"),  # a tie
    ("OLDEST", "dan", "ann bob cat dan", ""),  # dan has no age
    ("OLDEST", "ann bob", "bob", ""),  # the oldest is not in the context
    ("YOUNGEST", "ann bob cat", "ann bob cat dan", "bob"),
    ("OLDER", "bob", "ann bob cat dan", "ann cat"),
    ("OLDER", "ann bob", "ann bob", "ann"),  # the implicit comparative
    ("OLDER", "ann bob", "ann bob cat dan", "ann cat"),
    ("OLDER-THAN-ALL", "ann bob", "ann bob cat dan", ""),
    ("OLD", "ann bob", "ann bob cat dan", "ann"),
    ("OLD", "ann cat", "ann bob cat dan", ""),  # nobody is above the mean
    ("YOUNG", "ann bob cat", "ann bob cat dan", "bob"),
    ("TWO", "ann bob", "ann bob cat dan", "ann bob"),
    ("TWO", "ann bob cat", "ann bob cat dan", ""),
    ("KNOWN-BY-TWO", "ann bob dan", "ann bob cat dan", "cat"),
    ("AT-MOST-TWO", "ann bob", "ann bob cat dan", "ann bob"),
    ("AT-MOST-TWO", "ann bob cat", "ann bob cat dan", ""),
    ("KNOWN-BY-ONE-AT-MOST", "ann bob dan", "bob cat dan", "bob dan"),
    ("KNOWN-BY-ONE-AT-MOST", "ann bob dan", "ann bob cat dan", "ann bob dan"),  # nobody knows Ann
    ("LEND:1:3", "ann", "ann bob cat dan", "bob"),  # arguments without names are numbered from 1
    ("LEND:3:2", "ann", "ann bob cat dan", "dan"),
    ("IDENTITY", "ann", "bob", "ann"),
    ("NIL", "ann", "bob", "ann bob cat dan"),
]


@pytest.fixture
def world(tmp_path):
    (tmp_path / "w.toml").write_text(WORLD)
    return read_world(tmp_path / "w.toml")


@pytest.mark.parametrize(("label", "argument", "context", "wanted"), HAND)
def test_relations_are_transitions(world, label, argument, context, wanted):
    numbers = [world.set_of(world.number[name] for name in names.split()) for names in (argument, context)]
    for _ in range(2):  # computed, and kept
        assert world.members(world.destination(label, *numbers)) == wanted.split()


@pytest.fixture(scope="module")
def activities():
    return read_world(WORLDS / "activities.csv")


@pytest.mark.parametrize(
    ("label", "source", "wanted"),
    [
        ("Crookston campus", "activities", "crookston"),
        ("captain", "crookston-football", "clark"),
        ("captain", "crookston-soccer", "baker"),
        ("captain", "duluth-football", "evans"),
        ("captain", "duluth", None),  # a grandchild is no child
        ("UP-sports", "clark", "crookston-sports"),  # an aunt, by way of the campus of the nearest ancestor
        ("UP-soccer", "crookston-football", "crookston-soccer"),  # a sister
        ("UP-Duluth campus", "clark", "duluth"),  # a sister of an ancestor
        ("UP-football", "crookston-offense", "crookston-football"),  # an ancestor
        ("UP-offense", "crookston-offense", None),  # itself
        ("UP-homeroom one", "clark", "crookston-1"),
        ("UP-captain", "crookston-offense", "clark"),
    ],
)
def test_down_and_up(activities, label, source, wanted):
    found = activities.destination(label, activities.referent(source))
    assert found == (EMPTY if wanted is None else activities.referent(wanted))


def test_a_table_may_have_tabs(activities, tmp_path):
    text = (WORLDS / "activities.csv").read_text()
    (tmp_path / "arcs.tsv").write_text(text.replace(",", "\t"))
    again = read_world(tmp_path / "arcs.tsv")
    assert again.names == activities.names
    assert again.taxonomy.labels == activities.taxonomy.labels


def test_every_concept_is_reached_from_every_other(activities):
    """By a way of downward and upward transitions, as the paper says of its Figure 8; the departing labels say which."""
    taxonomy = activities.taxonomy
    for source in range(len(activities.names)):
        reached, agenda = set(), [taxonomy.extension(source)]
        while agenda:
            referent = agenda.pop()
            for arcs, prefix in ((taxonomy.down(referent), ""), (taxonomy.up(referent), "UP-")):
                for label in arcs:
                    following = activities.destination(prefix + label, referent)
                    assert following not in (EMPTY, referent)
                    if following not in reached:
                        reached.add(following)
                        agenda.append(following)
        assert {taxonomy.extension(node) for node in range(1, len(activities.names))} <= reached | {
            taxonomy.extension(source)
        }


def test_sets_that_are_no_concepts(activities):
    """Two students depart from the smallest concept that includes both, with their own part of its children."""
    two = activities.set_of([activities.number["foster"], activities.number["dubois"]])
    assert activities.taxonomy.smallest(two) == (activities.number["crookston"],)
    assert sorted(activities.taxonomy.down(two)) == ["band", "homeroom one", "homeroom two"]
    assert activities.members(activities.destination("homeroom one", two)) == ["dubois"]
    assert activities.destination("UP-homeroom one", two) == activities.referent("crookston-1")
    assert activities.taxonomy.down(EMPTY) == activities.taxonomy.up(EMPTY) == {}


def test_up_is_equation_25_in_random_taxonomies(tmp_path):
    """Of the children of all concepts that include a referent, one of the nearest such concept with that label."""
    rng = random.Random(1)
    for _ in range(20):
        nodes = range(rng.randint(3, 12))
        arcs = [(rng.choice(["", *map(str, range(n))]) if n else "", rng.choice("abcd"), str(n)) for n in nodes]
        arcs += [(str(a), rng.choice("abcd"), str(b)) for a in nodes for b in nodes if a < b and rng.random() < 0.05]
        (tmp_path / "arcs.csv").write_text("parent,label,child\n" + "\n".join(map(",".join, arcs)) + "\n")
        world = read_world(tmp_path / "arcs.csv")
        below = {str(n): {str(n)} for n in nodes}
        for _ in nodes:
            for parent, _, child in arcs:
                if parent:
                    below[parent] |= below[child]
        below[""] = {str(n) for n in nodes}
        for n in map(str, nodes):
            source = world.referent(n)
            assert set(world.members(source)) == below[n]
            wanted = {label for parent, label, child in arcs if below[parent] > below[n] and below[child] != below[n]}
            lone = {
                (parent, label)
                for parent, label, child in arcs
                if below[child] == below[n] and sum((p, x) == (parent, label) for p, x, _ in arcs) > 1
            }
            if not lone:
                assert set(world.taxonomy.up(source)) == wanted
            for label in world.taxonomy.up(source):
                reached = set(world.members(world.destination(f"UP-{label}", source)))
                unions = {
                    parent: set().union(*(below[c] for p, x, c in arcs if (p, x) == (parent, label)))
                    for parent in below
                    if below[parent] > below[n]
                }
                assert reached in unions.values()


def test_an_individual_outside_the_taxonomy(tmp_path):
    (tmp_path / "w.toml").write_text('individuals = ["x"]\ntaxonomy = [["", "a", "a"], ["a", "b", "b"]]\n')
    world = read_world(tmp_path / "w.toml")
    assert sorted(world.taxonomy.up(world.referent("x"))) == ["a"]
    assert world.taxonomy.down(TOP).keys() == {"a"}
    assert world.describe(world.referent("a")) == "{a …}"
    assert world.describe(world.referent("b")) == "{b}"


BAD = [
    ('individuals = ["a"]\nproperty.P = ["a",\n  "b"]\n', ":3: unknown individual 'b'; did you mean"),
    ('individuals = ["ann"]\nproperty.P = ["anne"]\n', ":2: unknown individual 'anne'; did you mean 'ann'?"),
    ('individuals = ["a"]\nrelation.R = [["a", "a"],\n ["a", "a", "a"]]\n',
     ":2: relation 'R' has 2 arguments, found 3 individuals (a, a, a)"),
    ('individuals = ["a"]\nrelation.R = [["a"]]\n', ":2: relation 'R' has 1 argument, wanted two or more"),
    ('taxonomy = [["", "x", "a"],\n ["a", "y", "b"],\n ["b", "z", "a"]]\n', ":3: the taxonomy has a cycle: a > b > a"),
    ('taxonomy = [["a", "x", "b"],\n ["b", "y", "a"]]\n', "the taxonomy has a cycle: a > b > a"),
    ('taxonomy = [["a", "x"]]\n', ":1: taxonomy: found 2 names (a, x), wanted [parent, label, child]"),
    ('individuals = ["a"]\nfunctor.F = { kind = "superlativ" }\n', ":2: functor 'F' is of kind 'superlativ'; did you"),
    ('individuals = ["a"]\nfunctor.F = { kind = "superlative", measure = "M" }\n', ":2: unknown measure 'M'"),
    ('individuals = ["a"]\nfunctor.F = { kind = "complement", measure = "M" }\n', ":2: functor 'F': unknown key 'measure'"),
    ('individuals = ["a"]\nfunctor.F = { kind = "counting", relation = "R" }\n', ":2: functor 'F': unknown relation 'R'"),
    ('individuals = ["a"]\nfunctor.F = { kind = "cardinality", least = -1 }\n', ":2: functor 'F': least and most are -1"),
    ('individuals = ["a"]\nmeasure.M = { a = "big" }\n', ":2: measure 'M' of 'a' is 'big', wanted a number"),
    ('individuals = ["a"]\nproperty.N = ["a"]\nmeasure.N = { a = 1 }\n', ":3: 'N' is a measure here and a property"),
    ('individuals = "a"\n', ":1: individuals is 'a', wanted a list of names"),
    ('propertie.P = ["a"]\n', ":1: unknown key 'propertie'; did you mean 'property'?"),
    ('individuals = ["a"]\nproperty.NIL = ["a"]\n', ":2: 'NIL' cannot be a property"),
    ('taxonomy = [["", "", "a"]]\n', ":1: an arc with the label '' and the child 'a', wanted a name for both"),
    ('individuals = ["a"]\nrelation.R = { arguments = ["x", "x"] }\n', ":2: relation.R: arguments x, x, wanted different"),
    ("table = 3\n", ':1: table is 3, wanted { file = …, holds = "taxonomy" }'),
    ("", ": a world without individuals"),
    ("a = [", ": not valid TOML"),
    ('table = [{ file = "none.csv" }]\n', ":1: a table holds None, wanted 'taxonomy'"),
    ('table = [{ file = "none.csv", holds = "verbs" }]\n', ":1: a table holds 'verbs', wanted 'taxonomy'"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BAD)
def test_what_is_wrong_with_a_world(tmp_path, text, message):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(FormatError) as error:
        read_world(path)
    assert str(error.value).startswith(str(path))
    assert message.removesuffix("; did you mean") in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("parent,label,child\n,a,a\na,b\n", ":3: 2 columns, wanted the 3 of the header"),
        ("above,label,child\n,a,a\n", ":1: columns above, label, child, wanted parent, label, child"),
        ("parent,label,child\n,a,a\na,b,b\nb,c,a\n", ":4: the taxonomy has a cycle: a > b > a"),
    ],
)
def test_what_is_wrong_with_a_table(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(FormatError) as error:
        read_world(path)
    assert str(error.value) == f"{path}{message}"


def test_files_that_are_not_there(tmp_path):
    for name in ("none.csv", "none.toml"):
        with pytest.raises(FormatError) as error:
            read_world(tmp_path / name)
        assert str(error.value) == f"{tmp_path / name}: no such file"
    (tmp_path / "w.toml").write_text('table = [{ file = "none.csv", holds = "taxonomy" }]\n')
    with pytest.raises(FormatError) as error:
        read_world(tmp_path / "w.toml")
    assert str(error.value) == f"{tmp_path}/w.toml:1: {tmp_path}/none.csv: no such file"


def test_labels_that_a_world_does_not_have(world):
    for label, message in (
        ("TAL", "the world has no relation 'TAL'; did you mean 'TALL'?"),
        ("GIVE:giver", "GIVE:giver: wanted two arguments of GIVE, as in GIVE:from:to"),
        ("GIVE:giver:to", "GIVE:giver:to: no argument 'to'"),
        ("GIVE:giver:gift:receiver=eve", "unknown individual 'eve'"),
    ):
        with pytest.raises(ConfigError) as error:
            world.transition(label)
        assert message in str(error.value)
