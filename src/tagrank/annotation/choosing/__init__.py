"""How a model is chosen, by rows that its trials did not see: one engine, four words.

A *recipe* says what is wanted; what it leaves open is chosen. A *candidate* is an estimator on a kernel, with
the values of C that are tried. A *trial* is a candidate, and how well it did on folds held out. A *choice* is
the trials, and what was chosen of them.

`choose` goes step by step through the candidates of a recipe: `Annotator`, `train`, `missing` and the desk.
`search_space` searches all that the entry of one method declares, by any metric: `tune` and `compare`.
`tune_cost` tries values of C of an estimator that somebody made.
"""

from tagrank.annotation.choosing.candidates import (
    Candidate,
    Candidates,
    candidates_of,
    kernel_of,
    mean_kernel,
)
from tagrank.annotation.choosing.choice import (
    CRITERIA,
    CRITERION,
    LIKELIHOOD,
    MEASURES,
    Choice,
    ChosenModel,
    Trial,
    Weighing,
    find_criterion,
)
from tagrank.annotation.choosing.plan import MOST_COMPARED, Budget, RowPlan
from tagrank.annotation.choosing.recipe import (
    AUTO,
    FEWEST_TO_HOLD_OUT,
    METHOD,
    TRIED,
    Recipe,
)
from tagrank.annotation.choosing.search import SEARCHES, open_space, search_space, usual_parameters
from tagrank.annotation.choosing.steps import choose, scaled
from tagrank.annotation.choosing.trials import COMPARING, deal_folds, quiet_folds, score_fold, tune_cost

__all__ = [
    "AUTO",
    "COMPARING",
    "CRITERIA",
    "CRITERION",
    "FEWEST_TO_HOLD_OUT",
    "LIKELIHOOD",
    "MEASURES",
    "METHOD",
    "MOST_COMPARED",
    "SEARCHES",
    "TRIED",
    "Budget",
    "Candidate",
    "Candidates",
    "Choice",
    "ChosenModel",
    "Recipe",
    "RowPlan",
    "Trial",
    "Weighing",
    "candidates_of",
    "choose",
    "deal_folds",
    "find_criterion",
    "kernel_of",
    "mean_kernel",
    "open_space",
    "quiet_folds",
    "scaled",
    "score_fold",
    "search_space",
    "tune_cost",
    "usual_parameters",
]
