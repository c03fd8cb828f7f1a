"""Spatial layouts: the cells of a picture, and how the codes of the points of a cell become one row."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from tagrank.features.feature import Part

# finer grids have more cells than a picture has points, and rows that fill the memory
_MAX_LINES, _MAX_CELLS = 16, 400
# Lazebnik et al. 2006, three levels: a match found in a finer grid counts more
_PYRAMID = ("1x1", 0.25), ("2x2", 0.25), ("4x4", 0.5)


class Grid(NamedTuple):
    """A picture cut into `n_rows` times `n_columns` equal cells, whose words count `weight` times."""

    n_rows: int
    n_columns: int
    weight: float

    @property
    def n_cells(self):
        return self.n_rows * self.n_columns

    def cells(self, points, shape):
        """The cell of every point, row by row, intp array of shape (n_points,).

        A point on the line between two cells belongs to the lower or right one, a point on or beyond the
        border of the picture to the cell next to it.
        """
        height, width = shape[:2]
        return _stripe(points.y, height, self.n_rows) * self.n_columns + _stripe(
            points.x, width, self.n_columns
        )


@dataclass(frozen=True)
class CellLayout(Part):
    """One or several grids over the picture.

    Parameters
    ----------
    name : str, rows x columns: "1x1" is the whole picture, "3x1" three horizontal bands (V3H1), "2x2" the
        quarters; several of equal weight are joined by "+", as in "1x1+3x1"; "pyramid" is 1x1, 2x2 and 4x4
        with the weights of spatial pyramid matching

    >>> CellLayout("3x1").n_cells
    3
    """

    written_as: ClassVar[str] = "Layout"

    name: str = "1x1"

    def __post_init__(self):
        if self.n_cells > _MAX_CELLS:
            raise ValueError(f"a layout has at most {_MAX_CELLS} cells, got {self.n_cells}")

    @cached_property
    def grids(self) -> tuple[Grid, ...]:
        names = _PYRAMID if self.name == "pyramid" else [(name, 1.0) for name in str(self.name).split("+")]
        return tuple(_parse(name, weight) for name, weight in names)

    @property
    def n_cells(self):
        return sum(grid.n_cells for grid in self.grids)


def _parse(name, weight):
    match = re.fullmatch(r"([1-9]\d?)x([1-9]\d?)", name)
    if match is None or max(map(int, match.groups())) > _MAX_LINES:
        raise ValueError(
            f"a layout is rows x columns of at most {_MAX_LINES} each, such as '1x1', '3x1' or '1x1+2x2', "
            f"or 'pyramid'; got {name!r}"
        )
    return Grid(int(match[1]), int(match[2]), weight)


def _stripe(position, length, n_stripes):
    stripes = np.floor(position * (n_stripes / length)).astype(np.intp)
    return np.clip(stripes, 0, n_stripes - 1)


@dataclass(frozen=True)
class Pooling(Part):
    """Subclasses write `pool`."""

    def pool(self, codes, cells, n_cells):
        """One row for every cell, float32, shape (n_cells, n_columns); zeros for cells without points.

        `codes` are what an encoding returned for n_points points, `cells` theirs, intp (n_points,).
        """
        raise NotImplementedError


@dataclass(frozen=True)
class AveragePooling(Pooling):
    """How often a word occurs: the mean over the points."""

    def pool(self, codes, cells, n_cells):
        return codes.mean(cells, n_cells)


@dataclass(frozen=True)
class MaxPooling(Pooling):
    """How clearly a word occurs: the largest weight of any point."""

    def pool(self, codes, cells, n_cells):
        return codes.max(cells, n_cells)
