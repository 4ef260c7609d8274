"""The documentation as a site: it builds without warnings, asks nothing of the network, and its search has an index."""

import importlib.util
import os
import re
import subprocess
import sys

import pytest

from rerank_adapters.builtin import BUILTIN
from rerank_plugins.core.loader import load_plugins
from tests.conftest import ROOT

for name in ("mkdocs", "material", "mkdocstrings_handlers", "griffe"):
    pytest.importorskip(name, reason=f"{name} is not installed (extra `docs`)")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site. The build is strict: a broken link or a public name without docstring ends it."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "-f", ROOT / "docs" / "mkdocs.yml", "-d", folder]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, capture_output=True, check=False, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def hooks():
    """The module of the hooks, which is no part of a package."""
    spec = importlib.util.spec_from_file_location("hooks", ROOT / "docs" / "site" / "hooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.release
def test_every_page_is_built(site):
    for page in (ROOT / "docs").rglob("*.md"):
        assert (site / page.relative_to(ROOT)).with_suffix(".html").is_file(), page
    assert "<h1" in (site / "index.html").read_text(encoding="utf-8")


@pytest.mark.release
def test_pages_load_nothing_from_elsewhere(site):
    for page in site.rglob("*.html"):
        loaded = re.findall(
            r'<(?:script|img|link rel="stylesheet")[^>]*(?:src|href)="(https?:[^"]*)"', page.read_text()
        )
        assert not loaded, f"{page}: {loaded}"


@pytest.mark.release
def test_search_works_in_a_page_that_is_opened_as_a_file(site):
    index = (site / "search" / "search_index.js").read_text(encoding="utf-8")
    assert index.startswith("var __index = {")
    assert '"docs/models/treelet-lm.html' in index
    assert "iframe-worker.js" in (site / "docs" / "tour.html").read_text(encoding="utf-8")


@pytest.mark.release
def test_the_reference_has_every_command_and_public_name(site):
    import rerank_plugins
    from rerank_adapters.cli.commands import CHAIN, GROUPS

    commands = "".join((site / "docs" / "reference").joinpath(f"{name}.html").read_text() for name in (
        "the-chain", "train", "groups-by-task"
    ))  # fmt: skip
    for name in (*CHAIN, *GROUPS):
        assert f'id="rerank-{name}"' in commands, name
    assert 'id="rerank-train-treelet-lm"' in commands
    names = (site / "docs" / "reference" / "rerank_plugins.html").read_text()
    for name in rerank_plugins.__all__:
        assert re.search(rf'id="rerank_plugins\.[\w.]*\.{name}"', names), name


@pytest.mark.release
def test_the_reference_has_every_plugin_and_pages_lead_there(site):
    page = (site / "docs" / "reference" / "plugins.html").read_text()
    for entries in load_plugins(BUILTIN, installed=False).entries.values():
        for name in entries:
            assert f"<code>{name}</code>" in page, name
    link = '<a href="{}reference/plugins.html"><code>rerank plugins NAME</code></a>'
    assert link.format("docs/") in (site / "index.html").read_text(encoding="utf-8")
    assert link.format("") in (site / "docs" / "config.html").read_text(encoding="utf-8")


def test_names_without_docstrings_are_found(hooks, tmp_path):
    import griffe

    (tmp_path / "bare.py").write_text(
        'def told():\n    """Said."""\ndef silent(): ...\nclass Half:\n    """Said."""\n    def silent(self): ...\n    def _own(self): ...\n'
    )
    module = griffe.load("bare", search_paths=[str(tmp_path)])
    found = [path for name in ("told", "silent", "Half") for path in hooks.undocumented(module[name])]
    assert found == ["bare.silent", "bare.Half.silent"]


def test_lists_are_set_apart_from_paragraphs_and_code_is_left_alone(hooks):
    assert hooks.apart("A list:\n- one\n- two\n") == "A list:\n\n- one\n- two\n"
    assert hooks.apart("in the year\n2006. Then\n") == "in the year\n2006. Then\n"
    assert hooks.apart("- one\n- two\n") == "- one\n- two\n"


def test_headings_have_the_anchors_of_the_links(hooks):
    assert hooks.anchor("Which tuner, and which settings", "-") == "which-tuner-and-which-settings"
    assert hooks.anchor("`rerank train`: ÄÖ", "-") == "rerank-train-äö"
