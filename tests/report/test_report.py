"""Reports: numbers as written, word differences, every format read back, a page that needs nothing from outside."""

import base64
import csv
import gzip
import io
import itertools
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from rerank_adapters.evaluation import Comparison, Evaluation, Interval, Resampling, SegmentFacts, evaluate
from rerank_adapters.evaluation.comparisons import Gain
from rerank_adapters.report import numbers, plots, text
from rerank_adapters.report.facts import ListLengths, RunFacts
from rerank_adapters.report.held_out import cross_validation_table
from rerank_adapters.report.output import drawn as drawn_report
from rerank_adapters.report.page import headline, html_page
from rerank_adapters.report.svg import Row, grouped_bars, interval_rows, lines, tick_label, ticks
from rerank_adapters.report.tables import Table, bucket_table, score_table, segment_table
from rerank_adapters.report.terminal import print_changes, print_evaluation, print_table
from rerank_adapters.report.words import marked, word_differences
from rerank_adapters.tuning.cross_validation import CrossValidation, CrossValidationRow
from rerank_adapters.tuning.families import Contributions, Trial
from rerank_adapters.tuning.weight_intervals import TunedWeight, WeightIntervals
from rerank_plugins import ConfigError
from tests.command_line import done
from tests.conftest import ROOT
from tests.evaluation import naive_evaluation as naive

EXAMPLES = ROOT / "example_nbest"
WORDS = st.lists(st.sampled_from("abc"), max_size=8).map(" ".join)
REFERENCES = [["the <b>cat</b> sat"], ["a dog ran away"], ["it was old"], ["so it was then"]]
BASELINE = ["the <b>cat</b> sat", "a dog sat", "it is old", "so"]
SYSTEM = ["the <b>cat</b> sat", "a dog ran away", "it was", "then & [red]now[/red]"]


@pytest.fixture(scope="module")
def evaluation():
    return evaluate(
        {"decoder": BASELINE, "re_ranked": SYSTEM},
        REFERENCES,
        {"errors": naive.WordErrors(), "f": naive.WordF()},
        Resampling(bootstrap=50, randomisation=60),
        SegmentFacts(
            nbests=[[b, s] for b, s in zip(BASELINE, SYSTEM, strict=True)],
            sources=["die Katze", "ein Hund", "es war", None],
            ids=["10", "11", "12", "13"],
        ),
    )


def shown(evaluation: Evaluation, **options) -> str:
    console = Console(file=io.StringIO(), width=100, **options)
    print_evaluation(evaluation, console)
    return console.file.getvalue()


@given(WORDS, WORDS)
def test_word_differences_rebuild_both_texts(before, after):
    pieces = word_differences(before, after)
    assert " ".join(p.text for p in pieces if p.kind != "inserted") == before
    assert " ".join(p.text for p in pieces if p.kind != "deleted") == after
    assert all(one.kind != two.kind for one, two in itertools.pairwise(pieces))


def test_marked_words():
    assert marked("a red house", "a blue house now") == "a [-red-]{+blue+} house {+now+}"
    assert marked("a b", "a b") == "a b"
    assert marked("", "a") == "{+a+}"
    assert marked("x a", "a") == "[-x-] a"


@pytest.mark.parametrize(
    ("bootstrap", "randomisation", "marks"),
    [(0.001, 0.001, "**"), (0.001, 0.03, "*"), (0.001, 0.05, ""), (None, 0.001, "**"), (None, None, "")],
)
def test_stars_need_every_test(bootstrap, randomisation, marks):
    comparison = Comparison(1.0, None, bootstrap, randomisation, None, 1, 0, 0)
    assert numbers.difference(comparison) == "+1.00" + marks


@pytest.mark.parametrize(
    ("interval", "p", "marks"),
    [
        (Interval(-0.01, 1.42), 0.021, ""),
        (Interval(-0.01, 1.42), 0.001, ""),
        (Interval(0.0, 1.42), 0.001, ""),
        (Interval(0.01, 1.42), 0.001, "**"),
        (Interval(0.01, 1.42), 0.049, "*"),
        (Interval(-1.42, -0.01), 0.049, "*"),
        (Interval(0.01, 1.42), 0.05, ""),
    ],
)
def test_stars_need_an_interval_without_zero_in_every_report(interval, p, marks, evaluation):
    comparison = Comparison(0.73, interval, p, p, None, 1, 0, 0)
    first = evaluation.metrics[0]
    systems = tuple(replace(s, comparison=comparison if s.comparison else None) for s in first.systems)
    changed = replace(evaluation, metrics=(replace(first, systems=systems, oracle=None),))
    rule = "A difference has * where its 95 % interval excludes zero and both tests give p below .05, and ** where p is"
    for written in (shown(changed), text.markdown(changed), text.latex(changed), html_page(changed)):
        unescaped = " ".join(written.replace("\\", "").split())  # as Markdown escapes stars
        assert re.findall(r"\+0\.73(\**)", unescaped)[0] == marks
        assert rule in unescaped
    rows = list(csv.DictReader(io.StringIO(text.tsv(changed)), delimiter="\t"))
    assert [row["stars"] for row in rows] == ["", marks]
    found = json.loads(text.json(changed))
    assert found["metrics"][0]["systems"][1]["comparison"]["stars"] == marks
    assert found["rule_of_stars"].startswith(rule)


def test_numbers():
    comparison = Comparison(-0.5, Interval(-1.25, 0.25), 0.0123, 0.0001, 0.1, 1, 2, 3)
    assert comparison.interval.written == "[-1.25, +0.25]"
    assert numbers.p_values(comparison) == "p .012 <.001"
    assert numbers.p_value(1.0) == "1"


def test_score_table(evaluation):
    table = score_table(evaluation)
    assert table.header == ("system", "errors ↓", "f ↑")
    assert [row[0] for row in table.rows] == ["decoder", "re_ranked", "oracle", "anti-oracle"]
    assert table.rows[0][1].startswith("42.86 ±")
    assert "-7.14" in table.rows[1][1]
    assert not table.rows[2][1].startswith("≥")  # errors decompose: exact
    assert (table.rows[2][2][0], table.rows[3][2][0]) == ("≥", "≤")
    assert any("errors: nrefs:1|bs:50|ar:60|seed:1" in note for note in table.notes)


def test_segment_and_bucket_tables(evaluation):
    assert segment_table(evaluation).rows[0][:5] == ("re_ranked", "errors", "1", "1", "2")
    buckets = bucket_table(evaluation, evaluation.metrics[0])
    assert [row[:2] for row in buckets.rows] == [("3", "2"), ("4", "2")]
    assert buckets.rows[0][2:] == ("16.67", "16.67")


def test_tsv_is_read_back(evaluation):
    rows = list(csv.DictReader(io.StringIO(text.tsv(evaluation)), delimiter="\t"))
    assert len(rows) == 8
    system = next(row for row in rows if row["metric"] == "f" and row["system"] == "re_ranked")
    scores = evaluation.metrics[1].of("re_ranked")
    assert float(system["score"]) == pytest.approx(scores.score, rel=1e-5)
    assert float(system["p_bootstrap"]) == pytest.approx(scores.comparison.bootstrap_p, rel=1e-5)
    assert [row["system"] for row in rows[2:4]] == ["oracle (exact)", "anti-oracle (exact)"]
    assert list(rows[0]) == list(evaluation.records()[0])
    assert not any(None in row or None in row.values() for row in rows)


def test_json_has_everything(evaluation):
    assert Evaluation.from_json(text.json(evaluation)) == evaluation
    assert json.loads(text.json(evaluation))["version"] == evaluation.version


def test_markdown_has_one_width(evaluation):
    written = text.markdown(evaluation)
    rows = [line for line in written.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {4}
    assert r"nrefs:1\|bs:50" in written


def test_latex_is_escaped(evaluation):
    written = text.latex(evaluation)
    assert r"re\_ranked & " in written
    assert r"$\pm$" in written
    assert r"$-$7.14" in written
    body = [line for line in written.splitlines() if line.endswith(r"\\")]
    assert {line.count("&") for line in body} == {2}
    assert (
        text.markdown_table(Table("t", ("a", "b"), (("x", "1"),))) == "### t\n\n| a | b |\n| --- | ---: |\n| x | 1 |\n"
    )


def test_terminal_without_colour_marks_words(evaluation):
    written = shown(evaluation)
    assert "changes    a dog [-sat-]{+ran away+}" in written
    assert "[red]now[/red]" in written  # the text's own brackets are no markup
    assert "\x1b" not in written
    assert "source     ein Hund" in written
    assert written.index("segment 11") < written.index("segment 13")


def test_terminal_with_colour_shows_sides(evaluation):
    written = shown(evaluation, force_terminal=True, color_system="standard")
    assert "\x1b[9;31msat" in written  # struck out, red
    assert "\x1b[32mran away" in written
    assert "{+" not in written


def test_terminal_says_when_nothing_changed():
    same = evaluate(
        {"a": BASELINE, "b": BASELINE}, REFERENCES, {"f": naive.WordF()}, Resampling(bootstrap=9, randomisation=9)
    )
    console = Console(file=io.StringIO(), width=100)
    print_changes(same, same.metrics[0], "b", console, 5)
    assert "b: no output differs from a" in console.file.getvalue()


def test_narrow_terminal_loses_no_number(evaluation):
    console = Console(file=io.StringIO(), width=40)
    print_evaluation(evaluation, console)
    assert "…" not in console.file.getvalue()


NAMES = ("dependency-lm.per_word", "dependency-lm.total", "ngram-lm.per_word", "consensus", "length", "unigram.oovs")


def drawn(table: Table, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width)
    print_table(table, console)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("columns", [2, 5, 6])
def test_tables_fit_without_breaking_a_word(width, columns):
    header = ("phenomenon", *(f"{name} of all pairs" for name in NAMES[:columns]))
    rows = (("agreement", *["93.12 ±1.07"] * columns), ("islands", *["61.00 ±11.07"] * columns))
    written = drawn(Table("Accuracy", header, rows, ("A note in words " * 10,)), width)
    assert max(map(len, written.splitlines())) <= width
    words = set(re.split(r"[ │┃\n]+", written))
    assert {word for name in header for word in name.split()} <= words
    assert written.count("93.12 ±1.07") == columns
    titles = re.findall(r"^Accuracy(?: \(continued\))?(?= *$)", written, re.M)
    assert titles == ["Accuracy", *["Accuracy (continued)"] * (len(titles) - 1)]
    assert written.count("│ agreement") == len(titles)


def test_heads_are_wrapped_only_where_a_table_is_too_wide():
    table = Table("t", ("a long head", "b"), (("x", "1"),))
    assert "│ x           │ 1 │" in drawn(table, 80)
    assert "│ x    │ 1 │" in drawn(table, 12)
    assert "a long head" not in drawn(table, 12)


def test_tables_of_the_applications_are_at_most_80_columns_wide():
    features = ("-f", "unigram,label=a-feature-with-a-very-long-label", "-f", "length", "-f", "character-length")
    grammar, completion = EXAMPLES / "acceptability", EXAMPLES / "completion"
    outputs = [
        done("acceptability", "pairs", grammar / "pairs.tsv", *features).out,
        done("acceptability", "sentences", grammar / "dev.tsv", grammar / "test.tsv", *features).out,
        done("words", "complete", completion / "questions.tsv", *features).out,
        done("similarity", "evaluate", EXAMPLES / "similarity" / "pairs.tsv", "--measure", "tfidf.stems").out,
    ]
    for output in outputs:
        assert [line for line in output.splitlines() if len(line.rstrip()) > 80] == []


def test_reports_of_many_systems_fit_80_columns():
    systems = {f"system-of-a-long-name-{i}": SYSTEM for i in range(4)}
    metrics = {name: naive.WordF() for name in ("BLEU", "chrF", "TER", "another-metric")}
    many = evaluate(systems, REFERENCES, metrics, Resampling(bootstrap=50, randomisation=60))
    written = drawn_report(lambda console: print_evaluation(many, console)).splitlines()
    too_long = [line for line in written if len(line) > 80 and "nrefs:1" not in line]  # signatures are one word
    assert too_long == []


def test_captions_are_sentences(evaluation):
    sentences = [note for note in score_table(evaluation).notes if "nrefs:" not in note]
    assert all(re.fullmatch(r"[A-Z±≥r].*\.", note) for note in sentences)


@pytest.mark.parametrize("seeds", [1, 2])
def test_cross_validation_table(seeds):
    row = CrossValidationRow("mira", (30.0, 31.0)[:seeds], ((28.0, 33.0),) * seeds, (35.0,) * seeds)
    table = cross_validation_table(CrossValidation((row,), (1, 2)[:seeds], 2, True), "BLEU")
    assert ("± over seeds" in table.header) == (seeds > 1)
    assert "0.00" not in table.rows[0]
    assert ("seeds" in table.notes[-1]) == (seeds > 1)
    assert table.rows[0][0] == "mira *"


def test_one_system_alone():
    one = evaluate({"a": BASELINE}, REFERENCES, {"f": naive.WordF()}, Resampling(bootstrap=0, randomisation=0))
    written = shown(one)
    assert "against" not in written
    assert "±" not in written
    assert "Segments" in html_page(one)


class Page(HTMLParser):
    """Collects tags, attributes and text, and checks that every element is closed in order."""

    VOID = frozenset({"meta", "input", "br"})

    def __init__(self):
        super().__init__()
        self.open, self.attributes, self.text, self.count = [], [], [], {}

    def handle_starttag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_page_stands_alone(evaluation):
    written = html_page(evaluation, "my <title>")
    page = Page()
    page.feed(written)
    page.close()
    assert page.open == []
    assert not [value for name, value in page.attributes if name in ("src", "href")]
    assert not re.search(r"https?:|@import|url\(", written)
    words = "".join(page.text)
    assert "the <b>cat</b> sat" in words
    assert "my <title>" in words
    assert "b" in page.count  # labels
    assert page.count["del"] >= 1
    assert ("id", "search") in page.attributes


def test_page_has_every_segment_and_the_changed_ones_first(evaluation):
    body = html_page(evaluation).partition('<table id="segments">')[2]
    rows = re.findall(r'<tbody tabindex="-1"[^>]*><tr><td data-label="segment">(\d+)</td>.*?</tbody>', body, re.S)
    assert sorted(rows) == ["10", "11", "12", "13"]
    assert rows[0] == "11"
    assert rows[-1] == "10"
    assert "a dog <del>sat</del> <ins>ran away</ins>" in body
    assert '<td class="better" data-label="re_ranked − decoder">-50.00</td>' in body  # fewer errors


def test_headline(evaluation):
    comparison = evaluation.metrics[0].of("re_ranked").comparison
    p = numbers.p_value(max(comparison.bootstrap_p, comparison.randomisation_p))
    assert headline(evaluation) == f"{comparison.difference:+.1f} errors over decoder, p = {p}; 3 of 4 segments changed"
    assert headline(evaluation, "decoder").endswith("errors on 4 segments")
    same = evaluate(
        {"1-best": BASELINE, "b": BASELINE}, REFERENCES, {"f": naive.WordF()}, Resampling(bootstrap=0, randomisation=0)
    )
    assert headline(same).startswith("No output differs from the decoder's 1-best: ")


def test_facts_of_a_run_are_on_the_page(evaluation):
    row = Trial("lm", 2, 40.0, Gain(1.25, Interval(0.27, 2.23), None), spread=0.5)
    unsure = replace(row, family="all of syntax", gain=Gain(1.25, Interval(-2.67, 5.17), None))
    intervals = (TunedWeight("lm.total", 0.125, 0.5, Interval(0.25, 0.75)), TunedWeight("length", -1.0, -0.1))
    facts = RunFacts(
        job="mt",
        system="re_ranked",
        tuner="mira",
        tuning_score=31.4159,
        tuned_at="2026-01-02 03:04",
        contributions=Contributions((row, unsure), 41.25, 5, 100),
        weights=WeightIntervals(intervals, 50),
        curve=((30.0, 31.0), (29.0, 31.4)),
        lists=ListLengths((1, 2, 4), (40.0, 50.0, 60.0), (40.0, 45.0, 46.0)),
        explanations={"11": {"a": [1 / 3, float("nan")]}},
    )
    written = html_page(evaluation, "mt · test", facts=facts)
    page = Page()
    page.feed(written)
    page.close()
    assert page.open == []
    words = " ".join("".join(page.text).split())
    for text_ in (
        "31.42 errors",
        "mira",
        "2026-01-02 03:04",
        "Contribution of each family",
        "all of syntax",
        "With 100 segments, 1 of 2 intervals include zero: such a loss, and its sign, may be noise.",
        "lm.total",
        "restart 2",
        "Score against n",
    ):
        assert text_ in words
    assert re.findall(r'<g class="(\w+)"><title>(?:lm|all of syntax): \+1.25<', written) == ["good", "s5"]
    assert words.count("Why") == 1
    assert re.search(r'<tr><td colspan="5"><details class="why" data-segment="11">', written)  # trees need all columns
    data = re.search(r'id="explanations">([^<]*)<', written)[1]
    assert json.loads(gzip.decompress(base64.b64decode(data))) == {"11": {"a": [0.33333, None]}}


@pytest.mark.slow
def test_a_page_of_600_segments_is_small(evaluation):
    segment = replace(evaluation.segments[1], outputs=("a dog sat " * 8, "a cat sat " * 8), source="ein Hund " * 8)
    many = tuple(replace(segment, segment_id=str(i)) for i in range(600))
    metrics = tuple(
        replace(m, systems=tuple(replace(s, sentence_scores=(1.0 / 3,) * 600) for s in m.systems))
        for m in evaluation.metrics
    )
    words = [{"word": f"w{i}", "score": -i / 7} for i in range(25)]
    explanations = {
        str(i): {"words": [{"models": ["lm"], "a": words, "b": words}] * 3, "lead": i / 3} for i in range(600)
    }
    big = replace(evaluation, segments=many, metrics=metrics)
    assert len(html_page(big, facts=RunFacts(explanations=explanations)).encode()) < 3_000_000


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_cover_what_is_drawn(low, size):
    marks = ticks(low, low + size)
    assert marks[0] <= low + 1e-6 * (abs(low) + size)
    assert marks[-1] >= low + size - 1e-6 * (abs(low) + size)
    assert 3 <= len(marks) <= 13
    assert tick_label(-0.5) == "−0.5"


def test_drawings_are_to_scale():
    drawn = interval_rows([Row("a", 5.0, Interval(-10.0, 10.0), "+5")], "x", width=224)
    assert 'x1="12.0" x2="212.0"' in drawn
    assert 'cx="162.0"' in drawn
    bars = grouped_bars(["1", "2"], {"a": [50.0, 100.0], "b": [25.0, 0.0]}, "words", "f", height=100)
    assert re.findall(r'<rect class="fill"[^>]*height="([\d.]+)"><title', bars) == ["50.0", "100.0", "25.0", "0.0"]
    assert "a, 2: 100.00" in bars
    curve = lines({"a": [(1, 0.0), (10, 5.0), (100, 10.0)]}, "n", "f", logarithmic=True)
    (x1, y1), (x2, y2), (x3, y3) = [map(float, p.split(",")) for p in re.search(r'points="([^"]*)"', curve)[1].split()]
    assert x2 - x1 == pytest.approx(x3 - x2)
    assert y1 - y2 == pytest.approx(y2 - y3)


@pytest.mark.slow
def test_plots_are_written(evaluation, tmp_path):
    pytest.importorskip("matplotlib")
    plots.plot_lengths(evaluation, evaluation.metrics[0], tmp_path / "lengths.svg")
    plots.plot_differences(evaluation, tmp_path / "differences.svg")
    plots.plot_lengths(evaluation, evaluation.metrics[0], tmp_path / "lengths.png")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["differences.svg", "lengths.png", "lengths.svg"]
    assert (tmp_path / "lengths.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ConfigError, match="format"):
        plots.plot_lengths(evaluation, evaluation.metrics[0], tmp_path / "lengths.nonsense")
    assert len(list(tmp_path.iterdir())) == 3


def test_plots_of_one_system(tmp_path):
    pytest.importorskip("matplotlib")
    one = evaluate({"a": BASELINE}, REFERENCES, {"f": naive.WordF()}, Resampling(bootstrap=0, randomisation=0))
    plots.plot_differences(one, tmp_path / "differences.png")
    plots.plot_lengths(one, one.metrics[0], tmp_path / "lengths.png")
    assert len(list(tmp_path.iterdir())) == 2
