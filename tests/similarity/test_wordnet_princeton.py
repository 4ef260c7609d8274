"""WordNet 3.0 itself, where it is installed: $WNSEARCHDIR, $WNHOME/dict, or where Debian's `wordnet-base` has it.

Values as NLTK and WordNet::Similarity give them. Where those two differ from each other or from ours, the reason is
in docs/results/similarity.md.
"""

from pathlib import Path

import numpy as np
import pytest

from rerank_plugins import ConfigError
from rerank_plugins.similarity.wordnet import MEASURES, PARTS, WordNet, similarities, wordnet_folder

pytestmark = pytest.mark.slow  # reading it takes ten seconds
DEBIAN = Path("/usr/share/wordnet")


@pytest.fixture(scope="module")
def wordnet():
    try:
        folder = wordnet_folder() or (wordnet_folder(DEBIAN) if DEBIAN.is_dir() else None)
    except ConfigError as error:
        pytest.skip(str(error))
    if folder is None:
        pytest.skip(f"no WordNet: neither WNSEARCHDIR nor WNHOME is set, and {DEBIAN} is not there")
    with open(folder / "data.noun", encoding="utf-8") as lines:
        if not any("WordNet 3.0 " in next(lines) for _ in range(20)):
            pytest.skip(f"{folder} is another version than WordNet 3.0")
    pytest.importorskip("nltk")
    return WordNet(folder, {"dog": 0.5, "cat": 0.5})


def between(wordnet, a, b, part):
    """The measures of the first senses of two lemmas of a part of speech."""
    first, second = (np.array([wordnet.number[wordnet.reader.synset(f"{lemma}.{part}.01")]]) for lemma in (a, b))
    values = similarities(np.array([0, 1]), first, np.array([0, 1]), second, *wordnet.taxonomy)
    return dict(zip(MEASURES, values[:, 0, 0].tolist(), strict=True))


def test_all_of_it_is_read(wordnet):
    """The counts of the manual page wnstats(7WN)."""
    parts = [part for part, _ in wordnet.synsets]
    assert np.bincount(parts).tolist() == [82115, 13767, 18156, 3621]
    assert [len(list(wordnet.reader.all_lemma_names(part))) for part in PARTS] == [117798, 11529, 21479, 4481]
    t = wordnet.taxonomy
    assert [t.deepest[parts.index(p)] for p in (0, 1)] == [20, 14]
    assert len(t.depth) == len(parts) + 1, "one synset above all verbs, none above the nouns"


@pytest.mark.parametrize(
    ("a", "b", "part", "path", "wup"),
    [
        ("dog", "cat", "n", 0.2, 6 / 7),
        ("dog", "wolf", "n", 1 / 3, 0.9286),
        ("hit", "slap", "v", 1 / 7, 0.25),
    ],
)
def test_published_values(wordnet, a, b, part, path, wup):
    found = between(wordnet, a, b, part)
    assert found["path"] == pytest.approx(path)
    assert found["wup"] == pytest.approx(wup, abs=1e-4)


def test_leacock_and_chodorow(wordnet):
    """WordNet::Similarity has ln 8 for dog and cat, of a greatest value of ln 40."""
    assert between(wordnet, "dog", "cat", "n")["lch"] * np.log(40) == pytest.approx(np.log(8))


def test_base_forms(wordnet):
    forms = {
        ("aardwolves", "n"): "aardwolf", ("abaci", "n"): "abacus", ("churches", "n"): "church",
        ("women", "n"): "woman", ("axes", "n"): "axis ax", ("leaves", "n"): "leave leaf", ("was", "v"): "be",
        ("denied", "v"): "deny", ("hardest", "a"): "hard", ("better", "r"): "better well",
    }  # fmt: skip
    for (word, part), wanted in forms.items():
        found = {synset for lemma in wanted.split() for synset in wordnet.reader.synsets(lemma, part)}
        assert set(wordnet.reader.synsets(word, part)) == found, word


def test_a_cycle_of_verbs_does_no_harm(wordnet):
    """Restrain and inhibit are each other's hypernyms in this version."""
    found = wordnet.similarities(["inhibit", "restrain"], ["restrain", "walk"])
    assert found[:, 0, 0].min() > 0.4
    assert np.isfinite(found).all()
    assert ((found >= 0) & (found <= 1)).all()
