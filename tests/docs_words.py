"""Counts phrasings that a technical editor would change, page by page: `python -m tests.docs_words [PAGE…]`.

Only prose counts: code, tables and headings are left out. `--verbs` also counts sentences without a verb, which the
embedded parser finds. `--show PATTERN` prints the sentences with one of the patterns.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parent.parent
PATTERNS = {
    "semicolon": r";",
    "that of": r"\b(that|those) of\b",
    "where": r"(?:^|(?<=[.;,:(]\s))[Ww]here\b",  # at the head of a clause, for `if` or `when`
    "what": r"(?:^|(?<=[.;,:(]\s))[Ww]hat\b(?! [a-z]+\?)|\b(with|of|by|from|than|to|as|and) what\b",
    "alone": r"\balone\b",
    "beside": r"\bbeside\b",
    "made": r"\b(made|makes?|making)\b",
    "has +N": r"\b(has|have|had) [+−-]?\d",
    "so many": r"\bso many\b",
    "of its own": r"\bof (its|their) own\b",
    "stands": r"\bstands?\b",
    "in place of": r"\bin (the )?place of\b",
    "a line": r"\b(words|sentences|segments?|lists?|jobs?|MB) an? (line|sentence|list|set|core|job|feature|file)\b",
    "pays": r"\b(pays?|brings?|is worth)\b",
    "former": r"\b(former|formerly|earlier|no longer|newer)\b",
}
ABBREVIATIONS = re.compile(r"\b(et al|e\.g|i\.e|Fig|cf|vs|approx)\.$")


def prose(page: str) -> str:
    """The paragraphs and list items of a page of Markdown, one on each line."""
    page = re.sub(r"^```.*?^```$", "", page, flags=re.S | re.M)
    page = re.sub(r"<!--.*?-->", "", page, flags=re.S)
    kept: list[str] = []
    fresh = True
    for line in page.splitlines():
        indented_code = line.startswith("    ") and (fresh or not kept)
        if not line.strip() or line.startswith(("|", "#")) or indented_code:
            fresh = True
            continue
        item = re.match(r"\s*(?:[-*]|\d+\.) ", line)
        if item or fresh or not kept:
            kept.append(line[item.end() if item else 0 :].strip())
        else:
            kept[-1] += " " + line.strip()
        fresh = False
    text = "\n".join(kept)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`\n]*`", "CODE", text)
    return re.sub(r"\*\*|<[^>]*>", "", text)


def sentences(text: str) -> list[str]:
    """The sentences of prose; a line end ends one."""
    found: list[str] = []
    for paragraph in text.splitlines():
        parts: list[str] = []
        for part in re.split(r"(?<=[.?!])\s+(?=[A-Z(“])", paragraph):
            if parts and ABBREVIATIONS.search(parts[-1]):
                parts[-1] += " " + part
            else:
                parts.append(part)
        found += [part for part in parts if part]
    return found


def counts(page: str) -> dict[str, int]:
    """How often each pattern occurs in the prose of a page, and its number of `words`."""
    text = prose(page)
    found = {name: len(re.findall(pattern, text, re.M)) for name, pattern in PATTERNS.items()}
    return {"words": len(text.split()), **found}


def without_verb(texts: list[str]) -> list[str]:
    """The sentences of three words or more in which the embedded parser tags no word as a verb or auxiliary."""
    from rerank_adapters import load
    from rerank_adapters.text.penn_tokens import penn_tokenize

    candidates = [text for text in texts if len(text.split()) > 2]
    parses = load("english", "parser").parse([penn_tokenize(text).split() for text in candidates])
    return [
        text
        for text, parse in zip(candidates, parses, strict=True)
        if parse.dependencies is not None and not {"VERB", "AUX"} & set(parse.dependencies.tags)
    ]


@click.command()
@click.argument("pages", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--verbs", is_flag=True, help="Also count sentences without a verb.")
@click.option("--show", type=click.Choice([*PATTERNS, "no verb"]), help="Print the sentences with this pattern.")
def main(pages: tuple[Path, ...], verbs: bool, show: str | None) -> None:
    """Print the counts of PAGES (default: docs/ without results) as a table, the page with most per word first."""
    chosen = pages or tuple(path for path in sorted((ROOT / "docs").rglob("*.md")) if path.parent.name != "results")
    names = [*PATTERNS, *(["no verb"] if verbs else [])]
    rows = []
    for path in chosen:
        page = path.read_text(encoding="utf-8")
        row = counts(page)
        if verbs or show == "no verb":
            bare = without_verb(sentences(prose(page)))
            row["no verb"] = len(bare)
        if show:
            found = bare if show == "no verb" else [
                text for text in sentences(prose(page)) if re.search(PATTERNS[show], text)
            ]  # fmt: skip
            for text in found:
                click.echo(f"{path.name}: {text}")
        rows.append((sum(row[name] for name in names) / max(1, row["words"]), path, row))
    if show:
        return
    click.echo("page\twords\tper 1000\t" + "\t".join(names))
    for rate, path, row in sorted(rows, key=lambda each: -each[0]):
        click.echo(f"{path.name}\t{row['words']}\t{1000 * rate:.0f}\t" + "\t".join(str(row[name]) for name in names))


if __name__ == "__main__":
    sys.exit(main())
