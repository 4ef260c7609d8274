"""The page of a run in headless Chromium: nothing runs off a phone, details are drawn, keys go through segments."""

import re

import pytest

from rerank_adapters.evaluation import Evaluation, Interval, Resampling, SegmentFacts, evaluate
from rerank_adapters.report.facts import ListLengths, RunFacts
from rerank_adapters.report.page import html_page
from rerank_adapters.tuning.weight_intervals import TunedWeight, WeightIntervals
from tests.evaluation import naive_evaluation as naive
from tests.report import chromium

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium.browser() is None, reason="there is no Chromium here"),
]
TREE = (
    "(ROOT (S (NP (DT the) (JJ old) (JJ grey) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (JJ blue) (NN mat))))))"
)
ARCS = [
    {"word": "the", "head": 2, "relation": "det"},
    {"word": "cat", "head": 3, "relation": "nsubj"},
    {"word": "sat", "head": 0, "relation": "root"},
]
SIDE = {"name": "new 1-best", "rank": 3, "new_rank": 1}
WORDS = [{"word": "the", "score": -1.5}, {"word": "<cat>", "score": float("-inf")}]
EXPLANATION = {
    "a": SIDE,
    "b": SIDE,
    "decision": "map",
    "contributions": [{"feature": f"f{i}", "weight": 1.0, "first": 2.0, "second": 1.0, "lead": 1.0} for i in range(20)],
    "words": [{"models": ["lm"], "a": WORDS, "b": WORDS}],
    "parses": [{"features": "lm", "a": {"dependencies": ARCS, "constituents": TREE}, "b": {"constituents": TREE}}],
}
SCRIPT = """
const press = key => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
press("j"); press("j"); press("k");
document.body.dataset.at = document.activeElement.rows[0].cells[0].textContent;
press("Enter");
(function wait() {
  document.body.dataset.width = document.documentElement.scrollWidth;
  if (!document.querySelector(".why > div")) setTimeout(wait, 50);
})();
"""


MEASURES = """
document.querySelector(".why").open = true;
(function wait() {
  const details = document.querySelector(".why > div"), wide = document.querySelector(".wide");
  if (!details) return setTimeout(wait, 50);
  document.body.dataset.part = details.clientWidth / document.getElementById("segments").clientWidth;
  document.body.dataset.clipped = [...details.querySelectorAll(".scroll")].some(one => one.scrollWidth > one.clientWidth);
  document.body.dataset.shades = getComputedStyle(wide).backgroundAttachment;
})();
"""


@pytest.fixture(scope="module")
def page() -> str:
    texts = ["the cat sat", "a very-long-" + "word" * 40]
    evaluation: Evaluation = evaluate(
        {"1-best": ["a cat", "a b"], "without-all-of-the-features": texts, "reranked": texts},
        [["the cat sat"], ["a b"]],
        {"f": naive.WordF(), "errors": naive.WordErrors()},
        Resampling(bootstrap=9, randomisation=9),
        SegmentFacts(ids=["s1", "s2"]),
    )
    facts = RunFacts(
        "job",
        "reranked",
        "mira",
        weights=WeightIntervals(
            (TunedWeight("a.feature.of.a.name.that.is.much.too.long.for.a.phone", 1.0, 0.5, Interval(0.1, 0.9)),)
        ),
        curve=((1.0, 2.0, 3.0),),
        lists=ListLengths((1, 2), (1.0, 2.0), (1.0, 1.5)),
        explanations={"s1": EXPLANATION, "s2": EXPLANATION},
    )
    return html_page(evaluation, "job · test", facts=facts)


def test_a_page_on_a_phone(page):
    shown = chromium.text_after(page, SCRIPT, width=390)
    assert int(re.search(r'data-width="(\d+)"', shown)[1]) <= 390
    first = re.search(r'<tbody tabindex="-1"[^>]*><tr><td data-label="segment">(\w+)<', page)[1]
    assert f'data-at="{first}"' in shown
    details = shown.partition('<details class="why" data-segment="' + first)[2].partition("</details>")[0]
    assert details.count("<svg") == 3
    assert "&lt;cat&gt;<sub>−∞</sub>" in details
    assert "8 others" in details
    assert "nsubj" in details


def test_trees_have_the_width_of_the_page_on_a_desk(page):
    shown = chromium.text_after(page, MEASURES, width=1280)
    assert float(re.search(r'data-part="([\d.]+)"', shown)[1]) > 0.95
    assert 'data-clipped="false"' in shown


def test_what_a_phone_cuts_off_is_shaded(page):
    shown = chromium.text_after(page, MEASURES, width=390)
    assert 'data-shades="local, local, scroll, scroll"' in shown
