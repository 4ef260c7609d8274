"""The pages under docs/ tell the truth: their Python code runs where a user has the example, and their links resolve."""

import re
import shutil

import pytest

from tests.conftest import ROOT
from tests.treelet.test_treelet import BANK

PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").rglob("*.md"))
}
LINKED = PAGES | {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in [*ROOT.glob("*.md"), *(ROOT / "example_nbest").rglob("*.md")]
}
PYTHON = {name: re.findall(r"```python\n(.*?)```", text, re.S) for name, text in PAGES.items()}
LONG = {"docs/tuners.md"}  # over two seconds


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder in which the code runs, with the lists of the example and a treebank."""
    pages = tmp_path_factory.mktemp("pages")
    shutil.copytree(ROOT / "example_nbest" / "mt", pages / "example_nbest" / "mt")
    (pages / "treebank.ptb").write_text(BANK, encoding="utf-8")
    return pages


@pytest.mark.parametrize(
    ("page", "code"),
    [
        pytest.param(name, code, id=f"{name}-{i}", marks=[pytest.mark.slow] * (name in LONG))
        for name, blocks in PYTHON.items()
        for i, code in enumerate(blocks)
    ],
)
def test_code_runs_by_itself(page, code, folder, monkeypatch):
    monkeypatch.chdir(folder)
    exec(compile(code, page, "exec"), {"__name__": "page"})


def anchors(text: str) -> set[str]:
    """What links to the headings of a page are called: small letters, hyphens for spaces, no punctuation."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_lead_somewhere():
    for name, text in LINKED.items():
        for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", text):
            path = (ROOT / name).parent.joinpath(target) if target else ROOT / name
            assert path.exists(), f"{name}: {target}"
            if anchor:
                assert anchor in anchors(path.read_text(encoding="utf-8")), f"{name}: {target}#{anchor}"


def test_every_page_is_in_the_index():
    index = PAGES["docs/index.md"]
    for name in PAGES.keys() - {"docs/index.md"}:
        page = name.removeprefix("docs/")
        assert f"]({page})" in (PAGES["docs/results.md"] if page.startswith("results/") else index), name


def test_every_page_is_in_the_navigation_of_the_site():
    text = (ROOT / "docs" / "mkdocs.yml").read_text(encoding="utf-8")
    entries = re.findall(r"^ *- (?:[^:\n]+: )?(\S+\.md)$", text, re.M)
    assert len(entries) == len(set(entries))
    assert set(entries) >= set(PAGES), set(PAGES) - set(entries)
    for name in entries:
        assert name.startswith("docs/reference/") or (ROOT / name).is_file(), name


def test_every_section_of_results_names_its_command_or_its_page_does():
    for name, text in PAGES.items():
        if name.startswith("docs/results/"):
            general, *sections = re.split(r"^## ", text, flags=re.M)
            for section in sections:
                measured = re.search(r"^\|.*\d\.\d.*\|$", section, re.M)
                command = re.search(r"python\s-m\s|rerank [a-z]|pytest |python example_nbest/", general + section)
                assert command or not measured, f"{name}: {section.splitlines()[0]}"
