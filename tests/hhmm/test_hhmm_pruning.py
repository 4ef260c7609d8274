"""What the HHMM's beam and threshold leave of a step, and the parts of its search by themselves, as plain Python."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rerank_plugins.hhmm.model import HhmmModel
from rerank_plugins.hhmm.recombination import STORE, best_rows
from rerank_plugins.hhmm.successors import EXPONENTS, HIGHEST, empty_memo, fillers, openers
from tests.hhmm.naive_hhmm import random_grammar
from tests.hhmm.test_hhmm import EXACT, read, stores_of


@pytest.mark.parametrize("seed", [1, 2, 8])
def test_what_a_step_prunes_is_improbable(seed):
    """From the same 30 stores, of the 300 after the word: most of the probability is that of few stores."""
    exact = HhmmModel(random_grammar(seed), 3, **EXACT)
    before = read(exact, ["w0", "w1"])[1][-1]
    ln_p, whole = exact._step(before, "w2", 2)
    p = stores_of(whole, ln_p)
    assert (len(before), len(whole)) == (30, 300)

    ln_q, beam = replace(exact, beam=5, shared_tables=exact.tables)._step(before, "w2", 2)
    assert 0.85 < math.exp(ln_q - ln_p) < 1
    assert (len(beam), beam.best) == (5, whole.best)

    ln_q, beam = replace(exact, threshold=1e-3, shared_tables=exact.tables)._step(before, "w2", 2)
    assert 0.95 < math.exp(ln_q - ln_p) < 1
    assert 30 < len(beam) < 60
    kept = stores_of(beam, ln_q)
    assert max(value for store, value in p.items() if store not in kept) < 3e-3 * max(p.values())
    assert sum(abs(value - p[store]) for store, value in kept.items()) < 0.05 * math.exp(ln_p)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12), st.integers(0, 13))
@settings(max_examples=30)
def test_the_best_rows_are_the_first_of_the_sorted_ones(totals, most):
    """Of equals the earlier row; if they need not be in order, the last of them comes first."""
    stores, rows = np.zeros(len(totals), STORE).view(np.recarray), np.full(len(totals), -1)
    stores.total = totals
    wanted = sorted(range(len(totals)), key=lambda row: (-totals[row], row))[: most or None]
    assert best_rows(stores, len(totals), most, rows, True) == len(wanted)
    assert rows[: len(wanted)].tolist() == wanted
    assert best_rows(stores, len(totals), most, rows, False) == len(wanted)
    assert sorted(rows[: len(wanted)].tolist()) == sorted(wanted)
    assert rows[0] == wanted[-1]


@pytest.mark.parametrize("seed", [1, 3])
def test_lists_of_rules_by_definition(seed):
    """Each list is made once; in that of openers, a weight is less than twice any before it."""
    tables = HhmmModel(random_grammar(seed), 2, **EXACT).tables
    grammar, rules, memory = tables.grammar, tables.rules, empty_memo(tables.most)
    closure = {
        (b, int(rules.nodes[f])): rules.filling[f]
        for b in range(grammar.size)
        for f in range(rules.filled[b], rules.filled[b + 1])
    }
    of_left = {p: [] for p in range(grammar.size)}  # (parent, right, p, number) of each rule by its left child
    for number, rule in enumerate(tables.numbers.tolist()):
        parent, left, right = grammar.binary[rule].tolist()
        of_left[left].append((parent, right, math.exp(grammar.binary_logp[rule]), number))

    def listed(memory, first, after):
        entries = memory.entries[first:after]
        return {(int(r), int(e) >> 16, int(e) & 0xFFFF): w for r, e, w in entries.tolist()}

    with np.errstate(over="ignore"):  # hashes of integers
        for p, b in product(of_left, np.arange(grammar.size)):
            wanted = {(n, a, c): q * closure[b, a] for a, c, q, n in of_left[p] if (b, a) in closure}
            places = fillers(memory, rules, b, p)
            assert listed(memory, *places) == pytest.approx(wanted)
            assert fillers(memory, rules, b, p) == places
        for p, d, word in product(of_left, (1, 2), ("w0", "w1")):
            emission = tables.emission(word, 1)
            wanted = {(n, a, c): q * emission.ahead[d, c] for a, c, q, n in of_left[p] if emission.ahead[d, c] > 0}
            places = openers(memory, rules, emission, d, p)
            found = listed(memory, *places)
            assert found == pytest.approx(wanted)
            weights = list(found.values())
            assert all(w < 2 * min(weights[:i]) for i, w in enumerate(weights) if i)
            assert openers(memory, rules, emission, d, p) == places
        # Weights below the smallest exponent are in one bucket, the last but that of zeros.
        tiny = rules._replace(p=rules.p * np.where(np.arange(len(rules.p)) % 2, 1e-60, 1.0))
        memory = empty_memo(tables.most)
        for p, word in product(of_left, ("w0", "w1")):
            emission = tables.emission(word, 1)
            wanted = {
                (n, a, c): tiny.p[n] * emission.ahead[1, c] for a, c, _, n in of_left[p] if emission.ahead[1, c] > 0
            }
            found = listed(memory, *openers(memory, tiny, emission, 1, p))
            assert found == pytest.approx(wanted, rel=1e-9, abs=0)
            exponents = [max(math.frexp(weight)[1], HIGHEST - EXPONENTS + 2) for weight in found.values()]
            assert exponents == sorted(exponents, reverse=True)
