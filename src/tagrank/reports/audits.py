"""An audit in words, the same at the desk and in the terminal: what it tells, and how much more would."""

from tagrank.estimators.calibration.audit import FEWEST_AUDITED, Audit

AIMS = (0.1, 0.05)  # halves of intervals worth having
FIRST = 30  # pictures that make about the first of them, with three or four tags each


def told_words(audit: Audit | None, kind: str = "picture") -> str:
    """What audited pictures say: "40 pictures audited: about 45 to 60 % of the true tags are listed."."""
    if audit is None:
        return f"No {kind} is audited yet."
    n_audited = audit.n_samples
    counted = f"{n_audited:,} {kind}{'' if n_audited == 1 else 's'} audited"
    if n_audited < FEWEST_AUDITED:
        return f"{counted}; at least {FEWEST_AUDITED} are needed to estimate how complete the tags are."
    return f"{counted}: {audit.completeness.words} of the true tags are listed."


def n_wanted(audit: Audit | None) -> int:
    """How many more to look at for the first of the aims, or for the second if that is reached."""
    if audit is None or audit.n_samples < FEWEST_AUDITED:
        return FIRST - (0 if audit is None else audit.n_samples)
    return next((n for n in map(audit.samples_for, AIMS) if n), 0)


def wanted_words(audit: Audit | None, n_left: int) -> str:
    """How many more make which interval: "Audit 20 more for ± 10 points, 140 more for ± 5."; "" if none.

    Where fewer are left than the first interval needs, all of them are wanted.
    """
    if n_left == 0:
        return ""
    if n_left < n_wanted(audit):
        known = "how complete the tags are" if audit is None else "it better"
        return f"Audit {'all' if audit is None else 'the other'} {n_left:,} to know {known}."
    points = f"± {100 * AIMS[0]:.0f} points"
    if audit is None:
        return f"Audit {FIRST} to know how complete the tags are, to about {points}."
    if audit.n_samples < FEWEST_AUDITED:
        return f"Audit {n_wanted(audit)} more to know it to about {points}."
    needed = [(n, f"{100 * aim:.0f}") for aim in AIMS if 0 < (n := audit.samples_for(aim)) <= n_left]
    if not needed:
        return ""
    (first, nearest), *others = needed
    more = "".join(f", or {n:,} more for ± {aim}" for n, aim in others)
    return f"Audit {first:,} more to know it to about ± {nearest} points{more}."


def dependence_words(audit: Audit, kind: str = "picture") -> str:
    """What completeness depends on, as far as chance does not explain it; "" if nothing is significant."""
    parts = []
    if audit.by_frequency:
        parts.append(f"{'frequent' if audit.by_frequency < 0 else 'rare'} tags are listed less often")
    if audit.by_count:
        parts.append(f"{kind}s with {'many' if audit.by_count < 0 else 'few'} tags miss more tags")
    return f"{' and '.join(parts)[0].upper()}{' and '.join(parts)[1:]}." if parts else ""
