"""The edge histogram on stripes whose direction is known."""

import numpy as np
import pytest

from tagrank.features.whole_picture.edges import QuickEdges


def stripes(angle, size=64):
    """Waves whose brightness changes along `angle`, in degrees."""
    y, x = np.mgrid[:size, :size]
    phase = (x * np.cos(np.radians(angle)) + y * np.sin(np.radians(angle))) * 0.6
    grey = np.rint(127.5 + 100 * np.sin(phase)).astype(np.uint8)
    return np.repeat(grey[..., None], 3, axis=2)


@pytest.mark.parametrize("angle", [0, 45, 90, 135])
def test_stripes_fill_their_own_bin(angle):
    whole = QuickEdges()(stripes(angle))[:8]
    assert np.argmax(whole) == angle / 22.5
    assert whole.max() / whole.sum() > 0.9


def test_an_angle_between_two_bins_is_shared():
    whole = QuickEdges()(stripes(33.75))[:8]
    assert whole[1] == pytest.approx(whole[2], rel=0.15)
    assert whole[1] + whole[2] > 0.9 * whole.sum()


def test_cells_see_where_the_edges_are():
    image = np.full((64, 64, 3), 128, dtype=np.uint8)
    image[:16, 48:] = stripes(0, 16)
    cells = QuickEdges()(image)[8:].reshape(4, 4, 8).sum(axis=2)
    assert cells[0, 3] > 0.75 * cells.sum()


def test_sums_to_one_unless_flat():
    noise = np.random.default_rng(0).integers(0, 256, (40, 30, 3), dtype=np.uint8)
    assert QuickEdges()(noise).sum() == pytest.approx(1)
    assert QuickEdges()(noise).min() >= 0
    assert not QuickEdges()(np.full((20, 20, 3), 7, dtype=np.uint8)).any()


def test_negative_has_the_same_edges():
    noise = np.random.default_rng(1).integers(0, 256, (40, 30, 3), dtype=np.uint8)
    assert np.allclose(QuickEdges()(noise), QuickEdges()(255 - noise), atol=1e-5)
