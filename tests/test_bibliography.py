"""Every paper that the code or a page cites is in the bibliography."""

import re

from tests.conftest import ROOT

NAME = r"[A-ZÀ-ÖØ-ÞŠ][\w'’-]+"
CITED = re.compile(
    rf"\b({NAME})(?:,? et al\.?|(?:, (?:de |van )?{NAME})*,? (?:and|&) (?:de |van )?{NAME})?,? \(?((?:19|20)\d\d)\b"
)
NO_PAPERS = {
    "AISHELL",
    "AMI",
    "BLiMP",
    "CoNLL",
    "ESA",
    "GALE",
    "In",
    "NIST",
    "On",
    "Python",
    "SemEval",
    "STS",
    "Since",
    "TED",
}
NO_PAPERS |= {"Unicode", "Version", "WMT", "Wikipedia"}
OF_BOOKS = {"Loan": "Van Loan"}


def citations() -> dict[tuple[str, str], str]:
    """The first author and the year of each citation, with a file that has it."""
    pages = [path for path in (ROOT / "docs").rglob("*.md") if path.name != "bibliography.md"]
    modules = [path for folder in ("rerank_plugins", "adapters") for path in (ROOT / folder).rglob("*.py")]
    found: dict[tuple[str, str], str] = {}
    for path in sorted(pages + modules):
        text = re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))
        for name, year in CITED.findall(text):
            if name not in NO_PAPERS:
                found.setdefault((name, year), str(path.relative_to(ROOT)))
    return found


def test_every_citation_is_in_the_bibliography():
    lines = re.findall(r"^- .*$", (ROOT / "docs" / "bibliography.md").read_text(encoding="utf-8"), re.M)
    for (name, year), path in citations().items():
        wanted = OF_BOOKS.get(name, name.removesuffix("'s"))
        assert any(wanted in line and f"({year})" in line for line in lines), f"{path}: {name} {year}"


def test_the_packages_of_the_bibliography_are_there():
    text = (ROOT / "docs" / "bibliography.md").read_text(encoding="utf-8")
    for package in re.findall(r"`((?:rerank_plugins|rerank_adapters)/[\w/.]+)`", text):
        assert (ROOT / package).exists() or (ROOT / "adapters" / package).exists(), package


def test_a_citation_is_recognised():
    text = "so (Pauls and Klein 2012, §4); Och (2003); Huang, Ma and Zhang 2008; Wu et al. (2013); Van Loan 1996"
    found = CITED.findall(text)
    assert [*found] == [("Pauls", "2012"), ("Och", "2003"), ("Huang", "2008"), ("Wu", "2013"), ("Loan", "1996")]
