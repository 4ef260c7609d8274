"""`rerank ground`: prints what the words of a sentence refer to in a world."""

from __future__ import annotations

from pathlib import Path

import click

from rerank_adapters.commands.closing import Closing, counted
from rerank_adapters.commands.options import output_option
from rerank_plugins import ConfigError


@click.command("ground")
@click.argument("text", default="-")
@click.option("-w", "--world", type=Path, required=True, metavar="FILE",
              help="World model: TOML, JSON, a table of a taxonomy (CSV), or RDF.")  # fmt: skip
@click.option("-g", "--grammar", type=Path, required=True, metavar="FILE",
              help="Grammar whose expressions name relations of the world.")  # fmt: skip
@click.option("--context", metavar="NAME", help="Individual, concept or property that the sentences are about.")
@click.option("--description", type=click.Choice(["uniform", "informative", "sizes"]), default="informative",
              show_default=True, help="How probable a speaker's choice of a relation is.")  # fmt: skip
@click.option("--depth", type=click.IntRange(1), default=6, show_default=True, help="Levels of a hypothesis.")
@click.option("--beam", type=click.IntRange(0), default=1000, show_default=True,
              help="Hypotheses kept after each word; 0: all.")  # fmt: skip
@click.option("--tree", is_flag=True, help="Print the tree of each sentence and its final referent instead.")
@click.option("--layout", type=click.Choice(["tsv", "json"]), default="tsv", show_default=True,
              help="Print a line for each word, or a JSON object for each sentence.")  # fmt: skip
@click.option("--most", type=click.IntRange(0), default=5, show_default=True, metavar="N",
              help="Members of a referent that are shown; 0: all.")  # fmt: skip
@output_option("Where to write the referents.")
def command(
    text: str, world: Path, grammar: Path, context: str | None, description: str, depth: int, beam: int, tree: bool,
    layout: str, most: int, output: Path,
) -> None:  # fmt: skip
    """Show what the words of a TEXT refer to.

    Show, word by word, what the sentences of a TEXT (tokenised, one sentence per line) refer to in a world.

    The referents are those of the best hypothesis of the referential semantic language model: the set of individuals of
    the deepest constituent after each word, those of the constituents around it (`levels`), and in the last row,
    `</s>`, the referent of the sentence. `⊤` is the set of all individuals, `∅` the empty set, `{sports …}` a concept
    of a taxonomy with all below it. A word that cannot be read has no referent and changes none.

    \b
    echo 'the largest executable' | rerank ground -w files.toml -g files.grammar
    rerank ground said.txt -w activities.csv -g directives.grammar --tree
    rerank ground said.txt -w people.ttl -g talk.grammar --context ann
    """  # noqa: D301
    from rerank_adapters.applications.referential.grounding import as_json, as_table, as_trees, ground_lines
    from rerank_adapters.runtime.progress import CountingBar
    from rerank_plugins.kit.files.text import open_atomic, open_text
    from rerank_plugins.referential.language_model import ReferentialLanguageModel

    closing = Closing()
    if tree and layout == "json":
        raise ConfigError("give one of --tree and --layout json, whose objects have the tree as well")
    options = {"context": context, "description": description, "beam": beam, "depth": depth}
    model = ReferentialLanguageModel(world=world, grammar=grammar, **options).model  # type: ignore[arg-type]
    write = as_trees if tree else as_json if layout == "json" else as_table
    with open_text(text) as lines, open_atomic(output) as out, CountingBar("sentences grounded") as bar:
        out.writelines(write(model, bar.over(ground_lines(model, lines)), most))
    closing.wrote(f"the referents of {counted(bar.done, 'sentence')}", output)
