"""How many sentences of a system's output have a subject that disagrees with its verb, and which.

Each output is NAME=FILE, with a sentence a line. A grammar of English parses the sentences, and the feature `number`
finds the disagreements in the trees (rerank_plugins/kit/trees/agreement.py). A parser errs, so that the numbers are for
comparison alone; and a grammar with features prefers trees without disagreements, so that `--model` should be one
without them. After the table come sentences in which the last output has a disagreement and the first has none, or the
other way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from docs.results.scripts.experiment import experiment
from rerank_adapters.text import TextPipeline
from rerank_adapters.texts.reading import read_lines
from rerank_plugins import ConfigError
from rerank_plugins.constituency.parser import PcfgParser
from rerank_plugins.kit.trees.agreement import Disagreement, disagreements


def found_in(texts: Sequence[str], parser: PcfgParser, steps: Sequence[str]) -> list[list[Disagreement]]:
    """The disagreements of each text; distinct texts are parsed once."""
    sentences = [tuple(text.split()) for text in TextPipeline(steps).apply(list(texts))]
    distinct = [sentence for sentence in dict.fromkeys(sentences) if sentence]
    of = {
        sentence: list(disagreements(parse.tree)) if parse.tree else []
        for sentence, parse in zip(distinct, parser.parse(distinct), strict=True)
    }
    return [of.get(sentence, []) for sentence in sentences]


@experiment("agreement_errors", __doc__)
@click.argument("outputs", nargs=-1, required=True, metavar="NAME=FILE...")
@click.option(
    "--model",
    type=click.Path(exists=True, path_type=Path),
    help="Another grammar than the embedded one.",
)
@click.option(
    "--text", "steps", default="penn-tokenize", help="The text steps, separated by commas; none for no steps."
)
@click.option("--show", type=click.IntRange(0), default=10, help="Sentences that are shown.")
def main(outputs: tuple[str, ...], model: Path | None, steps: str, show: int) -> None:
    """Print a row for each output, then examples."""
    named = dict(output.partition("=")[::2] for output in outputs)
    texts = {name: read_lines(Path(path)) for name, path in named.items()}
    if len(set(map(len, texts.values()))) > 1:
        raise ConfigError(
            f"the outputs have different numbers of lines: {', '.join(map(str, map(len, texts.values())))}"
        )
    chosen = () if steps == "none" else tuple(steps.split(","))
    found = {name: found_in(lines, PcfgParser(model=model), chosen) for name, lines in texts.items()}
    print("| output | sentences | with a disagreement | per cent |\n| --- | ---: | ---: | ---: |")
    for name, each in found.items():
        count = sum(map(bool, each))
        print(f"| {name} | {len(each)} | {count} | {100 * count / len(each):.1f} |")
    first, *_, last = named if len(named) > 1 else (*named, *named)
    differ = [i for i, (one, two) in enumerate(zip(found[first], found[last], strict=True)) if bool(one) != bool(two)]
    for i in differ[:show]:
        print(f"\nsentence {i}")
        for name in (first, last):
            errors = "; ".join(f"{' '.join(each.subject)} / {' '.join(each.predicate)}" for each in found[name][i])
            print(f"  {name}: {texts[name][i]}" + (f"   [{errors}]" if errors else ""))


if __name__ == "__main__":
    main()
