"""Label ranking with several kernels, whose weights are learned."""

from dataclasses import dataclass

from tagrank.estimators.multiple_kernel.kernel_weighing import KernelWeighing
from tagrank.estimators.ranking.label_ranker import LabelRanker
from tagrank.validation import check_choice


@dataclass(kw_only=True, eq=False, repr=False)
class MultipleKernelRanker(KernelWeighing, LabelRanker):
    """Ranks labels by a weighted sum of kernels, learned together with the ranker (MK-MLR).

    Minimises ``1/2 sum_j sum_l |f_jl|^2 / beta_j`` plus the loss of `LabelRanker` over all functions f_jl and
    all weights ``beta >= 0`` with ``|beta|_p <= 1``; all labels share the weights. With p = 1 many of them
    become zero: what these kernels read need not be computed for new samples.

    Once fitted it is a ranker like any other, with the kernel ``sum_j beta_j K_j``.

    Parameters
    ----------
    C : float, default 1.0
        Cost of a violated label.
    kernel : list of Kernel, or a sum of them, or the name of one, default "rbf"
        The kernels to weigh. The weights of a sum are where "held-out" ones start from, else they are not
        used. A name is one kernel on each view, if X is a mapping of views. With "precomputed", X is a list
        of Gram matrices, an (n_kernels, n, n) array, a `KernelStack`, or for many samples a `LowRankStack`.
    norm : float, default 1.0
        p of the norm that bounds the weights: 1 selects kernels, 2 and more spread the weights.
    solver : {"auto", "silp", "simple", "gradient", "mirror", "level", "group-lasso"}
        How the weights are found; all of them solve the same problem. With a norm above 1: "silp" or
        "group-lasso".
    weights : {"learned", "held-out", "uniform", "best"} or array, shape (n_kernels,)
        "learned" minimises the objective. "held-out" looks for weights that sum to one and rank samples best
        which were held out: usually the better ones for photographs, in a few trainings; `norm`, `solver` and
        `kernel_costs` are not used then. "uniform" is the mean kernel, "best" the single one that ranks best
        in cross-validation.
    power : int, default 1
        To which the weighted sum is raised, for all `weights` but "learned": a narrower width.
    normalization : {"none", "trace", "variance"}
        What is brought to one for each kernel first: nothing, the mean of its diagonal, or the variance of
        the samples in its space.
    kernel_costs : array, shape (n_kernels,), or mapping of kernel to cost, optional
        What a kernel costs to compute for a new sample, such as seconds. A weight of kernel j then counts
        ``1 + cost_strength * cost_j / mean cost`` in the norm, so that cheap kernels are preferred.
    cost_strength : float, default 1.0
    loss : {"ranking", "group"}
        The loss of `LabelRanker`, or that of `IncompleteLabelRanker` for samples that lack true labels.
    tol : float, default 1e-3
        Relative duality gap, over scores and weights together, at which training stops.
    max_iter : int, default 1000
        How often weights are changed, at most.

    Other parameters and attributes are those of `LabelRanker`.

    Attributes
    ----------
    kernel_weights_ : array, shape (n_kernels,)
    kernel_scales_ : array, shape (n_kernels,), what each kernel is multiplied with before it is weighed
    kernel_names_ : list of str
    weight_path_ : array, shape (n_rounds, n_kernels), the weights that were tried, in their order
    kernel_ : Kernel, the weighted sum of those that have a weight
    primal_objective_, dual_objective_, duality_gap_ : float, of scores and weights together
    trace_ : list of (n_iter, seconds, primal, dual, gap, weights)

    Examples
    --------
    >>> import numpy as np
    >>> from tagrank import Gaussian, MultipleKernelRanker
    >>> rng = np.random.default_rng(0)
    >>> place = rng.normal(size=(60, 2))
    >>> views = {"place": place, "noise": rng.normal(size=(60, 2))}
    >>> Y = np.column_stack([place[:, 0] > 0, place[:, 0] <= 0, place[:, 1] > 0]).astype(float)
    >>> model = MultipleKernelRanker(kernel="rbf").fit(views, Y)
    >>> model.kernel_names_, model.kernel_weights_.round(1).tolist()
    (['place', 'noise'], [1.0, 0.0])
    """

    loss: str = "ranking"

    solvers = tuple(name for name in KernelWeighing.solvers if name != "smo")

    def _loss(self):
        if self.loss == "ranking":
            return super()._loss()
        from tagrank.losses.group_ranking import GroupRanking

        return GroupRanking

    def _check_parameters(self):
        super()._check_parameters()
        check_choice("loss", self.loss, ("ranking", "group"))
