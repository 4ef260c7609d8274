"""Samples for the checks, and what all of them share."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import ParamSpec

import numpy as np

from rerank_plugins.core.arrays import FloatArray
from rerank_plugins.core.nbest import Hypothesis, NBestList
from rerank_plugins.core.owners import ContractError
from rerank_plugins.core.plugins import fault_of_options

P = ParamSpec("P")


SENTENCES = (
    "the cat sat on the mat .",
    "the cat sat on mat the .",
    "a dog , it seems , barked",
    "ünknown wörds 42 !",
    "",
    "the",
    'He said ( quietly ) : " zzyzx ! "',
    "`` Zzyzx , '' he said -LRB- quietly -RRB- [ -lsb-",
)


def assertions(check: Callable[P, None]) -> Callable[P, None]:
    """The check, in which what the interfaces say of a value that breaks a promise is an AssertionError too."""

    @functools.wraps(check)
    def checking(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            check(*args, **kwargs)
        except ContractError as error:
            raise AssertionError(str(error)) from error

    return checking


def sample_nbest(texts: Sequence[str] = SENTENCES, segment_id: str = "0") -> NBestList:
    """A small n-best list that has features, totals, a source and a context.

    By default its hypotheses include an empty one, a repeated one, unknown words, capitals, and brackets and quotation
    marks in several spellings; other `texts` may be given (one or more), of which the first is repeated at the end.
    """
    hypotheses = tuple(
        Hypothesis(text, (-float(len(text.split())), 0.5 * row), -1.0 - row, {"rule_7": 1.0} if row % 2 else {})
        for row, text in enumerate((*texts, texts[0]))
    )
    names, source = ("WordPenalty0", "LM0"), "die Katze saß auf der Matte ."
    return NBestList(segment_id, hypotheses, names, source, "a cat sat .", rows=range(len(hypotheses)))


def check_options(kind: str, plugin: object) -> None:
    """Check that no option has the name of a key that all tables of this kind have."""
    names = [field.name for field in dataclasses.fields(plugin)] if dataclasses.is_dataclass(plugin) else []
    fault = fault_of_options(kind, names)
    assert fault is None, fault


def check_equal(values: FloatArray, wanted: FloatArray, message: str, tolerance: float) -> None:
    """Fail with the message where values differ by more than the tolerance; 0: by more than nothing."""
    np.testing.assert_allclose(values, wanted, tolerance, tolerance, err_msg=message)
