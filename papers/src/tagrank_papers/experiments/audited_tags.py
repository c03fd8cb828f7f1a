"""Tags hidden by six rules: are claims right, and do intervals hold, once 50 pictures were audited?

Scores are held out once for each rule. Then samples are drawn again and again, their true labels told, and
completeness and probabilities learned anew.
"""

import warnings

import numpy as np
from scipy.special import expit

from tagrank.annotation.choosing import Recipe
from tagrank.annotation.describing import PICTURES, describe_pictures
from tagrank.commands.missing.held_out import hold_out
from tagrank.data import Collection, load_dataset
from tagrank.estimators import LabelFrequency, ProbabilityRanker
from tagrank.features import choose_features, usual_features
from tagrank_papers.figures import Answer, Figures
from tagrank_papers.lines import distinct, where
from tagrank_papers.protocols.data import DRAWN, draw_rows
from tagrank_papers.text import markdown_table, read_text, show

TEXT = read_text("audited_tags")
PAGES = ("audit-results.md",)
QUICK = {"only": (DRAWN,), "rules": ("nothing", "all but two"), "draws": 2}
RULES = (
    "nothing",
    "40 % at random",
    "60 % at random",
    "frequent tags",
    "all but two",
    "all but the two rarest",
)
MOST, N_AUDITED, DRAWS, SEED = 2000, 50, 20, 0
FEWEST = 3  # samples that have a tag
HIDDEN = (0.05, 0.8)  # share that is hidden of the rarest and of the most frequent tag
SHOWN = ("data", "rule", "completeness", "off_alone", "off", "held", "held_right")
AIMS = {"off": 5, "held": 90}


def run(*, only=("corel5k_images_260", "coco_multilabel_4k", "enron", "bibtex"), rules=RULES, draws=DRAWS):
    warnings.filterwarnings("ignore", message=".*never positive in training")
    lines = []
    for name in only:
        rows, features = read(name)
        truth = rows.states() > 0
        for rule in rules:
            listed = hide(truth, rule)
            found = hold_out(
                rows.with_labels(listed.astype(float)),
                Recipe("label-ranker", calibration=None, seed=SEED),
                features=features,
                seed=SEED,
            )
            scores = np.where(found.is_judged, found.scores, 0), found.is_judged
            case = {"data": name, "rule": rule, "n_samples": len(truth), "n_tags": truth.shape[1]}
            lines.append(case | measure(truth, listed, *scores, draws))
            show(lines[-1], *SHOWN)
            yield lines


def read(name):
    """Some samples of a set with the tags that a few of them have, and the features of pictures."""
    if name == DRAWN:
        X, Y = draw_rows(120, 6)
        return Collection({"features": X}, Y, name=name), None
    whole, features = load_dataset(name), None
    if len(whole) > MOST:
        chosen = np.random.default_rng(SEED).choice(len(whole), MOST, replace=False)
        whole = whole.subset(np.sort(chosen))
    if PICTURES in whole.views:
        described = describe_pictures(whole, choose_features(usual_features()), cache=True)
        whole, features = described.collection, described.features
    present = whole.states() > 0
    tags = np.flatnonzero(present.sum(axis=0) >= FEWEST)
    rows = present[:, tags].any(axis=1)
    labels = present[np.ix_(rows, tags)].astype(float)
    return whole.subset(rows).with_labels(labels, [whole.tags[j] for j in tags]), features


def hide(truth, rule):
    """The listed labels, bool; every sample that has a label keeps one."""
    rng = np.random.default_rng(SEED)
    chance, frequency = rng.random(truth.shape), truth.sum(axis=0)
    key = np.where(truth, frequency + chance if "rarest" in rule else chance, np.inf)
    place = key.argsort(axis=1).argsort(axis=1)
    hidden = np.zeros(truth.shape[1])
    if "%" in rule:
        hidden += float(rule.split()[0]) / 100
    elif rule == "frequent tags":
        hidden = np.interp(frequency.argsort().argsort(), (0, len(frequency) - 1), HIDDEN)
    is_kept = place < 2 if "but" in rule else rng.random(truth.shape) >= hidden
    is_bare = ~np.any(truth & is_kept, axis=1, keepdims=True)
    return truth & (is_kept | (is_bare & (place == 0)))


def measure(truth, listed, scores, is_judged, draws):
    """What is told without an audit, and with `draws` of them."""
    share = listed.sum() / truth.sum()
    alone = calibrate(listed, scores, is_judged)
    claim, right, _ = written(alone, truth, scores, is_judged)
    told = alone.completeness_
    audits = []
    for seed in range(draws):
        audited = np.zeros(len(truth), dtype=bool)
        audited[np.random.default_rng(seed).choice(len(truth), N_AUDITED, replace=False)] = True
        model = calibrate(np.where(audited[:, None], truth, listed), scores, is_judged, listed, audited)
        audits.append(judge(model, truth, scores, is_judged, share))
    return {
        "true_completeness": float(share),
        "completeness": told.share,
        "completeness_low": told.low,
        "completeness_high": told.high,
        "claim": claim,
        "right": right,
        "off_alone": abs(claim - right),
        "held_alone": bool(told.low <= share <= told.high),
        **{key: float(np.mean([one[key] for one in audits])) for key in audits[0]},
    }


def calibrate(present, scores, is_judged, listed=None, audited=None):
    """A ranker whose scores were held out; what is trained beside it does not matter."""
    states = np.where(present, 1, -1).astype(np.int8)
    held_out = np.where(is_judged, states, 0).astype(np.int8), scores
    decided = None if audited is None else audited[:, None] & present & ~listed
    model = ProbabilityRanker(LabelFrequency(), random_state=SEED)
    X = np.zeros((len(present), 1))
    return model.fit(X, present.astype(float), held_out=held_out, decided=decided, audited=audited)


def written(model, truth, scores, is_judged):
    """Claim, share that is right, and share that is found, of what would be written."""
    probabilities = np.where(is_judged, expit(model.calibration_.log_odds(scores)), 0)
    is_written = probabilities >= model.threshold_
    if not is_written.any():
        return 0.0, 0.0, 0.0
    claim, right = probabilities[is_written].mean(), truth[is_written].mean()
    return float(claim), float(right), float(truth[is_written].sum() / truth.sum())


def judge(model, truth, scores, is_judged, share):
    """One audit: how far off it is, and which of its intervals hold."""
    claim, right, found = written(model, truth, scores, is_judged)
    told = model.completeness_
    intervals = model.curve_.intervals(model.threshold_) or ((0.0, 1.0), (0.0, 1.0))
    (low, high), (found_low, found_high) = intervals
    return {
        "off": abs(claim - right),
        "held": told.low <= share <= told.high,
        "width": (told.high - told.low) / 2,
        "held_right": low <= right <= high,
        "width_right": (high - low) / 2,
        "held_found": found_low <= found <= found_high,
    }


# Its answers to tables


def answer(table, results):
    rows = {
        f"{line['data']}, {line['rule']}": tuple(
            f"{100 * line[key]:.1f}" for key in ("off_alone", "off", "held", "held_right")
        )
        for line in results
    }
    columns = ("off without an audit", "off", "completeness held", "right held")
    off = np.mean([line["off"] for line in results])
    return Answer(
        Figures(columns, rows), f"With an audit, claims are off by {100 * off:.1f} points on average."
    )


# Its page


def render(results, machine):
    """The page: a table for each set, and what was missed."""
    texts = {"most": MOST, "n_audited": N_AUDITED, "draws": DRAWS, **AIMS}
    parts = [
        TEXT.intro.format(**texts).strip(),
        f"Measured on {machine['processor']}, {machine['cores']} cores, other programs running.",
        _summary(results),
    ]
    for name in distinct(results, "data"):
        mine = where(results, data=name)
        parts.append(f"## {name}")
        parts.append(f"{mine[0]['n_samples']:,} samples, {mine[0]['n_tags']:,} tags.")
        parts += [_alone(mine), _audited(mine)]
    return {PAGES[0]: "\n\n".join(parts) + "\n"}


def _summary(lines):
    held = sum(line["held_alone"] for line in lines)
    off, alone = (100 * np.mean([line[key] for line in lines]) for key in ("off", "off_alone"))
    shares = [100 * np.mean([line[key] for line in lines]) for key in ("held", "held_right", "held_found")]
    worst = max(lines, key=lambda line: line["off"])
    return (
        f"Without an audit claims are off by {alone:.1f} points on average, and the interval of the "
        f"completeness holds in {held} of {len(lines)} cases. With an audit of {N_AUDITED} they are off by "
        f"{off:.1f}, at most by {100 * worst['off']:.1f} ({worst['data']}, {worst['rule']}); intervals of "
        f"the completeness, of what is right and of what is found hold in {shares[0]:.0f}, {shares[1]:.0f} "
        f"and {shares[2]:.0f} % of the audits."
    )


def _alone(lines):
    rows = [
        [
            line["rule"],
            f"{100 * line['true_completeness']:.0f}",
            f"{100 * line['completeness']:.0f} ({100 * line['completeness_low']:.0f} to "
            f"{100 * line['completeness_high']:.0f}){'' if line['held_alone'] else ' *'}",
            *(f"{100 * line[key]:.1f}" for key in ("claim", "right", "off_alone")),
        ]
        for line in lines
    ]
    return markdown_table(("hidden", "complete", "told", "claim", "right", "off"), rows, numbers=True)


def _audited(lines):
    header = ("with an audit", "off", "complete: held", "width", "right: held", "width", "found: held")
    keys = ("off", "held", "width", "held_right", "width_right", "held_found")
    rows = [
        [line["rule"], *(f"{100 * line[key]:.{0 if 'held' in key else 1}f}" for key in keys)]
        for line in lines
    ]
    return markdown_table(header, rows, numbers=True)
