"""Docstrings, comments and CONTRIBUTING.md name no file that is not there, and no module names itself as another."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted(path for room in ("rerank_plugins", "adapters", "tests") for path in (ROOT / room).rglob("*.py"))
FOLDERS = ("rerank_plugins", "adapters", "tests", "docs", "configs", "example_nbest")
FILES = {path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in (ROOT / folder).rglob("*")}
# The rooms of the packages, of the kit, of the applications and of the tests: a path that begins with one is ours.
PARENTS = ("rerank_plugins", "rerank_plugins/kit", "adapters/rerank_adapters", "adapters/rerank_adapters/applications")
ROOMS = {Path(file).name for file in FILES if Path(file).parent.as_posix() in (*PARENTS, "tests")}.union(FOLDERS)
ENDINGS = ("", ".py", ".md", ".toml")
# Files of programs whose output is read, and a name that no file may have.
NOT_OURS = {"espnet2/bin/asr_inference.py", "icefall/utils.py", "utils.py"}
NAME = re.compile(r"(?<![\w/.*<>-])(?:\w+\.py\b|\w+(?:/[\w-]+)++(?:\.\w+)?)(?![…*{])")
COMMAND = re.compile(r"(?:python|pytest)(?: -\w+)* $")  # what is before a file that is to be run


def prose(text: str) -> Iterator[str]:
    """The docstrings of a module, without examples, and its comments.

    A module is cut into tokens, which takes long, only if something after a # looks like the name of a file.
    """
    waiting: list[ast.AST] = [ast.parse(text)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (ast.get_docstring(node) or "").splitlines()
            yield "\n".join(line for line in lines if not line.lstrip().startswith((">>>", "...")))
        for statements in ("body", "handlers", "orelse", "finalbody", "cases"):  # no expression has a definition
            inner = getattr(node, statements, ())
            waiting.extend(inner if isinstance(inner, list) else ())
    if any(NAME.search(after) for after in re.findall("#(.*)", text)):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.string


def test_prose_is_found_wherever_it_stands():
    text = '"""a.py"""\nif 1:\n    pass\nelse:\n    def f():\n        """b.py"""\n        return "# c.py"  # d.py\n'
    assert [*prose(text)] == ["a.py", "b.py", "# d.py"]
    assert [*prose("try:\n    pass\nexcept E:\n    class A:\n        'e.py'\n# f\n")] == ["", "e.py"]


def named(name: str, room: Path) -> set[str]:
    """The files and folders that a name may stand for; one without a folder is a file of the same `room`, or of any."""
    beside = (room / name).as_posix()
    return {beside} if "/" not in name and beside in FILES else anywhere(name)


@cache
def anywhere(name: str) -> set[str]:
    """Those in any folder; a part in capitals, such as FAMILY, stands for any name."""
    parts = (r"[^/]+" if part.isupper() else re.escape(part) for part in re.split("([/.])", name))
    wanted = re.compile(rf"(?:.*/)?{''.join(parts)}(?:{'|'.join(map(re.escape, ENDINGS))})")
    return {file for file in FILES if wanted.fullmatch(file)}


def dead_references(text: str, module: Path) -> list[str]:
    """The names in a text of a module, or of a page, that lead nowhere or back to itself."""
    found = []
    for match in NAME.finditer(text):
        name = match[0]
        if name in NOT_OURS or Path(name).suffix not in ENDINGS:
            continue
        if not name.endswith(".py") and name.split("/")[0] not in ROOMS:
            continue  # a fraction, a tag, or two words
        files = named(name, module.parent)
        if not files or (files == {module.as_posix()} and not COMMAND.search(text[: match.start()])):
            found.append(name)
    return found


@pytest.mark.parametrize(
    ("text", "dead"),
    [
        ("see core/nbest, kit/trees/features.py and tests/test_layers.py", []),
        ("see core/nbests and kit/tree/features.py", ["core/nbests", "kit/tree/features.py"]),
        ("arrays.py, head_rules.py; annotations.py", ["annotations.py"]),
        ("NP/N, 1/2, and/or, tests/ROOM/naive_*.py, rerank_plugins/FAMILY/plugin.py", []),
        ("rerank_plugins/FAMILY/plugins.py", ["rerank_plugins/FAMILY/plugins.py"]),
        ("the tables of paths.py; core/paths; `python paths.py`", ["paths.py", "core/paths"]),
        ("`pytest -s core/paths.py`", []),
    ],
)
def test_dead_references_are_found(text, dead):
    assert dead_references(text, Path("rerank_plugins/core/paths.py")) == dead


def test_docstrings_and_comments_name_files_that_are_there():
    """One test for all, as there are very many."""
    found = {}
    for path in SOURCES:
        module = path.relative_to(ROOT)
        dead = [name for text in prose(path.read_text(encoding="utf-8")) for name in dead_references(text, module)]
        if dead:
            found[module.as_posix()] = dead
    assert found == {}


def test_the_guide_for_contributors_names_files_that_are_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert dead_references(text, Path("CONTRIBUTING.md")) == []
