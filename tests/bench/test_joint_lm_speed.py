"""The joint model on a list: equal contexts of its hypotheses are computed once."""

import numpy as np
import pytest

from rerank_plugins.translation.joint_model import JointModel, Numbering
from tests.bench.timing import seconds

WORDS, PLACES, EMBEDDING, HIDDEN = 8000, 7, 32, 64
GENERATOR = np.random.default_rng(1)
SOURCE = " ".join(f"f{i}" for i in range(12))
PHRASES = [[" ".join(f"e{w}" for w in GENERATOR.integers(0, WORDS, 3)) for _ in range(2)] for _ in range(4)]
LIST = sorted(
    {" ".join(phrases[i] for phrases, i in zip(PHRASES, bits, strict=True)) for bits in np.ndindex(2, 2, 2, 2)}
)
AFFILIATED = [np.arange(12) for _ in LIST]


@pytest.fixture(scope="module")
def model():
    numbering = Numbering(tuple(f"f{i}" for i in range(12)), tuple(f"e{i}" for i in range(WORDS)), 2, 2, lowercase=True)
    shapes = (numbering.symbols, EMBEDDING), (PLACES * EMBEDDING, HIDDEN), (HIDDEN,), (numbering.outputs, HIDDEN)
    weights = [GENERATOR.standard_normal(shape, np.float32) for shape in (*shapes, (numbering.outputs,))]
    return JointModel(numbering, *weights)


def together(model):
    return model.ln_p(model.numbering.contexts([(SOURCE, LIST, AFFILIATED)]))


def apart(model):
    pairs = zip(LIST, AFFILIATED, strict=True)
    return np.concatenate([model.ln_p(model.numbering.contexts([(SOURCE, [e], [places])])) for e, places in pairs])


def test_a_list(benchmark, model):
    benchmark(together, model)


@pytest.mark.slow
def test_a_list_costs_less_than_its_hypotheses(model):
    assert together(model) == pytest.approx(apart(model), abs=1e-3)
    assert seconds(lambda: apart(model), 3) > 1.5 * seconds(lambda: together(model), 3)
