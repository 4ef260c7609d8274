"""The examples in the documentation of the functions of the Python API print what they say."""

import doctest
from importlib import import_module

import pytest

import rerank_adapters
from rerank_adapters import _MODULES


@pytest.mark.parametrize("module", sorted({"rows", "data.given_texts", *_MODULES.values()}))
def test_examples(module):
    assert not doctest.testmod(import_module(f"rerank_adapters.{module}")).failed


@pytest.mark.parametrize("name", _MODULES)
def test_every_function_has_one(name):
    assert ">>> " in getattr(rerank_adapters, name).__doc__
    assert name in dir(rerank_adapters)
