"""Points fall into the cells of a layout."""

import numpy as np
import pytest

from tagrank.features.words.layout import CellLayout
from tagrank.features.words.sampling import Points


def points_at(*places):
    x, y = np.float32(places).reshape(-1, 2).T
    return Points(x, y, np.ones_like(x))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("1x1", [0, 0, 0, 0]),
        ("3x1", [0, 0, 2, 1]),
        ("1x3", [0, 2, 2, 1]),
        ("2x2", [0, 1, 3, 3]),
        ("4x4", [0, 3, 15, 10]),
    ],
)
def test_corners_and_centre(name, expected):
    # a picture 90 wide and 60 high; its centre lies on the line between cells of even grids
    points = points_at((0, 0), (89, 0), (89, 59), (45, 30))
    (grid,) = CellLayout(name).grids
    np.testing.assert_array_equal(grid.cells(points, (60, 90, 3)), expected)


def test_points_on_lines_and_outside():
    points = points_at((0, 19.99), (0, 20), (0, 40), (0, 60), (-1, -5), (200, 75))
    (grid,) = CellLayout("3x1").grids
    np.testing.assert_array_equal(grid.cells(points, (60, 90)), [0, 1, 2, 2, 0, 2])


def test_every_pixel_of_every_grid_has_the_cell_of_integer_arithmetic():
    height, width = 37, 53
    y, x = (axis.ravel() for axis in np.mgrid[:height, :width])
    for name in ("2x2", "3x1", "4x4", "5x7"):
        (grid,) = CellLayout(name).grids
        expected = (y * grid.n_rows // height) * grid.n_columns + x * grid.n_columns // width
        found = grid.cells(Points(np.float32(x), np.float32(y), None), (height, width))
        np.testing.assert_array_equal(found, expected)


def test_names_become_grids():
    assert [grid[:2] for grid in CellLayout("1x1+3x1").grids] == [(1, 1), (3, 1)]
    assert CellLayout("pyramid").n_cells == 21
    assert [grid.weight for grid in CellLayout("pyramid").grids] == [0.25, 0.25, 0.5]
    assert CellLayout("3x1") == CellLayout("3x1") != CellLayout("1x3")


@pytest.mark.parametrize(
    "name", ["", "3", "0x1", "3x", "17x1", "1x1+", "1x99999999", "Pyramid", None, "３x1"]
)
def test_wrong_names_are_refused_at_once(name):
    with pytest.raises(ValueError, match="rows x columns"):
        CellLayout(name)


def test_many_grids_are_refused():
    with pytest.raises(ValueError, match="at most 400 cells, got 512"):
        CellLayout("16x16+16x16")
