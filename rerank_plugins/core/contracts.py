"""What plugins of others must return: a plain check at each place where their values enter the program.

A check calls a method of a plugin, or looks at what one has returned. It gives arrays read-only, and sequences as
tuples, since others read them afterwards. Whatever is wrong becomes a ContractError of one line, which names the plugin
and its owner, the method, the place, and what was found and wanted. Classes of the project are called without checks;
its tests check them.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from numbers import Real
from typing import Any

import numpy as np

from rerank_plugins.core.arrays import FloatArray, read_only
from rerank_plugins.core.constituency_tree import Tree
from rerank_plugins.core.dependency_tree import DependencyTree, tree_fault
from rerank_plugins.core.metrics_and_tuners import Metric, NBestFormat, Rescored, Tuner, TuningData, TuningResult
from rerank_plugins.core.nbest import Hypothesis, NBestList
from rerank_plugins.core.owners import ContractError, calling, fault, is_ours, shown, type_of
from rerank_plugins.core.parse import Parse
from rerank_plugins.core.scored_trees import ScoredTree

ROUNDING = 1e-6  # how far above 0 a logarithm may be for each word
SLACK = 1e-12  # by which rounding may take a weight beyond its bounds
UNFIT = re.compile(r"[\s=]")  # what separates names and values in files of lists and weights


Sentence = Sequence[str]
Fault = Callable[..., ContractError]  # (found, wanted, where)


# --- what was found


def _several(value: object) -> str:
    """What a value in the place of a list is, and how long it is."""
    return f"a {type(value).__name__} of {len(value)}" if isinstance(value, list | tuple) else type_of(value)


def _quoted(sentence: Iterable[object]) -> str:
    return shown(" ".join(map(str, sentence)))


def _array(wrong: Fault, value: Any, shape: tuple[int | None, ...], of: str, where: str = "") -> FloatArray:
    """The value if it is a float64 array of this shape (None: any length); `of` names the axes. A number has none."""
    if isinstance(value, np.float64 | float) and not shape:
        return np.asarray(value, np.float64)
    is_array = isinstance(value, np.ndarray) and value.dtype == np.float64 and value.ndim == len(shape)
    if not is_array or any(there not in (here, None) for here, there in zip(value.shape, shape, strict=True)):
        sizes = ", ".join("any" if length is None else str(length) for length in shape)
        raise wrong(type_of(value), f"a float64 array of shape {of} = ({sizes})", where)
    found: FloatArray = value
    return found


def _finite(wrong: Fault, values: FloatArray, place: Callable[[tuple[int, ...]], str]) -> None:
    """Raise ContractError for the first number that is not finite; `place` says where its index is."""
    if not np.isfinite(values).all():
        at = tuple(map(int, np.argwhere(~np.isfinite(values))[0]))
        raise wrong(str(values[at]), "finite numbers", place(at))


# --- features and language models


def fault_of_components(names: Any) -> str | None:
    """What is wrong with the names of components, and what is wanted; None if nothing is.

    >>> fault_of_components(("total", "per word"))
    "found the component 'per word', wanted names without spaces and ="
    """
    if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names):
        return f"components: found {type_of(names)}, wanted a tuple of texts"
    if not names:
        return 'found no components, wanted one name or more (("",) for a single value without a name)'
    if len(set(names)) < len(names):
        return f"found components {shown(names)}, wanted names that are all different"
    if "" in names and len(names) > 1:
        return f"found components {shown(names)}, wanted a name for each of several values"
    unfit = next((name for name in names if UNFIT.search(name)), None)
    return None if unfit is None else f"found the component {unfit!r}, wanted names without spaces and ="


def checked_scores(model: Any, sentences: Sequence[Sentence], method: str = "score") -> list[FloatArray]:
    """`model.score(sentences)`: for each sentence the ln p of its n words and of `</s>`, n + 1 values of 0 or less."""
    if is_ours(type(model)):
        scores: list[FloatArray] = getattr(model, method)(sentences)
        return scores
    with calling(model, method):
        found = getattr(model, method)(tuple(map(tuple, sentences)))
    wrong = partial(fault, model, method)
    if not isinstance(found, list | tuple) or len(found) != len(sentences):
        raise wrong(_several(found), f"a list of {len(sentences)} arrays, one for each sentence")
    for sentence, values in zip(sentences, found, strict=True):
        _check_logarithms(wrong, values, len(sentence) + 1, f"sentence {_quoted(sentence)}")
    return list(found)


def _check_logarithms(wrong: Fault, value: Any, length: int, where: str) -> None:
    values = _array(wrong, value, (length,), "(words and </s>)", where)
    _finite(wrong, values, lambda at: f"{where}, value {at[0] + 1} of {length}")
    if (values > ROUNDING).any():
        at = int(np.argmax(values))
        raise wrong(f"ln p = {values[at]:g}", "0 or less", f"{where}, value {at + 1} of {length}")


def checked_totals(model: Any, sentences: Sequence[Sentence]) -> FloatArray:
    """`model.totals(sentences)`: (n) the ln p of each sentence, 0 or less."""
    if is_ours(type(model)):
        totals: FloatArray = model.totals(sentences)
        return totals
    with calling(model, "totals"):
        found = model.totals(tuple(map(tuple, sentences)))
    wrong = partial(fault, model, "totals")
    totals = _array(wrong, found, (len(sentences),), "(sentences)")
    _finite(wrong, totals, lambda at: f"sentence {_quoted(sentences[at[0]])}")
    for sentence, ln_p in zip(sentences, totals.tolist(), strict=True):
        if ln_p > ROUNDING * (len(sentence) + 1):
            raise wrong(f"ln p = {ln_p:g}", "0 or less", f"sentence {_quoted(sentence)}")
    return totals


def checked_word_scores(plugin: object, sentences: Sequence[Sentence], found: Any) -> list[FloatArray] | None:
    """What `word_scores` or `word_values` has found: None, or finite numbers for the words, and perhaps their end."""
    if found is None or is_ours(type(plugin)):
        return found  # type: ignore[no-any-return]
    wrong = partial(fault, plugin, "word_scores")
    if not isinstance(found, list | tuple) or len(found) != len(sentences):
        raise wrong(_several(found), f"None, or a list of {len(sentences)} arrays")
    for sentence, values in zip(sentences, found, strict=True):
        where, lengths = f"sentence {_quoted(sentence)}", (len(sentence), len(sentence) + 1)
        if len(_array(wrong, values, (None,), "(words) or (words and </s>)", where)) not in lengths:
            raise wrong(f"{len(values)} values", f"{lengths[0]} or {lengths[1]}", where)
        if not np.isfinite(values).all():
            raise wrong(f"values {shown(values)}", "finite numbers", where)
    return list(found)


# --- parsers


def checked_parses(parser: Any, sentences: Sequence[Sentence]) -> list[Parse]:
    """`parser.parse(sentences)`: one Parse for each sentence, whose trees are trees over exactly its words."""
    if is_ours(type(parser)):
        parses: list[Parse] = parser.parse(sentences)
        return parses
    sentences = tuple(map(tuple, sentences))
    with calling(parser, "parse"):
        found: Any = parser.parse(sentences)
    wrong = partial(fault, parser, "parse")
    if not isinstance(found, list | tuple) or len(found) != len(sentences):
        raise wrong(_several(found), f"a list of {len(sentences)} parses, one for each sentence")
    for words, parse in zip(sentences, found, strict=True):
        where = f"sentence {_quoted(words)}"
        if not isinstance(parse, Parse):
            raise wrong(type_of(parse), "a Parse", where)
        if parse.dependencies is not None:
            _check_dependencies(wrong, parse.dependencies, words, where)
        if not isinstance(parse.constituents, Sequence):
            raise wrong(type_of(parse.constituents), "a sequence of ScoredTrees", where)
        for number, scored in enumerate(parse.constituents, 1):
            here = f"{where}, tree {number} of {len(parse.constituents)}"
            if not isinstance(scored, ScoredTree):
                raise wrong(type_of(scored), "a ScoredTree", here)
            _check_constituents(wrong, scored.tree, words, here)
            if not isinstance(scored.log_probability, float | int) or not math.isfinite(scored.log_probability):
                raise wrong(f"ln p = {scored.log_probability}", "a finite number", here)
    return list(found)


def _check_dependencies(wrong: Fault, tree: Any, words: Sentence, where: str) -> None:
    if not isinstance(tree, DependencyTree):
        raise wrong(type_of(tree), "a DependencyTree or None", where)
    if tuple(tree.words) != words:
        raise wrong(f"a tree over {_quoted(tree.words)}", "a tree over the words of the sentence", where)
    for name, values, lengths in (
        ("heads", tree.heads, (len(words),)),
        ("relations", tree.relations, (len(words),)),
        ("tags", tree.tags, (0, len(words))),
    ):
        if not isinstance(values, tuple) or len(values) not in lengths:
            wanted = f"a tuple of {' or '.join(map(str, lengths))}"
            raise wrong(f"{name} that are {_several(values)}", wanted, where)
    for word, head in enumerate(tree.heads):
        if not isinstance(head, int) or isinstance(head, bool):
            raise wrong(f"{type_of(head)} as the head of word {word}", "the number of a word, or -1", where)
    if words and (cause := tree_fault(tree.heads)):
        wanted = f"a tree: {cause.text} (words are counted from 1)"
        raise wrong(f"heads {_quoted(tree.heads)}", wanted, where)
    if not all(isinstance(name, str) for name in (*tree.relations, *tree.tags)):
        raise wrong("relations or tags that are no texts", "texts", where)


def _check_constituents(wrong: Fault, tree: Any, words: Sentence, where: str) -> None:
    """Check that a tree consists of trees, with a label each, down to the words of the sentence in their order."""
    if not isinstance(tree, Tree):
        raise wrong(type_of(tree), "a Tree", where)
    found: list[str] = []
    todo: list[Any] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, str):
            found.append(node)
            continue
        if not isinstance(node, Tree) or not isinstance(node.label, str):
            raise wrong(type_of(node), "a Tree with a label, or a word", where)
        children = node.children
        if not isinstance(children, tuple) or not children:
            raise wrong(f"{node.label} without children in a tuple", "a word, or one tree or more", where)
        if any(isinstance(child, str) for child in children) and len(children) > 1:
            raise wrong(f"{node.label} over a word and more", "a tag over one word, or a phrase of trees", where)
        if len(found) + len(todo) > len(words):  # each of them is over a word
            raise wrong("a tree over more words", f"a tree over the {len(words)} of the sentence", where)
        todo.extend(children[::-1])
    if tuple(found) != words:
        raise wrong(f"a tree over {_quoted(found)}", "a tree over the words of the sentence", where)


# --- metrics and tuners


def checked_statistics(
    metric: Metric, hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[str]]
) -> FloatArray:
    """`metric.statistics(hypotheses, references)`: (rows, S), a row for each hypothesis of all segments, all finite.

    The scores of these rows must be finite as well: (rows).
    """
    if is_ours(type(metric)):
        with calling(metric, "statistics"):
            return metric.statistics(hypotheses, references)
    hypotheses, references = tuple(map(tuple, hypotheses)), tuple(map(tuple, references))
    with calling(metric, "statistics"):
        found: Any = metric.statistics(hypotheses, references)
    ends = list(accumulate(map(len, hypotheses)))
    wrong = partial(fault, metric, "statistics")
    rows = _array(wrong, found, (sum(map(len, hypotheses)), None), "(hypotheses, statistics)")
    _finite(wrong, rows, lambda at: f"row {at[0]} (segment {bisect_right(ends, at[0]) + 1} of {len(ends)})")
    for method in (metric.score, metric.sentence_scores):
        name = method.__name__
        with calling(metric, name):
            scores: Any = method(read_only(rows))
        wrong = partial(fault, metric, name)
        found = _array(wrong, scores, (len(rows),), "(rows)")
        _finite(wrong, found, lambda at: f"row {at[0]} of {len(rows)}")
    return rows


def checked_tuning(
    tuner: Tuner, data: TuningData, start: FloatArray, rng: np.random.Generator, *report: Any
) -> TuningResult:
    """`tuner.tune(data, start, rng, report)`: finite weights, which keep to the constraints (for "map")."""
    if is_ours(type(tuner)):
        with calling(tuner, "tune"):
            return tuner.tune(data, start, rng, *report)
    arrays: dict[str, Any] = {n: read_only(getattr(data, n)) for n in ("statistics", "fixed", "lower", "upper")}
    table = replace(data.table, values=read_only(data.table.values))
    texts = tuple(map(tuple, data.hypotheses))
    with calling(tuner, "tune"):
        result: Any = tuner.tune(replace(data, table=table, hypotheses=texts, **arrays), read_only(start), rng, *report)
    wrong = partial(fault, tuner, "tune")
    if not isinstance(result, TuningResult):
        raise wrong(type_of(result), "a TuningResult")
    names = data.table.all_names
    weights = _array(wrong, result.weights, (len(names),), "(features)", "weights")
    _finite(wrong, weights, lambda at: f"weights, feature {names[at[0]]!r}")
    if result.decision not in ("map", "mbr"):
        raise wrong(f"decision {shown(result.decision)}", "'map' or 'mbr'")
    for name, wanted, is_right in (
        ("score", "a finite number", math.isfinite),
        ("scale", "a number above 0", lambda scale: math.isfinite(scale) and scale > 0),
        ("margin", "a number of 0 or more", lambda margin: margin >= 0),
        ("evidence", "a whole number of 0 or more", lambda evidence: isinstance(evidence, int) and evidence >= 0),
    ):
        value = getattr(result, name)
        if not isinstance(value, int | float) or isinstance(value, bool) or not is_right(value):
            raise wrong(f"{name} {shown(value)}", wanted)
    if not isinstance(result.notes, tuple) or not all(isinstance(note, str) for note in result.notes):
        raise wrong(f"notes {shown(result.notes)}", "a tuple of texts")
    if result.decision == "map":
        _check_constraints(wrong, weights, start, data)
    return result


def _check_constraints(wrong: Fault, weights: FloatArray, start: FloatArray, data: TuningData) -> None:
    names = data.table.all_names
    moved = data.fixed & (weights != start)
    if moved.any():
        at = int(np.argmax(moved))
        raise wrong(f"{weights[at]:g} for the fixed feature {names[at]!r}", f"its start value {start[at]:g}")
    outside = ~data.fixed & ((weights < data.lower - SLACK) | (weights > data.upper + SLACK))
    if outside.any():
        at = int(np.argmax(outside))
        bounds = f"a number in [{data.lower[at]:g}, {data.upper[at]:g}]"
        raise wrong(f"{weights[at]:g} for the feature {names[at]!r}", bounds)


# --- formats


def checked_lists(format: NBestFormat, lists: Callable[[], Iterable[NBestList]]) -> Iterator[NBestList]:
    """Yield the lists that a format reads, `lists()`: each has an id and a hypothesis, and all values have their types.

    An id does not come twice in a row.
    """
    if is_ours(type(format)):
        yield from lists()
        return
    number, before, end = 0, "", object()
    with calling(format, "read"):
        rest = iter(lists())
    while True:
        with calling(format, "read"):
            nbest: Any = next(rest, end)
        if nbest is end:
            return
        number += 1
        wrong = partial(fault, format, "read")
        if not isinstance(nbest, NBestList):
            raise wrong(type_of(nbest), "an NBestList", f"list {number}")
        if not nbest.segment_id:
            raise wrong("an empty id of a segment", "a text", f"list {number}")
        where = f"segment {nbest.segment_id}"
        if before == nbest.segment_id:
            raise wrong("two lists in a row", "one list of all hypotheses", where)
        before = nbest.segment_id
        _check_list(wrong, nbest, where)
        yield nbest


def _check_list(wrong: Fault, nbest: NBestList, where: str) -> None:
    if not len(nbest.hypotheses):
        raise wrong("a list without hypotheses", "one hypothesis or more", where)
    names = nbest.feature_names
    if not isinstance(names, tuple) or not all(isinstance(name, str) and name for name in names):
        raise wrong(f"feature names {shown(names)}", "a tuple of texts", where)
    if len(set(names)) < len(names):
        raise wrong(f"feature names {shown(names)}", "names that are all different", where)
    for row, hypothesis in enumerate(nbest.hypotheses):
        _check_hypothesis(wrong, hypothesis, names, f"{where}, hypothesis {row}")


def _check_hypothesis(wrong: Fault, hypothesis: Hypothesis, names: tuple[str, ...], where: str) -> None:
    for field in ("text", "raw"):
        if not isinstance(text := getattr(hypothesis, field), str):
            raise wrong(f"{field} {shown(text)}", "a text (str)", where)
    values = hypothesis.features
    if not isinstance(values, tuple) or len(values) != len(names):
        raise wrong(f"features that are {_several(values)}", f"a tuple of {len(names)} numbers", where)
    if not isinstance(hypothesis.sparse, Mapping):
        raise wrong(f"sparse features {shown(hypothesis.sparse)}", "numbers by name", where)
    numbers: list[tuple[str, Any]] = [(f"feature {name!r}", value) for name, value in zip(names, values, strict=True)]
    numbers += [(f"sparse feature {name!r}", value) for name, value in hypothesis.sparse.items()]
    numbers += [] if hypothesis.score is None else [("score", hypothesis.score)]
    for name, value in numbers:
        if not isinstance(value, Real) or not math.isfinite(value):
            raise wrong(shown(value), "a finite number (float)", f"{where}, {name}")


def checked_lines(format: NBestFormat, nbest: NBestList, rescored: Rescored | None = None) -> list[str]:
    """The lines that a format writes for a list."""
    with calling(format, "write"):
        lines: list[Any] = list(format.write(nbest, rescored))
    if other := [line for line in lines if not isinstance(line, str)]:
        raise fault(format, "write", type_of(other[0]), "a line of text (str)", f"segment {nbest.segment_id}")
    return lines
