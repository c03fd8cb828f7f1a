"""Parameters of a kernel: its constructor arguments, by which it is compared, shown, changed and stored."""

import inspect
from typing import Any, Self


class KernelParameters:
    """Base of `Kernel`: a value that is its constructor arguments, which `__init__` stores untouched."""

    def __eq__(self, other):
        return type(self) is type(other) and self.get_params(deep=False) == other.get_params(deep=False)

    def __hash__(self):
        return hash(repr(self))

    def __repr__(self):
        defaults = inspect.signature(type(self)).parameters
        params = self.get_params(deep=False).items()
        shown = [f"{name}={value!r}" for name, value in params if value != defaults[name].default]
        return f"{type(self).__name__}({', '.join(shown)})"

    def get_params(self, deep=True) -> dict[str, Any]:
        """Constructor arguments by name, as scikit-learn's `clone` and grid searches read them."""
        names = list(inspect.signature(type(self)).parameters)
        params = {name: getattr(self, name) for name in names}
        if deep:
            for name in names:
                if isinstance(params[name], KernelParameters):
                    inner = params[name].get_params()
                    params.update({f"{name}__{key}": value for key, value in inner.items()})
        return params

    def set_params(self, **params) -> Self:
        """Change constructor arguments in place; `kernel__gamma` reaches into a nested kernel."""
        own = self.get_params(deep=False)
        for name, value in params.items():
            head, _, rest = name.partition("__")
            if head not in own:
                raise ValueError(f"{type(self).__name__} has the parameters {sorted(own)}, got {name!r}")
            if rest:
                own[head].set_params(**{rest: value})
            else:
                own[head] = value
        self.__init__(**own)
        return self

    def to_dict(self) -> dict[str, Any]:
        """This kernel as plain JSON values; `kernel_from_dict` builds it again."""
        kind = type(self)
        if not kind.__module__.startswith("tagrank.kernels."):
            raise TypeError(
                f"{kind.__name__} is not one of tagrank's kernels and cannot be written to a file"
            )
        params = self.get_params(deep=False)
        return {"kind": kind.__name__, "params": {name: _plain(value) for name, value in params.items()}}


def _plain(value):
    if isinstance(value, KernelParameters):
        return value.to_dict()
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, slice):
        return {"slice": [_plain(part) for part in (value.start, value.stop, value.step)]}
    return value.item() if hasattr(value, "item") else value
