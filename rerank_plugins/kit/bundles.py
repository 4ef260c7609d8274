"""Bundles: named arrays and numbers that a kernel takes as one argument.

A named tuple of forty arrays reaches a kernel as three hundred numbers, and so does it every part that the kernel hands
it to: to read them from Python and to pass them on takes longer to compile than most kernels. A bundle reaches them as
the address of a table, which has the addresses and shapes of its arrays. Its fields are attributes in the kernel, as
those of the tuple are; without compilation (`NUMBA_DISABLE_JIT=1`), the kernel reads the attributes of the object.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from functools import cache
from typing import Any, TypeVar, cast

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import extending as numba_extending
from numba import from_dtype, types
from numba.core.typing import templates as numba_templates

from rerank_plugins.kit.bare_arrays import WORD, BareArray, bare_array

Fields = TypeVar("Fields", bound=tuple[Any, ...])
extending: Any = numba_extending  # these have no types
templates: Any = numba_templates


def bundled(fields: Fields) -> Fields:
    """Bundle a named tuple of contiguous arrays, numbers and further such tuples.

    The bundle is no tuple, but has the same attributes. It keeps the arrays, which kernels may change.
    """
    return cast(Fields, Bundle(fields))


class Bundle:
    """A named tuple, its fields as attributes, and the `address` of their table, whose layout is `_numba_type_`.

    By this name, numba finds the type of an argument without a call of Python, which would take 1 µs.
    """

    address: int
    _numba_type_: BundleType

    def __init__(self, fields: Any) -> None:
        self._fields = fields
        words, layout = list[int](), list[Any]()
        for name, value in zip(fields._fields, fields, strict=True):
            if isinstance(value, np.ndarray):
                assert value.flags.c_contiguous, name
                words.append(value.__array_interface__["data"][0])
                words.extend(value.shape)
                layout.append((value.dtype, value.ndim))
                if value.dtype.names:
                    value = value.view(np.recarray)  # the fields of its records are attributes, as in kernels
            elif isinstance(value, (tuple, Bundle)):
                value = value if isinstance(value, Bundle) else Bundle(value)
                words.append(value.address)
                layout.append(value._numba_type_)
            elif isinstance(value, float):
                words.append(int(np.float64(value).view(np.int64)))
                layout.append(types.float64)
            else:
                words.append(int(value))
                layout.append(types.int64)
            self.__dict__[name] = value
        self._table = np.array(words, np.int64)
        self.address = self._table.__array_interface__["data"][0]
        kind: Any = type(fields)
        self._numba_type_ = _bundle_type(kind, tuple(layout))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._fields)

    def _replace(self, **fields: Any) -> Bundle:
        return Bundle(self._fields._replace(**fields))

    def __reduce__(self) -> tuple[Any, ...]:
        return Bundle, (self._fields,)  # another process has other addresses


class BundleType(types.Type):
    """What the compiler knows of a bundle: the types of its fields, and the word of the table where each begins."""

    def __init__(self, title: str, fields: tuple[tuple[str, Any], ...]) -> None:
        self.fields = dict(fields)
        sizes = [1 + kind.ndim if isinstance(kind, BareArray) else 1 for kind in self.fields.values()]
        self.places = dict(zip(self.fields, np.cumsum([0, *sizes]).tolist(), strict=False))
        super().__init__(f"{title}.{zlib.crc32(repr(fields).encode()):08x}")  # it is a part of functions' names


@cache
def _bundle_type(kind: Any, layout: tuple[Any, ...]) -> BundleType:
    """The type of bundles of a named tuple, whose arrays have these types of elements and numbers of axes."""
    arrays = [BareArray(from_dtype(each[0]), each[1]) if isinstance(each, tuple) else each for each in layout]
    return BundleType(kind.__name__, tuple(zip(kind._fields, arrays, strict=True)))


extending.register_model(BundleType)(extending.models.OpaqueModel)  # an address


def _address(_: Any, bundle: Any, c: Any) -> Any:
    """Compile the reading of the address of a bundle's table."""
    number = c.pyapi.object_getattr_string(bundle, "address")
    address = c.pyapi.long_as_voidptr(number)
    c.pyapi.decref(number)
    return extending.NativeValue(address)


class _FieldTypes(templates.AttributeTemplate):  # type: ignore[misc]
    key = BundleType

    def generic_resolve(self, bundle: BundleType, name: str) -> Any:
        return bundle.fields.get(name)


def _field(context: Any, builder: Any, kind: BundleType, bundle: Any, name: str) -> Any:
    """Compile the reading of a field: of a number, of the table of a bundle, or of an array's address and shape."""
    field, place = kind.fields[name], kind.places[name]
    table = builder.bitcast(bundle, WORD.as_pointer())

    def word(number: int) -> Any:
        loaded = builder.load(builder.gep(table, [ir.Constant(ir.IntType(32), place + number)]))
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))  # nothing writes to a table
        return loaded

    if isinstance(field, BundleType):
        return builder.inttoptr(word(0), bundle.type)
    if not isinstance(field, BareArray):
        return builder.bitcast(word(0), context.get_value_type(field))
    data = builder.inttoptr(word(0), context.get_data_type(field.dtype).as_pointer())
    return bare_array(context, builder, field, data, [word(1 + axis) for axis in range(field.ndim)])


extending.unbox(BundleType)(_address)
extending.infer_getattr(_FieldTypes)
extending.lower_getattr_generic(BundleType)(_field)
