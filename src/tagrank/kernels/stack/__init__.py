"""Many kernels of the same samples as one object, for methods that learn how much each counts."""

from tagrank.kernels.stack.base import Stack
from tagrank.kernels.stack.files import open_stack, save_stack
from tagrank.kernels.stack.kernel_stack import KernelStack
from tagrank.kernels.stack.low_rank_stack import LowRankStack
from tagrank.kernels.stack.making import stack_of_kernels

__all__ = ["KernelStack", "LowRankStack", "Stack", "open_stack", "save_stack", "stack_of_kernels"]
