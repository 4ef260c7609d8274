"""`rerank surface-trees`: the trees of a treebank over the tokens that text has, contractions joined."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.closing import Closing
from rerank_adapters.commands.options import output_option
from rerank_adapters.runtime.progress import CountingBar, counted
from rerank_plugins.kit.files.text import open_atomic, open_text


@click.command("surface-trees")
@click.argument("paths", nargs=-1, required=True, metavar="FILE...")
@click.option("--every", type=click.IntRange(2), metavar="N", help="Write only every Nth tree, to test models on.")
@click.option("--except-every", type=click.IntRange(2), metavar="N", help="Write the other trees, to train them on.")
@output_option("Write the trees to this file.")
def command(paths: tuple[str, ...], every: int | None, except_every: int | None, output: Path) -> None:
    """Write the trees of a treebank over the tokens of text.

    FILEs are CoNLL-U, compressed or not. Treebanks split contractions into words: German `im` is `in dem`, French `du`
    is `de le`. Text has the contractions, and so have n-best lists. Here the words of each multiword token become one
    word with the form of the token, the head, relation, tags and features of its word nearest the root, and the
    dependents of all its words.

    \b
    rerank surface-trees gsd.conllu.xz pud.conllu.xz -o german.conllu
    rerank train dependency-parser german.conllu text.de --language de -o german.npz
    rerank surface-trees gsd.conllu.xz --except-every 5 -o train.conllu
    rerank surface-trees gsd.conllu.xz --every 5 -o dev.conllu
    """  # noqa: D301
    from rerank_plugins.kit.trees.surface_tokens import surface_sentences

    closing = Closing()
    if every and except_every:
        raise click.UsageError("give either --every or --except-every, not both")
    read = written = 0
    with open_atomic(output) as out, CountingBar("trees") as bar:
        for path in paths:
            with open_text(path) as lines:
                for sentence in surface_sentences(lines, path):
                    read += 1
                    if (every and read % every) or (except_every and not read % except_every):
                        continue
                    out.writelines(f"{line}\n" for line in [*sentence, ""])
                    written += 1
                    bar.add(1)
    closing.wrote(counted(written, "tree"), output)
