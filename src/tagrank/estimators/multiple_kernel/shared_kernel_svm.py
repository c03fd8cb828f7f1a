"""One-vs-all support vector machines with several kernels, whose weights all labels share."""

from dataclasses import dataclass

from tagrank.estimators.classification.one_vs_all import OneVsAllSVM
from tagrank.estimators.multiple_kernel.kernel_weighing import KernelWeighing
from tagrank.validation import check_choice

WORST = ("auto", "cutting-plane", "stochastic")


@dataclass(kw_only=True, eq=False, repr=False)
class SharedKernelSVM(KernelWeighing, OneVsAllSVM):
    """One support vector machine per label on one weighted sum of kernels for all (ML-MKL).

    Minimises over weights ``beta >= 0`` with ``|beta|_p <= 1`` the sum over labels of the objectives of
    `OneVsAllSVM` on the kernel ``sum_j beta_j K_j``, or the largest of them.

    Parameters
    ----------
    objective : {"sum", "worst"}
        Over labels: the sum (ML-MKL-Sum), or the label with the highest objective (minimax).
    solver : {"auto", "silp", "simple", "gradient", "mirror", "level", "group-lasso"}, for objective="worst"
        {"auto", "cutting-plane", "stochastic"}
        "stochastic" is ML-MKL-SA: it trains one label at a time and reaches a small gap slowly.

    Other parameters and attributes are those of `MultipleKernelRanker`; `primal_objective_` is the sum, or
    for objective="worst" the largest.

    Examples
    --------
    >>> import numpy as np
    >>> from tagrank import SharedKernelSVM
    >>> rng = np.random.default_rng(0)
    >>> place = rng.normal(size=(60, 2))
    >>> views = {"place": place, "noise": rng.normal(size=(60, 2))}
    >>> Y = np.column_stack([place[:, 0] > 0, place[:, 1] > 0]).astype(float)
    >>> model = SharedKernelSVM(kernel="rbf", objective="worst").fit(views, Y)
    >>> model.kernel_weights_.round(1).tolist()
    [1.0, 0.0]
    """

    objective: str = "sum"

    solvers = tuple(dict.fromkeys((*(name for name in KernelWeighing.solvers if name != "smo"), *WORST)))

    def _check_parameters(self):
        super()._check_parameters()
        check_choice("objective", self.objective, ("sum", "worst"))
        if self.objective == "worst":
            check_choice("solver, with objective='worst',", self.solver, WORST)
            if self.norm != 1 and self.solver == "stochastic":
                raise ValueError(f"norm must be 1 with solver='stochastic', got {self.norm!r}")
        elif self.solver in WORST[1:]:
            raise ValueError(f"solver={self.solver!r} goes with objective='worst', got objective='sum'")

    def _weigh(self, stack, settings, start_weights):
        if self.objective == "sum":
            return super()._weigh(stack, settings, start_weights)
        from tagrank.solvers.multiple_kernel import solve_worst

        solver = "cutting-plane" if self.solver == "auto" else self.solver
        return solve_worst(
            stack, **settings, solver=solver, norm=float(self.norm), start_weights=start_weights
        )
