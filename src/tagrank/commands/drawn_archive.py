"""An archive to try things on: drawn pictures that lack half of their tags."""

import os

from tagrank.data.drawn_pictures import draw_pictures
from tagrank.data.splits import hide_labels
from tagrank.data.writers.tags import write_picture_folder


def draw_archive(
    folder: str | os.PathLike, *, n_pictures: int = 400, size: int = 144, hidden: float = 0.5, seed: int = 0
) -> None:
    """Draw pictures into a folder that does not exist yet, with a list of some of their tags.

    Parameters
    ----------
    folder : is complete when this returns, or not there
    n_pictures, size, seed : as in `draw_pictures`
    hidden : share of the tags that the list lacks
    """
    drawn = draw_pictures(n_pictures, size=size, random_state=seed)
    write_picture_folder(drawn.replaced(labels=hide_labels(drawn.labels, hidden, random_state=seed)), folder)
