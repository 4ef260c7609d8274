"""Finds the context that follows each n-gram of a model of text, from the n-grams alone."""

from __future__ import annotations

from typing import Any

from rerank_plugins.kit.backoff.scoring import find_context, look_up
from rerank_plugins.kit.kernels import filling_kernel


@filling_kernel
def link_events(contexts: Any, children: Any, events: Any, levels: Any) -> None:
    """Fill in `next` of all events, shorter n-grams first; a context that is an n-gram must have an event as such.

    What follows h x is what follows h' x, where h' is h without its farthest word, or the context that is longer than
    that by this word, if there is one.
    """
    for level in range(len(levels) - 1):
        for context in range(levels[level], levels[level + 1]):
            for event in range(contexts[context]["events"], contexts[context + 1]["events"]):
                symbol = events[event]["symbol"]
                if level == 0:
                    events[event]["next"] = max(find_context(contexts, children, 0, symbol), 0)
                    continue
                _, shorter = look_up(contexts, events, contexts[context]["parent"], symbol)
                following = events[shorter]["next"]
                if following >= levels[level]:
                    longer = find_context(contexts, children, following, contexts[context]["symbol"])
                    if longer >= 0:
                        following = longer
                events[event]["next"] = following
