"""Dense SIFT against OpenCV's `SIFT.compute` on the same grid, with equal cells, one thread each.

OpenCV's cell is 1.5 times the size of a keypoint, so that its keypoints get 2/3 of our scale. OpenCV starts
from a grey picture and ready keypoints; our time includes the grey picture and the grid. The photographs are
those of Corel5k; --source drawn needs none.

The ratio is of processor times; that of wall-clock times means something only on an idle machine.
"""

import cv2
import numpy as np

from tagrank import load_dataset
from tagrank.data.drawn_pictures import draw_pictures
from tagrank.data.picture_files import read_picture
from tagrank.features.feature import Picture
from tagrank.features.words.local_descriptors import Sift
from tagrank.features.words.sampling import DenseGrid
from tagrank_papers.measuring import best_time
from tagrank_papers.text import show

MINUTES = 1
QUICK = {"source": "drawn", "pictures": 1, "repeats": 1, "grids": 2}
# OpenCV smooths pictures, which it takes to be 0.5 pixels soft already, to 1.6 pixels
SIFT = Sift(smoothing=(1.6**2 - 0.5**2) ** 0.5)
GRIDS = [
    DenseGrid(),
    DenseGrid(scales=(4.0, 6.0, 8.0, 10.0)),
    DenseGrid(scales=(4.0,)),
    DenseGrid(step=4, scales=(4.0,)),
    DenseGrid(scales=(8.0,)),
    DenseGrid(step=3, scales=(4.0, 6.0, 8.0, 10.0), max_points=20_000),
]


def run(*, source="photographs", pictures=10, repeats=5, grids=6):
    cv2.setNumThreads(1)
    kind, images = load_pictures(source, pictures)
    describe(images[0], DenseGrid())
    print(f"{len(images)} {kind}, {images[0].shape[1]}x{images[0].shape[0]}")
    lines = []
    for grid in GRIDS[:grids]:
        lines.append(compare(images, grid, repeats))
        show(lines[-1], *lines[-1])
    yield {"pictures": kind, "n_pictures": len(images), "lines": lines}


def load_pictures(source, n_pictures):
    """What they are, and uint8 arrays."""
    if source == "drawn":
        return "drawn pictures", list(draw_pictures(n_pictures, size=160).view("pictures"))
    paths = sorted(load_dataset("corel5k_images_260").train.view("pictures"))[:n_pictures]
    return "Corel5k photographs", [read_picture(path) for path in paths]


def compare(pictures, grid, repeats):
    """One line of the table: times are for a picture, on average."""
    peer = cv2.SIFT_create()
    ours, theirs, cosines, n_points = np.zeros(2), np.zeros(2), [], 0
    for pixels in pictures:
        points = grid.points(Picture(pixels))
        grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
        keypoints = [
            cv2.KeyPoint(float(x), float(y), scale / 1.5, 0.0) for x, y, scale in zip(*points, strict=True)
        ]
        *times, rows = best_time(describe, pixels, grid, repeats=3 * repeats)
        ours += times
        *times, (_, peer_rows) = best_time(peer.compute, grey, keypoints, repeats=repeats)
        theirs += times
        cosines.append(row_cosines(rows, peer_rows))
        n_points += len(keypoints)
    wall, worked = ours * 1e3 / len(pictures)
    peer_wall, peer_worked = theirs * 1e3 / len(pictures)
    return {
        "step": grid.step,
        "scales": list(grid.scales),
        "points": n_points / len(pictures),
        "opencv_ms": peer_worked,
        "ms": worked,
        "ratio": peer_worked / worked,
        "wall_ratio": peer_wall / wall,
        "median_cosine": float(np.median(np.concatenate(cosines))),
    }


def describe(pixels, grid):
    picture = Picture(pixels)
    return SIFT.compute(picture, grid.points(picture))


def row_cosines(ours, theirs):
    """Cosines between descriptors; OpenCV counts directions against the clock."""
    theirs = theirs.reshape(-1, 16, 8)[:, :, -np.arange(8)].reshape(-1, 128)
    return (ours * theirs).sum(axis=1) / np.maximum(np.linalg.norm(theirs, axis=1), 1)
