"""Bare arrays: the arrays of a bundle as a kernel sees them, an address and a shape, contiguous.

An array of numba's has ten fields, and its elements are found by strides, from the end where an index is negative. That
takes a compiler longer than most loops do, and the index costs as much as the arithmetic. A bare array has elements,
rows, a length and a shape; it has no slices. Its indices are whole numbers that are not negative, and not checked.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import extending as numba_extending
from numba import types as numba_types
from numba.core import cgutils as numba_cgutils
from numba.core.typing import templates as numba_templates

extending: Any = numba_extending  # these have no types
templates: Any = numba_templates
types: Any = numba_types
cgutils: Any = numba_cgutils
WORD = ir.IntType(64)


class BareArray(numba_types.Type):
    """The type of a bare array: that of its elements, and its number of axes."""

    def __init__(self, dtype: Any, ndim: int) -> None:
        self.dtype, self.ndim = dtype, ndim
        super().__init__(f"bare({dtype}, {ndim})")


class _Model(extending.models.StructModel):  # type: ignore[misc]
    """The address and the shape."""

    def __init__(self, manager: Any, kind: BareArray) -> None:
        shape = types.UniTuple(types.intp, kind.ndim)
        super().__init__(manager, kind, [("data", types.CPointer(kind.dtype)), ("shape", shape)])


extending.register_model(BareArray)(_Model)


def bare_array(context: Any, builder: Any, kind: BareArray, data: Any, shape: list[Any]) -> Any:
    """Compile the making of a bare array of an address and the lengths of its axes."""
    array = cgutils.create_struct_proxy(kind)(context, builder)
    array.data, array.shape = data, cgutils.pack_array(builder, shape)
    return array._getvalue()


def _parts(context: Any, builder: Any, kind: BareArray, value: Any) -> tuple[Any, list[Any]]:
    """Compile the reading of the address and of the lengths of the axes."""
    array = cgutils.create_struct_proxy(kind)(context, builder, value)
    return array.data, cgutils.unpack_tuple(builder, array.shape)


def _axes(index: Any) -> list[Any]:
    """Return the types of an index, one for each axis."""
    return list(index) if isinstance(index, types.BaseTuple) else [index]


def _element(dtype: Any) -> Any:
    """Return the type of an element as a kernel reads it: signed integers are those of indices, not extended later."""
    return types.intp if isinstance(dtype, types.Integer) and dtype.signed else dtype


class _ItemTypes(templates.AbstractTemplate):  # type: ignore[misc]
    def generic(self, arguments: Any, _: Any) -> Any:
        array, index = arguments
        if not isinstance(array, BareArray):
            return None
        rest = array.ndim - len(_axes(index))
        return templates.signature(BareArray(array.dtype, rest) if rest else _element(array.dtype), array, index)


class _AssignmentTypes(templates.AbstractTemplate):  # type: ignore[misc]
    def generic(self, arguments: Any, _: Any) -> Any:
        array, index, _ = arguments
        if not isinstance(array, BareArray) or len(_axes(index)) != array.ndim:
            return None
        return templates.signature(types.none, array, index, array.dtype)


class _LengthType(templates.AbstractTemplate):  # type: ignore[misc]
    def generic(self, arguments: Any, _: Any) -> Any:
        return templates.signature(types.intp, *arguments) if isinstance(arguments[0], BareArray) else None


class _ShapeType(templates.AttributeTemplate):  # type: ignore[misc]
    key = BareArray

    def resolve_shape(self, array: BareArray) -> Any:
        return types.UniTuple(types.intp, array.ndim)


def _address(context: Any, builder: Any, signature: Any, arguments: Any) -> tuple[Any, list[Any]]:
    """Compile the address of an element, or of the first one of a row; return it with the lengths of the row's axes."""
    data, shape = _parts(context, builder, signature.args[0], arguments[0])
    kinds, index = _axes(signature.args[1]), arguments[1]
    indices = cgutils.unpack_tuple(builder, index) if isinstance(signature.args[1], types.BaseTuple) else [index]
    place = ir.Constant(WORD, 0)
    for axis, length in enumerate(shape):
        place = builder.mul(place, length) if axis else place
        if axis < len(indices):
            number = context.cast(builder, indices[axis], kinds[axis], types.intp)
            place = builder.add(place, number) if axis else number
    return builder.gep(data, [place], inbounds=True), shape[len(indices) :]


def _item(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    address, shape = _address(context, builder, signature, arguments)
    if shape:
        return bare_array(context, builder, signature.return_type, address, shape)
    dtype = signature.args[0].dtype
    return context.cast(builder, context.unpack_value(builder, dtype, address), dtype, signature.return_type)


def _assignment(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    address, _ = _address(context, builder, signature, arguments)
    context.pack_value(builder, signature.args[0].dtype, arguments[2], address)
    return context.get_dummy_value()


def _length(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return _parts(context, builder, signature.args[0], arguments[0])[1][0]


def _shape(context: Any, builder: Any, kind: BareArray, value: Any) -> Any:
    return cgutils.create_struct_proxy(kind)(context, builder, value).shape


templates.infer_global(operator.getitem)(_ItemTypes)
templates.infer_global(operator.setitem)(_AssignmentTypes)
templates.infer_global(len)(_LengthType)
extending.infer_getattr(_ShapeType)
for _index in (types.Integer, types.BaseTuple):
    extending.lower_builtin(operator.getitem, BareArray, _index)(_item)
    extending.lower_builtin(operator.setitem, BareArray, _index, types.Any)(_assignment)
extending.lower_builtin(len, BareArray)(_length)
extending.lower_getattr(BareArray, "shape")(_shape)
