"""The documentation and the registry name the same plugins and the same options."""

import re

import pytest

from rerank_adapters.builtin import BUILTIN
from rerank_adapters.report.text import TITLES
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.core.plugins import KINDS
from tests.command_line import done
from tests.conftest import ROOT

REGISTRY = load_plugins(BUILTIN, installed=False)
EXAMPLES = load_plugins(  # with the example plugins, whose commands the documentation shows
    BUILTIN, sorted((ROOT / "example_nbest").glob("plugin*/*.py")), installed=False
)
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
TABLES = {  # kind -> the page and the heading of the first column of the table that says what each of them is
    "feature": ("features.md", "feature"),
    "language_model": ("features.md", "language model"),
    "parser": ("features.md", "parser"),
    "metric": ("metrics.md", "name"),
    "tuner": ("tuners.md", "name"),
    "format": ("formats.md", "name"),
    "trainer": ("features.md", "trainer"),
}
FLAGS = {
    "-f": "feature",
    "-m": "metric",
    "-t": "tuner",
    "-M": "language_model",
    "-p": "parser",
    "--parser": "parser",
    "--format": "format",
}


def table_under(page: str, heading: str) -> list[str]:
    """The rows of the first table of a page whose first column has that heading, up to the first other line."""
    lines = (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {heading} |"))
    end = next((i for i in range(start, len(lines)) if not lines[i].startswith("|")), len(lines))
    return lines[start + 2 : end]


def first_column(rows: list[str]) -> list[str]:
    return [row.split("|")[1].strip() for row in rows]


def test_every_kind_has_a_table():
    assert TABLES.keys() == TITLES.keys() == KINDS.keys()


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_says_what_each_registered_name_is_and_none_that_is_not(kind):
    documented = [name.strip("`") for name in first_column(table_under(*TABLES[kind])) if name]
    assert sorted(documented) == sorted(REGISTRY.entries[kind])


def test_the_command_that_makes_the_page():
    assert done("plugins", "bleu", "--as", "markdown").out.startswith("# Plugins and their options")
    assert "| `tokenize` | `str` | `'13a'` |" in done("plugins", "bleu", "--as", "markdown").out


def test_the_options_in_the_table_of_metrics_are_those_there_are():
    for row in table_under(*TABLES["metric"]):
        name, options = (cell.strip() for cell in row.split("|")[1:3])
        known = {option.name for option in REGISTRY.get("metric", name.strip("`")).options()}
        written = set(re.findall(r"`(\w+)`", options))
        assert written <= known
        assert written == known or "the same" in options, name


VALUE = r"(?:\[[^]]*\]|[^\s,']+)"  # of an option: a list in brackets, or what no comma ends


def mentions() -> list[tuple[str, str, str, list[str]]]:
    """Plugins that commands in the documentation name: page, kind, name, options that are set."""
    flag = "|".join(map(re.escape, FLAGS))
    named = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for code in re.findall(r"```sh\n(.*?)```|`(rerank [^`]*)`|^    (rerank .*)$", text, re.S | re.M):
            pattern = rf"(?<=\s)({flag}) +'?([a-z][\w+-]*)((?:,\w+={VALUE})*)"
            for option, name, settings in re.findall(pattern, "".join(code)):
                named.append((page.name, FLAGS[option], name, re.findall(rf",(\w+)={VALUE}", settings)))
    return named


def test_commands_in_the_documentation_name_plugins_and_options_that_exist():
    checked = 0
    shown = re.findall(r'register\("([\w-]+)"', (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8"))
    for page, kind, name, options in mentions():
        if page == "plugins.md" and name in shown:  # examples/test_plugin_page.py runs these commands
            continue
        if name not in EXAMPLES.known(kind):
            assert kind == "metric" or not options, (page, kind, name)  # `-m` is also a file of a model
            continue
        known = {option.name for option in EXAMPLES.get(kind, name).options()} | {
            "label",
            "text",
            "source_text",
            "margin",
        }
        assert set(options) <= known, (page, kind, name)
        checked += 1
    assert checked > 50
