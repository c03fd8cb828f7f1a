"""Pooling: the codes of the points of a cell become one row."""

from dataclasses import dataclass

from tagrank.features.base import Part


@dataclass(frozen=True)
class Pooling(Part):
    """Subclasses write `pool`."""

    def pool(self, codes, cells, n_cells):
        """One row for every cell, float32, shape (n_cells, n_columns); zeros for cells without points.

        Parameters
        ----------
        codes : what an encoding returned for n_points points
        cells : intp array, shape (n_points,)
        n_cells : int
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
