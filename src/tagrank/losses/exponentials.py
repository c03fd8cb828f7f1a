"""exp and log as plain arithmetic, so that the compiler takes many entries of a loop at once.

Calls into a library of mathematics keep a loop from becoming vector instructions. Relative errors are a few
units in the last place. Nothing is checked in here: exp wants no less than -87 in float32 and -708 in
float64, and no more than 88 or 709; log wants a positive number that is not subnormal. Called from compiled
code.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

INVERSE_OF_LN2 = 1.4426950408889634
LN2_HIGH, LN2_LOW = (
    0.693145751953125,
    1.42860682030941723e-6,
)  # the first with so few bits that products are exact


def _bits(source, target):
    """The same bits read as another type."""

    @intrinsic
    def read(typingctx, value):
        kind = ir.DoubleType() if target is types.float64 else ir.FloatType()
        kind = kind if isinstance(target, types.Float) else ir.IntType(target.bitwidth)

        def generate(context, builder, signature, arguments):
            return builder.bitcast(arguments[0], kind)

        return target(source), generate

    return read


_float32_of, _int32_of = _bits(types.int32, types.float32), _bits(types.float32, types.int32)
_float64_of, _int64_of = _bits(types.int64, types.float64), _bits(types.float64, types.int64)


@njit(inline="always")
def _exp32(x):
    n = np.floor(x * np.float32(INVERSE_OF_LN2) + np.float32(0.5))
    r = x - n * np.float32(LN2_HIGH) - n * np.float32(LN2_LOW)
    value = np.float32(1 / 720) * r + np.float32(1 / 120)
    value = value * r + np.float32(1 / 24)
    value = value * r + np.float32(1 / 6)
    value = value * r + np.float32(0.5)
    value = (value * r + np.float32(1)) * r + np.float32(1)
    return value * _float32_of(np.int32((np.int32(n) + np.int32(127)) << np.int32(23)))


@njit(inline="always")
def _exp64(x):
    n = np.floor(x * INVERSE_OF_LN2 + 0.5)
    r = x - n * LN2_HIGH - n * LN2_LOW
    value = r * (1 / 479001600) + 1 / 39916800
    value = ((value * r + 1 / 3628800) * r + 1 / 362880) * r + 1 / 40320
    value = ((value * r + 1 / 5040) * r + 1 / 720) * r + 1 / 120
    value = (((value * r + 1 / 24) * r + 1 / 6) * r + 0.5) * r + 1
    return (value * r + 1) * _float64_of((np.int64(np.int32(n)) + np.int64(1023)) << np.int64(52))


def exp(x):
    """e to the power of `x`, in the precision of `x`."""


@overload(exp, inline="always")
def _exp(x):
    return (lambda x: _exp32(x)) if x == types.float32 else (lambda x: _exp64(x))


@njit(inline="always")
def log(x):
    """The natural logarithm of a float64."""
    bits = _int64_of(x)
    # the mantissa between the square roots of 1/2 and of 2, and the power of two that goes with it
    n = np.int32(np.int32(np.int32(bits >> np.int64(32)) - np.int32(0x3FE6A09E)) >> np.int32(20))
    mantissa = _float64_of(bits - (np.int64(n) << np.int64(52)))
    s = (mantissa - 1) / (mantissa + 1)
    square = s * s
    value = square * (1 / 21) + 1 / 19
    value = (value * square + 1 / 17) * square + 1 / 15
    value = (value * square + 1 / 13) * square + 1 / 11
    value = (value * square + 1 / 9) * square + 1 / 7
    value = (value * square + 1 / 5) * square + 1 / 3
    return n * LN2_HIGH + (n * LN2_LOW + 2 * s * (value * square + 1))
