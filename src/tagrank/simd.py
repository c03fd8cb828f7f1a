"""Vector instructions that the compiler does not find by itself, for compiled code.

Products of one sparse row with a matrix. Written as loops, each nonzero of the row pays for overlap checks
and loop set-up that cost more than the arithmetic. Here a fixed number of lanes stays in registers while the
rows of the matrix are read. The matrix W has a width that `padded` gave it.

Four numbers at once:

    total, nothing = splat(0.0), splat(0.0)
    for k in range(n):
        value = load(values, LANES * k) - shift
        total = total + where_greater(value, nothing, value, nothing)

Lanes are float64 and live in registers; `load` and `store` also take float32 arrays. The operators + - * /
take lanes on both sides.

Indices are not checked: callers see to it that all of them lie within their arrays. Arrays that are not
contiguous are refused when they are compiled for.
"""

import operator

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic, models, overload, register_model

NARROW, WIDE = 16, 64


def padded(n_columns):
    """The width of a matrix that holds `n_columns` in whole vectors."""
    return -(-n_columns // NARROW) * NARROW


def aligned_zeros(shape, dtype):
    """Zeros whose rows start on cache lines, if they are `padded` wide."""
    dtype = np.dtype(dtype)
    spare = 64 // dtype.itemsize
    buffer = np.zeros(int(np.prod(shape)) + spare, dtype)
    first = (-buffer.ctypes.data % 64) // dtype.itemsize
    return buffer[first : first + int(np.prod(shape))].reshape(shape)


def in_whole_vectors(values):
    """`values` (n_rows, n_columns), `padded` wide with zeros to the right: a copy where they are not."""
    n_rows, n_columns = values.shape
    if n_columns == padded(n_columns):
        return values
    wide = np.zeros((n_rows, padded(n_columns)), values.dtype)
    wide[:, :n_columns] = values
    return wide


@njit(inline="always")
def multiply_row(W, indices, data, start, stop, out):
    """out = sum over p in start..stop of data[p] * W[indices[p]]; `out` is as long as a row of W."""
    column, width = 0, W.shape[1]
    while column + WIDE <= width:
        _multiply_wide(W, column, indices, data, start, stop, out)
        column += WIDE
    while column < width:
        _multiply_narrow(W, column, indices, data, start, stop, out)
        column += NARROW


@njit(inline="always")
def add_to_rows(W, indices, data, start, stop, change):
    """W[indices[p]] += data[p] * change for p in start..stop; `change` is as long as a row of W."""
    column, width = 0, W.shape[1]
    while column + WIDE <= width:
        _add_wide(W, column, indices, data, start, stop, change)
        column += WIDE
    while column < width:
        _add_narrow(W, column, indices, data, start, stop, change)
        column += NARROW


def _check_contiguous(*arrays):
    """Refuse to compile for arrays whose numbers do not lie side by side, as addresses suppose."""
    for array in arrays:
        if isinstance(array, types.Array) and array.layout != "C":
            raise TypingError(f"expected a contiguous array, got {array}; use np.ascontiguousarray")


@intrinsic
def prefetch(typingctx, array, start, stop):
    """Ask for array.flat[start:stop], so that a later read does not wait for memory."""
    _check_contiguous(array)
    signature = types.void(array, types.intp, types.intp)

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        int32, byte = ir.IntType(32), ir.IntType(8).as_pointer()
        per_line = ir.Constant(arguments[1].type, 64 // context.get_abi_sizeof(data.type.pointee))
        kind = ir.FunctionType(ir.VoidType(), [byte, int32, int32, int32])
        ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        for_reading, closest, is_data = (ir.Constant(int32, value) for value in (0, 3, 1))
        with cgutils.for_range_slice(builder, arguments[1], arguments[2], per_line) as (k, _):
            where = builder.bitcast(builder.gep(data, [k]), byte)
            builder.call(ask, [where, for_reading, closest, is_data])
        return context.get_dummy_value()

    return signature, generate


def _each_nonzero(context, builder, signature, arguments, n_lanes):
    """Yields for each nonzero its value in all lanes and the address of its lanes of W."""
    W = context.make_array(signature.args[0])(context, builder, arguments[0])
    indices, data = (
        context.make_array(signature.args[k])(context, builder, arguments[k]).data for k in (2, 3)
    )
    scalar = W.data.type.pointee
    vector = ir.VectorType(scalar, n_lanes)
    width = cgutils.unpack_tuple(builder, W.shape)[1]
    first_lane = ir.Constant(ir.VectorType(ir.IntType(32), n_lanes), [0] * n_lanes)
    undefined = ir.Constant(vector, ir.Undefined)
    one = ir.Constant(arguments[4].type, 1)
    with cgutils.for_range_slice(builder, arguments[4], arguments[5], one) as (p, _):
        row = builder.load(builder.gep(indices, [p]))
        row = builder.sext(row, width.type) if row.type != width.type else row
        value = builder.load(builder.gep(data, [p]))
        if value.type != scalar:
            is_wider = isinstance(value.type, ir.DoubleType)
            value = builder.fptrunc(value, scalar) if is_wider else builder.fpext(value, scalar)
        value = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
        where = builder.gep(W.data, [builder.add(builder.mul(row, width), arguments[1])])
        yield (
            builder.shuffle_vector(value, undefined, first_lane),
            builder.bitcast(where, vector.as_pointer()),
        )


def _lanes_of(context, builder, signature, arguments, n_lanes):
    """Address of the lanes of the last argument, and the size of one."""
    array = context.make_array(signature.args[6])(context, builder, arguments[6])
    vector = ir.VectorType(array.data.type.pointee, n_lanes)
    where = builder.bitcast(builder.gep(array.data, [arguments[1]]), vector.as_pointer())
    return where, vector, context.get_abi_sizeof(array.data.type.pointee)


def _signature(W, indices, data, vector):
    _check_contiguous(W, indices, data, vector)
    return types.void(W, types.intp, indices, data, types.intp, types.intp, vector)


def _multiply_add(builder, factor, values, addend):
    product = builder.fmul(factor, values, flags=("contract",))
    return builder.fadd(product, addend, flags=("contract",))


def _make_multiply(n_lanes):
    @intrinsic
    def multiply(typingctx, W, column, indices, data, start, stop, out):
        def generate(context, builder, signature, arguments):
            where, vector, size = _lanes_of(context, builder, signature, arguments, n_lanes)
            total = cgutils.alloca_once_value(builder, ir.Constant(vector, None))
            for value, row in _each_nonzero(context, builder, signature, arguments, n_lanes):
                values = builder.load(row, align=size)
                builder.store(_multiply_add(builder, value, values, builder.load(total)), total)
            builder.store(builder.load(total), where, align=size)
            return context.get_dummy_value()

        return _signature(W, indices, data, out), generate

    return multiply


def _make_add(n_lanes):
    @intrinsic
    def add(typingctx, W, column, indices, data, start, stop, change):
        def generate(context, builder, signature, arguments):
            where, _, size = _lanes_of(context, builder, signature, arguments, n_lanes)
            change = builder.load(where, align=size)
            for value, row in _each_nonzero(context, builder, signature, arguments, n_lanes):
                values = builder.load(row, align=size)
                builder.store(_multiply_add(builder, value, change, values), row, align=size)
            return context.get_dummy_value()

        return _signature(W, indices, data, change), generate

    return add


_multiply_wide, _multiply_narrow = _make_multiply(WIDE), _make_multiply(NARROW)
_add_wide, _add_narrow = _make_add(WIDE), _make_add(NARROW)


# Four numbers at once

LANES = 4
_NUMBERS = ir.VectorType(ir.DoubleType(), LANES)


class LanesType(types.Type):
    def __init__(self):
        super().__init__(name="tagrank.Lanes")


lanes = LanesType()


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _NUMBERS)


def _operation(sign, instruction):
    """Give lanes an operator: one instruction for all four."""

    @intrinsic
    def apply(typingctx, left, right):
        def generate(context, builder, signature, arguments):
            return getattr(builder, instruction)(*arguments, flags=("contract",))

        return lanes(lanes, lanes), generate

    @overload(sign)
    def operate(left, right):
        if left is lanes and right is lanes:
            return lambda left, right: apply(left, right)
        return None


for _sign, _instruction in (
    (operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul"), (operator.truediv, "fdiv"),
):  # fmt: skip
    _operation(_sign, _instruction)


def _spread(builder, number):
    first = builder.insert_element(
        ir.Constant(_NUMBERS, ir.Undefined), number, ir.Constant(ir.IntType(32), 0)
    )
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, first, everywhere)


def _address(context, builder, signature, arguments):
    """Of four numbers in an array, the size of one, and whether they are narrower than lanes."""
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    where = builder.bitcast(
        builder.gep(data, [arguments[1]]), ir.VectorType(data.type.pointee, LANES).as_pointer()
    )
    return where, context.get_abi_sizeof(data.type.pointee), not isinstance(data.type.pointee, ir.DoubleType)


@intrinsic
def splat(typingctx, number):
    """The same number in all lanes."""

    def generate(context, builder, signature, arguments):
        return _spread(builder, arguments[0])

    return lanes(types.float64), generate


@intrinsic
def load(typingctx, array, start):
    """array[start : start + LANES] of a contiguous array with one dimension."""
    _check_contiguous(array)

    def generate(context, builder, signature, arguments):
        where, size, is_narrow = _address(context, builder, signature, arguments)
        values = builder.load(where, align=size)
        return builder.fpext(values, _NUMBERS) if is_narrow else values

    return lanes(array, types.intp), generate


@intrinsic
def store(typingctx, array, start, values):
    """array[start : start + LANES] = values."""
    _check_contiguous(array)

    def generate(context, builder, signature, arguments):
        where, size, is_narrow = _address(context, builder, signature, arguments)
        values = arguments[2]
        values = builder.fptrunc(values, where.type.pointee) if is_narrow else values
        builder.store(values, where, align=size)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), generate


@intrinsic
def where_greater(typingctx, left, right, then, otherwise):
    """In each lane `then` if left > right, else `otherwise`."""

    def generate(context, builder, signature, arguments):
        left, right, then, otherwise = arguments
        return builder.select(builder.fcmp_ordered(">", left, right), then, otherwise)

    return lanes(lanes, lanes, lanes, lanes), generate


@intrinsic
def square_root(typingctx, values):
    def generate(context, builder, signature, arguments):
        kind = ir.FunctionType(_NUMBERS, [_NUMBERS])
        root = cgutils.get_or_insert_function(builder.module, kind, f"llvm.sqrt.v{LANES}f64")
        return builder.call(root, arguments)

    return lanes(lanes), generate


def _reduction(combine):
    @intrinsic
    def reduce(typingctx, values):
        def generate(context, builder, signature, arguments):
            numbers = [
                builder.extract_element(arguments[0], ir.Constant(ir.IntType(32), lane))
                for lane in range(LANES)
            ]
            while len(numbers) > 1:
                numbers = [combine(builder, *pair) for pair in zip(numbers[::2], numbers[1::2], strict=True)]
            return numbers[0]

        return types.float64(lanes), generate

    return reduce


def _larger(builder, left, right):
    return builder.select(builder.fcmp_ordered(">", left, right), left, right)


sum_of = _reduction(lambda builder, left, right: builder.fadd(left, right))
largest_of = _reduction(_larger)
