"""Generated pictures with exact tags: the embedded default.

Small landscapes, harbours, streets and nights, drawn from a seed. Their tags depend on each other as in life:
a boat brings the sea, stars bring the night, rain hides the sun. No file is read and none is shipped.
"""

import numpy as np

from tagrank.data.collection import Collection
from tagrank.data.scenery.plan import TAGS, plan_scene
from tagrank.data.scenery.scene import draw_scene
from tagrank.validation import check_whole

# pictures are drawn independently, so a fixed pattern is as good as chance: 70 % train, 30 % test
_TEST_PICTURES = (2, 5, 8)


def draw_pictures(n_pictures: int = 400, *, size: int = 96, random_state: int = 0) -> Collection:
    """Draw a collection of small tagged pictures.

    Parameters
    ----------
    n_pictures : number of pictures
    size : width and height in pixels, at least 16
    random_state : seed, an integer of at least 0; the same seed draws the same pictures

    Returns
    -------
    collection : Collection with the view "pictures", uint8 of shape (n_pictures, size, size, 3), 22 tags, and
        the parts "train" and "test"
    """
    n_pictures, size = check_whole("n_pictures", n_pictures, 1), check_whole("size", size, 16)
    images = np.empty((n_pictures, size, size, 3), dtype=np.uint8)
    labels = np.zeros((n_pictures, len(TAGS)))
    for i in range(n_pictures):
        # picture i depends on the seed and on i alone
        rng = np.random.default_rng([random_state, i])
        plan = plan_scene(rng)
        images[i] = draw_scene(plan, size=size, rng=rng)
        labels[i] = [tag in plan.tags for tag in TAGS]
    return Collection(
        views={"pictures": images},
        labels=labels,
        tags=TAGS,
        names=[f"drawing-{i:04d}" for i in range(n_pictures)],
        part=["test" if i % 10 in _TEST_PICTURES else "train" for i in range(n_pictures)],
        name="drawn pictures",
    )
