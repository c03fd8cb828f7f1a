"""What a kernel is made of: its terms, the simple kernels inside and the views that they read; names."""

from tagrank.kernels.kernel import OnView, Power, Sum


def reads_views(kernel):
    """Whether `kernel` asks for views by name, with `.on("name")`."""
    return bool(views_of(kernel))


def views_of(kernel):
    """The views that `kernel` asks for by name."""
    named = isinstance(kernel, OnView) and isinstance(kernel.view, str)
    return set.union({kernel.view} if named else set(), *map(views_of, kernel._parts()))


def leaves_of(kernel, place=slice(None)):
    """The simple kernels that `kernel` is made of, each with the view or the columns that it reads."""
    if isinstance(kernel, OnView):
        yield from leaves_of(kernel.kernel, kernel.view if place == slice(None) else place)
    elif hasattr(kernel, "kernels"):
        for part in kernel.kernels:
            yield from leaves_of(part, place)
    elif hasattr(kernel, "kernel"):
        yield from leaves_of(kernel.kernel, place)
    else:
        yield kernel, place


def terms_of(kernel, weight=1.0):
    """The (weight, kernel) pairs whose sum `kernel` is, sums inside sums taken apart too."""
    if not isinstance(kernel, Sum):
        yield weight, kernel
        return
    for inner_weight, inner in kernel.terms:
        yield from terms_of(inner, weight * inner_weight)


def split_power(kernel):
    """What `kernel` raises, and to which power; the kernel itself and 1 where it raises nothing."""
    return (kernel.kernel, kernel.exponent) if isinstance(kernel, Power) else (kernel, 1)


def names_of(kernels):
    """A name for each kernel: its view where that tells them apart, otherwise how it is written."""
    inside = [split_power(kernel)[0] for kernel in kernels]
    views = [kernel.view if isinstance(kernel, OnView) else None for kernel in inside]
    if all(isinstance(view, str) for view in views) and len(set(views)) == len(views):
        return views
    written = [repr(kernel) for kernel in kernels]
    if len(set(written)) == len(written):
        return written
    return [f"{j}: {text}" for j, text in enumerate(written)]
