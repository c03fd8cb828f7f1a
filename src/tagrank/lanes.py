"""Four numbers at once, in compiled code: what the compiler does not find by itself in loops of four.

    total, nothing = splat(0.0), splat(0.0)
    for k in range(n):
        value = load(values, LANES * k) - shift
        total = total + where_greater(value, nothing, value, nothing)

Lanes are float64 and live in registers; `load` and `store` also take float32 arrays. The operators + - * /
take lanes on both sides. Nothing is checked in here: callers see to it that all indices lie within their
arrays. All of it is called from compiled code.
"""

import operator

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

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

    def generate(context, builder, signature, arguments):
        where, size, is_narrow = _address(context, builder, signature, arguments)
        values = builder.load(where, align=size)
        return builder.fpext(values, _NUMBERS) if is_narrow else values

    return lanes(array, types.intp), generate


@intrinsic
def store(typingctx, array, start, values):
    """array[start : start + LANES] = values."""

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
