import numpy as np
import pytest
from PIL import Image

from tagrank.archive import Answer, Archive
from tagrank.data.drawn_pictures import draw_pictures
from tagrank.desk.desk import Desk
from tagrank.desk.queues import make_queue
from tests.desk.fakes import FakeModels, FakeProposals, FakeTrainer

FILTERS = ("queue", "tag", "folder", "state", "start", "end", "text")
TAGS = ("boat", "sea", "sky", "tree")
N_PICTURES = 12


def as_answers(rows):
    """Answers of rows with "picture", "tag" and "answer"."""
    return [Answer(**row) for row in rows]


def wall(desk, **asked):
    """A page of a queue; what it is asked for stands in one line."""
    names = {name: asked.pop(name) for name in FILTERS if name in asked}
    return desk.wall(make_queue(names.pop("queue", "missing"), **names), who="anna", **asked)


@pytest.fixture(scope="session")
def photographs(tmp_path_factory):
    """Twelve small pictures, the last four in a folder below; ten list a tag: boat, sea and sky in turns."""
    folder = tmp_path_factory.mktemp("photographs") / "holiday"
    for name, image in zip(names(), draw_pictures(N_PICTURES, size=32).view("pictures"), strict=True):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(folder / name)
    lines = [f"{name},{TAGS[i % 3]}" for i, name in enumerate(names()[:10])]
    (folder / "tags.csv").write_text("\n".join(["image,tags", *lines, ""]))
    return folder


def names():
    return [f"{'summer/' if i >= 8 else ''}{i:02d}.png" for i in range(N_PICTURES)]


@pytest.fixture
def archive(photographs, tmp_path):
    """The photographs with an empty file of decisions, in which the tag "tree" is known too."""
    with Archive.open(photographs, database=tmp_path / "desk.sqlite") as opened:
        opened.scan(cache=False)
        opened.decide([Answer(int(opened.pictures().ids[0]), "tree", "no")], who="nobody", request="first")
        opened.undo(who="nobody", request="second")
        yield opened


@pytest.fixture
def probabilities():
    """Of twelve pictures and four tags, all different."""
    return (
        np.random.default_rng(0)
        .permutation(np.linspace(0.01, 0.99, N_PICTURES * len(TAGS)))
        .reshape(-1, len(TAGS))
    )


@pytest.fixture
def make_desk(archive, probabilities):
    def make(*, n_models=1, **options):
        ids = archive.pictures().ids
        models = [FakeProposals(k, ids, TAGS, probabilities) for k in range(1, n_models + 1)]
        desks.append(Desk(archive, FakeModels(*models), FakeTrainer(), cache=False, **options))
        return desks[-1]

    desks = []
    yield make
    for desk in desks:
        desk.close()
