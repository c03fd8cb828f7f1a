"""Weights of several kernels, learned together with the coefficients: a stack in, KernelSolution out."""

from tagrank.solvers.multiple_kernel.solve import solve_kernels, solve_weighted, solve_worst

__all__ = ["solve_kernels", "solve_weighted", "solve_worst"]
