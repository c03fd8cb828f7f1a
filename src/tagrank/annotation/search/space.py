"""What a search over a method's parameters may try."""

from dataclasses import replace
from itertools import product
from typing import Any

from tagrank.annotation.recipe import MOST_COMPARED, PICTURE_POWERS, Recipe
from tagrank.annotation.views import Intake
from tagrank.estimators.kernel_estimator import KernelEstimator
from tagrank.estimators.methods import find_method

KERNEL_POWER = "kernel_power"
Parameters = dict[str, Any]


def configurations(recipe: Recipe, rows: Intake, *, only_linear: bool = False) -> list[Parameters]:
    """All that a search may try: what the recipe leaves open of the method's space, on each kernel."""
    space = {
        name: values
        for name, values in find_method(recipe.method).space.items()
        if recipe.parameters.get(name) is None
    }
    kernels = [{}] if "kernel" in space else _kernels(recipe, rows, only_linear)
    return [
        {**kernel, **dict(zip(space, values, strict=True))}
        for kernel in kernels
        for values in product(*space.values())
    ]


def _kernels(recipe: Recipe, rows: Intake, only_linear: bool) -> list[Parameters]:
    given = {name for name, value in recipe.parameters.items() if value is not None}
    is_given = bool(given & {"kernel", "gamma"}) or recipe.kernel_power is not None
    if is_given or not issubclass(find_method(recipe.method).load(), KernelEstimator):
        return [{}]
    if rows.features:
        return [{KERNEL_POWER: power} for power in PICTURE_POWERS]
    if only_linear or len(rows.names) > MOST_COMPARED:
        return [{"kernel": "linear"}]
    return [{"kernel": "rbf"}, {"kernel": "linear"}]


def configured(recipe: Recipe, parameters: Parameters) -> Recipe:
    """The recipe with these parameters, such as a search found."""
    of_estimator = {name: value for name, value in parameters.items() if name != KERNEL_POWER}
    return replace(
        recipe,
        parameters={**recipe.parameters, **of_estimator},
        kernel_power=parameters.get(KERNEL_POWER, recipe.kernel_power),
    )


def usual(recipe: Recipe, parameters: Parameters) -> Parameters:
    """The usual values of what a search would choose, such as `parameters`."""
    known = find_method(recipe.method).load()().get_params(deep=False) | {KERNEL_POWER: 1}
    return {name: known[name] for name in parameters}


def kernel_key(parameters: Parameters) -> str:
    """The same for configurations whose rows are compared alike."""
    return repr([parameters.get(name) for name in ("kernel", "gamma", KERNEL_POWER)])
