"""The identity of objects: equal for equal results, and different whenever results may differ."""

import subprocess
import sys
import textwrap
from dataclasses import dataclass

import numpy as np
import pytest

from rerank_plugins import PluginError, option
from rerank_plugins.core.identity import constructor_call, describe, identity, package_hash, path_hash
from rerank_plugins.core.loader import load_plugins
from rerank_plugins.lists.length import LengthFeature


class Plain:
    """An object that is no dataclass."""

    def __init__(self, value):
        self.value = value


def test_plain_values_arrays_and_objects():
    assert identity((1, 2.5, None, True, {"k": "v"})) == identity([1, 2.5, None, True, {"k": "v"}])
    assert identity({"b", "a"}) == identity({"a", "b"}) != identity({"a"})
    assert identity(1) != identity(1.5) != identity("1")
    assert identity(np.arange(3)) != identity(np.arange(3.0))
    assert identity(Plain(1)) == identity(Plain(1)) != identity(Plain(2))
    assert identity(LengthFeature()) == identity(LengthFeature())
    with pytest.raises(PluginError, match="cannot be sent"):
        identity(lambda: 1)


def test_files_and_folders_count_by_their_content(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "f").write_text("x")
    (tmp_path / "copy").write_text("x")
    assert identity(tmp_path / "d" / "f") == identity(tmp_path / "copy")
    before = identity(tmp_path / "d")
    (tmp_path / "d" / "f").write_text("yz")
    assert identity(tmp_path / "d") != before
    assert path_hash(tmp_path / "none") is None


def test_what_cannot_be_read_has_another_identity_in_each_process(tmp_path):
    code = f"from pathlib import Path; from rerank_plugins.core.identity import identity; print(identity(Path({str(tmp_path / 'no')!r})))"
    seen = {subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout for _ in range(2)}
    assert len(seen) == 2


def test_options_that_change_no_results_do_not_count():
    @dataclass
    class Batched:
        model: str = option("a", doc="the model")
        batch: int = option(8, doc="sentences of a batch", changes_results=False)

    assert identity(Batched(batch=9)) == identity(Batched())
    assert identity(Batched(model="b")) != identity(Batched())


def test_a_class_in_a_function_is_told_from_another_of_the_same_name():
    def made(number):
        class Local:
            def __init__(self, times):
                self.times = times

            def value(self):
                return number * self.times

        return Local

    first, second = made(1), made(2)
    assert identity(first(2)) == identity(first(2)) != identity(first(3))
    assert identity(first(2)) != identity(second(2))


def test_a_package_counts_with_its_code_and_its_data(tmp_path, monkeypatch):
    package = tmp_path / "package_of_a_test"
    package.mkdir()
    (package / "__init__.py").write_text("from package_of_a_test import part\n")
    (package / "part.py").write_text("A = 1\n")
    (package / "model").write_bytes(bytes(100_000))
    monkeypatch.syspath_prepend(tmp_path)
    __import__("package_of_a_test")

    def hashed():
        package_hash.cache_clear()
        return package_hash("package_of_a_test")

    first = hashed()
    (package / "__pycache__").mkdir(exist_ok=True)
    (package / "__pycache__" / "left.pyc").write_bytes(b"x")
    assert hashed() == first
    (package / "part.py").write_text("A = 2\n")
    second = hashed()
    assert second != first
    (package / "model").write_bytes(bytes(99_999) + b"x")
    assert hashed() not in (first, second)
    package_hash.cache_clear()


def test_a_plugin_file_counts_with_the_modules_beside_it(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "beside_a_plugin.py").write_text("FACTOR = 1\n")
    plugin = tmp_path / "counting.py"
    plugin.write_text(
        textwrap.dedent("""
        from dataclasses import dataclass
        import beside_a_plugin
        from rerank_plugins import hookimpl
        from rerank_plugins.lists.length import LengthFeature

        @dataclass(frozen=True)
        class Counting(LengthFeature):
            "Number of words."

        @hookimpl
        def register_feature_extractors(register):
            register("counting", Counting)
        """)
    )
    counting = load_plugins(files=[plugin], installed=False).get("feature", "counting").factory()
    first = identity(counting)
    (tmp_path / "beside_a_plugin.py").write_text("FACTOR = 22\n")
    second = identity(counting)
    plugin.write_text(plugin.read_text() + "# more\n")
    assert len({first, second, identity(counting)}) == 3
    for module in ("beside_a_plugin", type(counting).__module__):  # which other processes could not import
        sys.modules.pop(module)


def test_an_object_is_shown_as_the_call_that_makes_it(tmp_path):
    @dataclass
    class Model:
        model: object = None
        order: int = 3
        steps: tuple = ()

    assert constructor_call(Model()) == "Model"
    assert constructor_call(Model(tmp_path / "lm.arpa", 2, ("a", "b"))) == "Model(model=lm.arpa, order=2, steps=[a, b])"
    assert describe(Model(order=2))["options"] == {"model": None, "order": 2, "steps": []}
