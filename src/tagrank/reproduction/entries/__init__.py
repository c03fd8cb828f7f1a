"""All tables, paper by paper, and the experiments that repeat them. Nothing heavy is imported."""

from dataclasses import replace

from tagrank.errors import ArgumentError
from tagrank.reproduction.declarations import Paper, Table
from tagrank.reproduction.entries import (
    dissertation_kernels,
    dissertation_ranking,
    dissertation_shared_kernels,
    joint_paper,
    own_questions,
    priors_paper,
    ranking_paper,
    two_way_paper,
)
from tagrank.reproduction.entries.experiments import EXPERIMENTS

RANKING, TWO_WAY, PRIORS, DISSERTATION, JOINT, OWN = "MLR", "TWMMF", "M3L", "dissertation", "JSVM", "ours"
PAPERS = {
    TWO_WAY: Paper(
        "Two-way Multimodal Online Matrix Factorization for Multi-label Annotation", "Vanegas and others"
    ),
    RANKING: Paper(
        "Efficient Multi-label Ranking for Multi-class Learning", "Bucak, Mallapragada, Jin, Jain"
    ),
    PRIORS: Paper(
        "Large Scale Max-Margin Multi-Label Classification with Priors",
        "Hariharan, Zelnik-Manor, Vishwanathan, Varma",
    ),
    JOINT: Paper(
        "Scalable, Accurate Image Annotation with Joint SVMs and Output Kernels", "Xiong, Szedmak, Piater"
    ),
    DISSERTATION: Paper("Multiple Kernel and Multi-label Learning for Image Categorization", "Bucak"),
    OWN: Paper("Questions of ours", "tagrank"),
}
_MODULES = {
    TWO_WAY: (two_way_paper,),
    RANKING: (ranking_paper,),
    PRIORS: (priors_paper,),
    JOINT: (joint_paper,),
    DISSERTATION: (dissertation_ranking, dissertation_kernels, dissertation_shared_kernels),
    OWN: (own_questions,),
}
TABLES = tuple(
    replace(table, paper=paper)
    for paper, modules in _MODULES.items()
    for module in modules
    for table in module.TABLES
)

__all__ = ["EXPERIMENTS", "PAPERS", "TABLES", "find_table", "list_reproductions"]


def list_reproductions() -> list[Table]:
    """All tables of the papers, and our own questions, whatever their state."""
    return list(TABLES)


def find_table(name: str) -> Table:
    """A table by its name."""
    for table in TABLES:
        if table.name == name:
            return table
    near = [table.name for table in TABLES if name.split("-")[0] in table.name]
    known = ", ".join(near or [table.name for table in TABLES])
    raise ArgumentError(f"no table is called {name!r}; there are {known}")
