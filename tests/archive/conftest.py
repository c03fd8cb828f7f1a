"""A folder of a few small pictures with tags in a list, drawn once; each test gets a copy."""

import shutil

import pytest
from PIL import Image

from tagrank.archive import Archive
from tagrank.data.drawn_pictures import draw_pictures

LISTED = {"a.png": "sky|sea", "b.png": "sea", "sub/c.png": "", "sub/d.png": "boat|sky", "e.png": ""}


@pytest.fixture(scope="session")
def drawn_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drawn")
    (folder / "sub").mkdir()
    for name, pixels in zip(LISTED, draw_pictures(len(LISTED), size=32).view("pictures"), strict=True):
        Image.fromarray(pixels).save(folder / name)
    lines = [f"{name},{tags}" for name, tags in LISTED.items()]
    (folder / "tags.csv").write_text("image,tags\n" + "\n".join(lines) + "\n")
    return folder


@pytest.fixture
def photos(drawn_folder, tmp_path):
    return shutil.copytree(drawn_folder, tmp_path / "photos")


@pytest.fixture
def archive(photos):
    with Archive.open(photos) as archive:
        archive.scan()
        yield archive


@pytest.fixture
def number(archive):
    """The number of a picture by its name."""
    table = archive.pictures()
    return dict(zip(table.names, table.ids.tolist(), strict=True)).__getitem__
