"""Hooks of MkDocs that take the site's pages from where they are in the repository, and generate the reference.

The site has the layout of the repository (`docs/tour.md` becomes `docs/tour.html`), so that the relative links of the
pages lead to the same files in both. The commands' pages are their help, and mkdocstrings writes the pages of names
from the docstrings. A public name without a docstring is a warning, which ends a strict build.
"""

from __future__ import annotations

import logging
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"rerank_plugins": ROOT, "rerank_adapters": ROOT / "adapters"}
WIDTH = 88  # of help, which fits into the column of the text
TOP = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")
OPTIONS = re.compile(r"`rerank plugins (?:NAME|--kind \w+)`")
BLOCK = re.compile(r"(^```.*?^```$)", re.S | re.M)
log = logging.getLogger("mkdocs.hooks.pages")  # warnings of loggers below `mkdocs` count in a strict build


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Give headings the anchors that a repository browser gives them, since the pages link to these."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = anchor
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages, the files that they link to, and the generated reference."""
    for path in linked_files():
        name = path.relative_to(ROOT).as_posix()
        files.append(File.generated(config, name, abs_src_path=str(path)))
    for name, content in reference_pages():
        files.append(File.generated(config, f"docs/reference/{name}.md", content=content))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Drop links to folders, which have no page, and give each list the blank line before it that Markdown wants.

    Where a page tells readers to print the options of a plugin, that becomes a link to the page of all options.
    """
    folder = (ROOT / page.file.src_uri).parent
    reference = posixpath.relpath("docs/reference/plugins.md", posixpath.dirname(page.file.src_uri))

    def without_folders(match: re.Match[str]) -> str:
        return match[1] if folder.joinpath(match[2]).is_dir() else match[0]

    def shown(text: str) -> str:
        return apart(OPTIONS.sub(rf"[\g<0>]({reference})", text))

    parts = BLOCK.split(LINK.sub(without_folders, markdown))
    return "".join(part if part.startswith("```") else shown(part) for part in parts)


def anchor(heading: str, separator: str) -> str:
    """The name of a heading in links: small letters, hyphens for spaces, no punctuation."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", separator)


def apart(text: str) -> str:
    """The text with an empty line between a paragraph and a list that follows it."""
    return re.sub(r"^((?![-*|\s#]|\d+\. )\S.*)\n(?=(?:-|1\.) )", r"\1\n\n", text, flags=re.M)


def linked_files() -> list[Path]:
    """The pages of the repository and all files to which they link, directly or through each other."""
    wanted = [*(ROOT / name for name in TOP), *sorted((ROOT / "docs").rglob("*.md"))]
    found: list[Path] = []
    while wanted:
        path = wanted.pop(0)
        if path in found:
            continue
        found.append(path)
        if path.suffix == ".md":
            for _, target, _ in LINK.findall(path.read_text(encoding="utf-8")):
                file = Path(posixpath.normpath(path.parent / target))
                if file.is_file() and file.is_relative_to(ROOT):
                    wanted.append(file)
    return found


def reference_pages() -> Iterator[tuple[str, str]]:
    """Name and Markdown of each generated page."""
    yield from command_pages()
    yield "plugins", options_page()
    loader = griffe.GriffeLoader(search_paths=[str(folder) for folder in PACKAGES.values()])
    for package in PACKAGES:
        loader.load(package)
    for package in PACKAGES:
        yield package, names_page(package, loader)


def command_pages() -> Iterator[tuple[str, str]]:
    """A page of help for each heading of `rerank --help`, and one for the trainers."""
    from rerank_adapters.cli.commands import program

    rerank = program()
    top = rerank.make_context("rerank", ["plugins"])
    for heading, names in rerank.headings(top).items():
        parts = [f"# Commands: {heading[0].lower()}{heading[1:]}\n"]
        for name in names:
            if name == "train":
                parts.append("## rerank train\n\nThe [trainers](train.md) have a page of their own.\n")
                yield "train", "# Commands: trainers\n" + "".join(helps(top, name))
            else:
                parts += helps(top, name)
        yield heading.lower().replace(" ", "-"), "\n".join(parts)


def helps(parent: click.Context, name: str) -> Iterator[str]:
    """The help of a command and of its subcommands, each under a heading of its own."""
    group = parent.command
    assert isinstance(group, click.Group)
    command = group.get_command(parent, name)
    assert command is not None
    context = click.Context(command, parent=parent, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH)
    with context:
        yield f"\n## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
        if isinstance(command, click.Group):
            for below in command.list_commands(context):
                yield from helps(context, below)


def options_page() -> str:
    """The options of all built-in plugins."""
    from rerank_adapters.builtin import BUILTIN
    from rerank_adapters.report.text import plugin_page
    from rerank_plugins.core.loader import load_plugins

    return plugin_page(load_plugins(BUILTIN, installed=False).entries)


def names_page(package: str, loader: griffe.GriffeLoader) -> str:
    """The public names of a package, by the module that defines them, as mkdocstrings is to show them.

    Names of another package are links to its page.
    """
    loaded: Any = loader.modules_collection[package]
    by_module: dict[str, list[Any]] = {}
    others = []
    for name in sorted(map(str, loaded.exports or [])):
        thing = loaded[name].final_target if loaded[name].is_alias else loaded[name]
        if thing.package.path == package:
            by_module.setdefault(thing.parent.path, []).append(thing)
        else:
            others.append(f"[`{name}`][{thing.path}]")
    lines = [f"# Names of {package}\n", f"{docstring(loaded)}\n"]
    if others:
        lines.append(f"From other packages: {', '.join(others)}.\n")
    for module in sorted(by_module):
        lines.append(f"## {module}\n\n{docstring(loader.modules_collection[module])}\n")
        for thing in by_module[module]:
            for path in undocumented(thing):
                log.warning("a public name has no docstring: %s", path)
            lines.append(f"::: {thing.path}\n")
    return "\n".join(lines)


def docstring(thing: Any) -> str:
    """Its docstring as it is written."""
    return thing.docstring.value if thing.docstring else ""


def undocumented(thing: Any) -> Iterator[str]:
    """The paths of a class or function, and of public methods in it, that have no docstring."""
    if not (thing.is_class or thing.is_function):
        return
    if not thing.docstring:
        yield thing.path
    if thing.is_class:
        for name, member in thing.members.items():
            if not name.startswith("_") and not member.is_alias:
                yield from undocumented(member)
