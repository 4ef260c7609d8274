"""Merging: in memory and in order, against each other and against a twin that compares everything with everything."""

import inspect
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerank_adapters.formats.catalogue import FORMATS
from rerank_adapters.formats.decoder_features import check_same_features
from rerank_adapters.formats.merging import merge_all, merge_sorted, merged
from rerank_adapters.formats.reading import merge_files, read_nbest
from rerank_plugins.core.errors import FormatError
from rerank_plugins.core.nbest import Hypothesis, NBestList
from tests.formats import naive_formats

NAMES = ("LM", "W")
hypotheses = st.lists(
    st.builds(
        Hypothesis,
        st.sampled_from("abc"),
        st.tuples(st.sampled_from([0.0, 1.0]), st.just(2.0)),
        st.floats(-1, 1),
        st.sampled_from([{}, {"s_x": 1.0}, {"s_y": 1.0}]),
        st.just(""),
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda h: (h.text, h.features, *h.sparse),
).map(tuple)
streams = st.lists(
    st.lists(st.tuples(st.integers(0, 12).map(str), hypotheses), max_size=6).map(
        lambda pairs: sorted(pairs, key=lambda pair: int(pair[0]))
    ),
    max_size=4,
)


def as_lists(pairs):
    return [NBestList(id_, hypotheses, NAMES) for id_, hypotheses in pairs]


@given(streams)
def test_the_ways_to_merge_agree(pairs):
    lists = [as_lists(stream) for stream in pairs]
    together = merge_all(nbest for stream in lists for nbest in stream)
    assert together == list(merge_sorted(lists))
    naive = naive_formats.merged([pair for stream in pairs for pair in stream])
    assert [(nbest.segment_id, list(nbest)) for nbest in together] == naive


@pytest.mark.slow
@given(streams)
def test_merging_twice_changes_nothing(pairs):
    together = merge_all(nbest for stream in pairs for nbest in as_lists(stream))
    assert merge_all(together) == together
    assert merge_all([*together, *together]) == together


def test_order_of_segments():
    one = (Hypothesis("a", (1.0, 2.0)),)
    assert [n.segment_id for n in merge_all(as_lists([("10", one), ("9", one), ("10", one)]))] == ["9", "10"]
    assert [n.segment_id for n in merge_all(as_lists([("b", one), ("9", one), ("b", one)]))] == ["b", "9"]


def test_the_same_features_in_another_order_are_the_same():
    first = NBestList("0", (Hypothesis("a", (1.0, 2.0)),), ("LM", "W"))
    second = NBestList("0", (Hypothesis("a", (2.0, 1.0)), Hypothesis("b", (5.0, 6.0))), ("W", "LM"))
    (both,) = merge_sorted([[first], [second]])
    assert [h.features for h in both] == [(1, 2), (6, 5)]


def test_repeated_and_unsorted_files_are_merged_on_reading(tmp_path):
    golden = tmp_path / "a"
    golden.write_text(
        "2 ||| x ||| LM= 1 ||| 0\n0 ||| y ||| LM= 2 ||| 0\n2 ||| x ||| LM= 3 ||| 0\n2 ||| x ||| LM= 1 ||| 9"
    )
    (tmp_path / "b").write_text("2 ||| z ||| LM= 1 ||| 0\r\n2 ||| x ||| LM= 3 ||| 0")
    with pytest.raises(FormatError, match=r"a:3: segment 2 appears twice; merge the lists first"):
        read_nbest([golden, tmp_path / "b"], FORMATS["moses"]())
    nbests = read_nbest([golden, tmp_path / "b"], FORMATS["moses"](), repeated=True)
    assert [(n.segment_id, [(h.text, *h.features) for h in n]) for n in nbests] == [
        ("0", [("y", 2)]),
        ("2", [("x", 1), ("x", 3), ("z", 1)]),
    ]
    assert check_same_features(nbests) == ("LM",)


@pytest.mark.parametrize("ids", [("0", "1", "2"), ("2", "1", "0"), ("0", "0", "0")])
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_lines_do_not_run_into_each_other(tmp_path, ids, end):
    """Each file lacks the end of its last line; the merged file may lack it too, and there alone."""
    for system, id_ in enumerate(ids):
        line = f"{id_} ||| a{system} ||| LM= 1 ||| 0"
        (tmp_path / str(system)).write_text(f"{line}1\n{line}".replace("\n", end or "\n"), newline="")
    paths = [tmp_path / str(system) for system in range(3)]
    expected = sorted((id_, f"a{system}", score) for system, id_ in enumerate(ids) for score in (0, 1))
    for nbests in (read_nbest(paths, FORMATS["moses"]()), list(merge_files(paths, FORMATS["moses"]()))):
        text = "".join(line for nbest in nbests for line in FORMATS["moses"]().write(nbest))
        back = list(FORMATS["moses"]().read(text.splitlines(keepends=True), "x"))
        found = {(nbest.segment_id, h.text, h.score) for nbest in back for h in nbest}
        assert found <= set(expected)
        assert {row[:2] for row in found} == {row[:2] for row in expected}


def test_merging_files_streams_where_it_can(tmp_path):
    (tmp_path / "a").write_text("0 ||| x ||| LM= 1 ||| 0\n2 ||| x ||| LM= 3 ||| 0\n")
    (tmp_path / "b").write_text("2 ||| y ||| LM= 1 ||| 0\n2 ||| x ||| LM= 3 ||| 0\n3 ||| z ||| LM= 1 ||| 0\n")
    (tmp_path / "unsorted").write_text("2 ||| y ||| LM= 1 ||| 0\n1 ||| x ||| LM= 3 ||| 0\n")
    for names in (["a", "b"], ["b", "a", "a"], ["a", "unsorted"]):
        paths = [tmp_path / name for name in names]
        assert list(merge_files(paths, FORMATS["moses"]())) == read_nbest(paths, FORMATS["moses"]())
    streamed = merge_files([tmp_path / "a", tmp_path / "b"], FORMATS["moses"]())
    assert inspect.isgenerator(streamed)
    streamed.close()


def test_a_list_that_comes_once_is_left_as_it_is():
    twice = NBestList("0", (Hypothesis("a", score=-1.0), Hypothesis("a", score=-1.0)))
    assert merge_all([twice]) == [twice]
    assert len(merge_all([twice, twice])[0]) == 1
    samples = NBestList("0", (Hypothesis("a"), Hypothesis("a")))  # without scores, so that each of them counts
    assert len(merge_all([samples, samples])[0]) == 4


def test_source_of_the_first_list_that_has_one():
    lists = [NBestList("0", (Hypothesis("a"),)), NBestList("0", (Hypothesis("b"),), source="s", context="c")]
    assert (merged(lists).source, merged(lists).context) == ("s", "c")


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (["0", "2", "1"], "f:1: segment 1 comes after segment 2, expected ascending ids"),
        (["0", "x"], "f:1: segment id 'x' is not a number"),
        (["-1"], "f:1: segment id '-1' is not a number"),
        (["²"], "f:1: segment id '²' is not a number"),
    ],
)
def test_streams_out_of_order(ids, said):
    stream = [NBestList(id_, (Hypothesis("a"),), line=1) for id_ in ids]
    with pytest.raises(FormatError, match=said):
        list(merge_sorted([stream], ["f"]))


def test_streams_with_other_features():
    with pytest.raises(
        FormatError, match="the features of segment 1 differ from those of segment 0: lacks feature 'W'"
    ):
        list(merge_sorted([[NBestList("0", (), ("W",))], [NBestList("1", (), ())]]))


@pytest.mark.slow
def test_merging_sorted_streams_takes_bounded_memory():
    def stream(system):
        for i in range(1500):
            text = f"hypothesis {i} of system {system}"
            yield NBestList(str(i), tuple(Hypothesis(text, (float(h),)) for h in range(20)), ("LM",))

    tracemalloc.start()
    count = sum(len(nbest) for nbest in merge_sorted([stream(0), stream(1), stream(2)]))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 1500 * 60
    assert peak < 1_000_000  # all at once they take some 20 MB
