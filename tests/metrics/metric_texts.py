"""Texts to try metrics on: made by hypothesis, and real n-best lists."""

from pathlib import Path

from hypothesis import strategies as st

from rerank_plugins.kit.files.text import open_text

WORDS = [
    "a",
    "b",
    "c",
    "the",
    "The",
    "cat.",
    "(hi)",
    "3.5",
    "1-2",
    "don't",
    "x-",
    "&quot;",
    "«Ä»",
    "日本",
    "…",
    "\u3000",
    "-",
]
texts = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)
odd_texts = texts | st.text(st.sampled_from("ab.,-3 &;<>'!日\u3000\x85\xa0\u2009\u200b\u2028\x0b\x1f"), max_size=25)
references = st.lists(odd_texts, min_size=1, max_size=3)
segments = st.lists(st.tuples(st.lists(odd_texts, max_size=4), references), min_size=1, max_size=4)


def tatoeba(folder: Path, split: str = "tune") -> tuple[list[list[str]], list[list[str]]]:
    """Hypotheses and references per segment."""
    data = folder / "mt_nbest_tatoeba_de_en"
    return hypotheses_and_references(data / f"{split}.nbest.xz", data / f"{split}.ref")


def hypotheses_and_references(nbest: Path, reference: Path) -> tuple[list[list[str]], list[list[str]]]:
    """The texts of Moses lists, and the reference of each."""
    lists: dict[str, list[str]] = {}
    with open_text(nbest) as lines:
        for line in lines:
            key, text = line.split(" ||| ")[:2]
            lists.setdefault(key, []).append(text)
    refs = reference.read_text(encoding="utf-8").splitlines()
    return [lists[str(i)] for i in range(len(refs))], [[reference] for reference in refs]
