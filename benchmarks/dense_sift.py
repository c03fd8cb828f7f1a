"""Dense SIFT against OpenCV's `SIFT.compute` on the same grid, with equal cells, one thread each.

OpenCV's cell is 1.5 times the size of a keypoint, so that its keypoints get 2/3 of our scale. OpenCV starts
from a grey picture and ready keypoints; our time includes the grey picture and the grid. Real photographs if
TAGRANK_DATA names the folder that holds corel5k_images, drawn pictures otherwise.

The ratio is of processor times; that of wall-clock times means something only on an idle machine.

    python benchmarks/dense_sift.py [--pictures 10]
"""

import argparse
import os
import time
from pathlib import Path

import cv2
import numpy as np
from common import write_results

from tagrank.data.drawn_pictures import draw_pictures
from tagrank.data.pictures.files import read_picture
from tagrank.features.base import Picture
from tagrank.features.words.descriptors.sift import Sift
from tagrank.features.words.sampling import DenseGrid

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


def load_pictures(n_pictures):
    """What they are, and uint8 arrays."""
    folder = Path(os.environ.get("TAGRANK_DATA", "")) / "corel5k_images" / "train"
    paths = sorted(folder.glob("*.jpeg"))[:n_pictures]
    if paths:
        return "Corel5k photographs", [read_picture(path) for path in paths]
    return "drawn pictures", list(draw_pictures(n_pictures, size=160).views["pictures"])


def best_times(function, *, repeats):
    """The smallest processor and wall-clock times of `repeats` calls, in seconds, and the last answer."""
    times = []
    for _ in range(repeats):
        wall, processor = time.perf_counter(), time.process_time()
        answer = function()
        times.append((time.process_time() - processor, time.perf_counter() - wall))
    return np.min(times, axis=0), answer


def compare(pictures, grid):
    """One line of the table: times are for a picture, on average."""
    peer = cv2.SIFT_create()
    ours, theirs, cosines, n_points = np.zeros(2), np.zeros(2), [], 0
    for pixels in pictures:
        points = grid.points(Picture(pixels))
        grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
        keypoints = [
            cv2.KeyPoint(float(x), float(y), scale / 1.5, 0.0) for x, y, scale in zip(*points, strict=True)
        ]
        seconds, rows = best_times(lambda: describe(pixels, grid), repeats=15)  # noqa: B023
        ours += seconds
        seconds, (_, peer_rows) = best_times(lambda: peer.compute(grey, keypoints), repeats=5)  # noqa: B023
        theirs += seconds
        cosines.append(row_cosines(rows, peer_rows))
        n_points += len(keypoints)
    ours, theirs = ours * 1e3 / len(pictures), theirs * 1e3 / len(pictures)
    return {
        "step": grid.step,
        "scales": list(grid.scales),
        "points": n_points / len(pictures),
        "opencv_ms": theirs[0],
        "ms": ours[0],
        "ratio": theirs[0] / ours[0],
        "wall_ratio": theirs[1] / ours[1],
        "median_cosine": float(np.median(np.concatenate(cosines))),
    }


def describe(pixels, grid):
    picture = Picture(pixels)
    return SIFT.compute(picture, grid.points(picture))


def row_cosines(ours, theirs):
    """Cosines between descriptors; OpenCV counts directions against the clock."""
    theirs = theirs.reshape(-1, 16, 8)[:, :, -np.arange(8)].reshape(-1, 128)
    return (ours * theirs).sum(axis=1) / np.maximum(np.linalg.norm(theirs, axis=1), 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", type=int, default=10)
    options = parser.parse_args()
    cv2.setNumThreads(1)
    source, pictures = load_pictures(options.pictures)
    describe(pictures[0], DenseGrid())
    print(f"{len(pictures)} {source}, {pictures[0].shape[1]}x{pictures[0].shape[0]}")
    print("step scales                points  opencv ms   ours ms   ratio  wall ratio  cosine")
    lines = []
    for grid in GRIDS:
        line = compare(pictures, grid)
        lines.append(line)
        text = " ".join(f"{scale:g}" for scale in grid.scales)
        print(
            "{step:4d} {text:20} {points:7.0f} {opencv_ms:10.2f} {ms:9.3f} {ratio:7.1f} {wall_ratio:11.1f} "
            "{median_cosine:7.4f}".format(text=text, **line),
            flush=True,
        )
    write_results("dense_sift", {"pictures": source, "n_pictures": len(pictures), "lines": lines})


if __name__ == "__main__":
    main()
