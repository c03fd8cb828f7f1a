"""Two sets of rows in, similarities out."""

from tagrank.kernels.description import KERNELS_BY_NAME, kernel_from_dict, make_kernel
from tagrank.kernels.histograms import ChiSquared, Hellinger, Intersection
from tagrank.kernels.kernel import Kernel, OnView, Power, Product, Sum, UnitDiagonal, UnitTrace
from tagrank.kernels.precomputed import Precomputed, check_gram
from tagrank.kernels.stack import KernelStack, LowRankStack
from tagrank.kernels.stack_files import open_stack, save_stack, stack_of_kernels
from tagrank.kernels.structure import reads_views
from tagrank.kernels.vectors import Gaussian, Linear, Polynomial

__all__ = [
    "KERNELS_BY_NAME",
    "ChiSquared",
    "Gaussian",
    "Hellinger",
    "Intersection",
    "Kernel",
    "KernelStack",
    "Linear",
    "LowRankStack",
    "OnView",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "Sum",
    "UnitDiagonal",
    "UnitTrace",
    "check_gram",
    "kernel_from_dict",
    "make_kernel",
    "open_stack",
    "reads_views",
    "save_stack",
    "stack_of_kernels",
]
