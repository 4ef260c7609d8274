"""Reports the training of language models of trees: the corpus, and how well the model predicts other trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerank_adapters.applications.training.memory_options import memory_line
from rerank_adapters.applications.training.reports import say
from rerank_adapters.commands.closing import counted
from rerank_adapters.runtime.progress import CountingBar

if TYPE_CHECKING:
    from rerank_adapters.applications.training.tree_source import AnyTree, TreeSource
    from rerank_plugins.kit.workspace import Workspace


def say_corpus(source: TreeSource[AnyTree], provenance: Mapping[str, Any], sizes: str, workspace: Workspace) -> None:
    """Print how many trees and words a model was trained on, how many were parsed, its `sizes`, and the memory used."""
    parsed = f" ({source.counts})" if source.counts.sentences else ""
    say(f"{counted(provenance['trees'], 'tree')}{parsed}, {counted(provenance['words'], 'word')}, {sizes}")
    say(memory_line(workspace))


def say_held_out(
    source: TreeSource[AnyTree], paths: Sequence[Path], evaluate: Callable[[Iterable[AnyTree]], object]
) -> None:
    """Print for each file the text that `evaluate` returns for its trees."""
    for path in paths:
        with CountingBar("held-out trees") as bar:
            source.seen = bar.add
            result = evaluate(source.trees([path]))
        say(f"{path}: {result}")
