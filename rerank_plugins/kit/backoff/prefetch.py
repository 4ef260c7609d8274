"""Issues the processor's prefetch instruction in compiled functions, which loads memory before it is needed."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils as numba_cgutils
from numba.extending import intrinsic

cgutils: Any = numba_cgutils  # it has no types
BYTE, INT = ir.IntType(8), ir.IntType(32)
READ, KEEP, DATA = (ir.Constant(INT, value) for value in (0, 3, 1))  # for reading, into all caches, not code


def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:  # noqa: ARG001
    """`prefetch(array, index)`: start loading array[index] into the cache. Changes nothing else."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind, _ = signature.args
        view = context.make_array(kind)(context, builder, arguments[0])
        place = cgutils.get_item_pointer(
            context, builder, kind, view, [arguments[1]], wraparound=False, boundscheck=False
        )
        signature_of_it = ir.FunctionType(ir.VoidType(), [BYTE.as_pointer(), INT, INT, INT])
        function = cgutils.get_or_insert_function(builder.module, signature_of_it, "llvm.prefetch.p0i8")
        builder.call(function, [builder.bitcast(place, BYTE.as_pointer()), READ, KEEP, DATA])
        return context.get_dummy_value()

    return types.void(array, index), generate


prefetch: Any = intrinsic(_prefetch)
