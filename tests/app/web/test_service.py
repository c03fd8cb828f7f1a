"""Tags for pictures of programs, over HTTP."""

import http.client
import io
import json
import os
import re
import shutil
import subprocess
import warnings
from pathlib import Path

import pytest
from PIL import Image

import tagrank
from tagrank.app.web.model_workers import ModelWorkers
from tagrank.app.web.protection.guard import HostNames
from tagrank.app.web.service import Root, service_app
from tagrank.data.drawn_pictures import draw_pictures
from tests.app.web.live import crowd, running

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

TOKEN = {"Authorization": "Bearer secret"}


@pytest.fixture(scope="module")
def drawn():
    return draw_pictures(60, size=48)


@pytest.fixture(scope="module")
def photos(drawn, tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos")
    (folder / "trip").mkdir()
    for number in range(3):
        Image.fromarray(drawn.view("pictures")[number]).save(folder / "trip" / f"{number}.png")
    (folder / "notes.txt").write_text("no picture")
    (folder / "broken.jpg").write_bytes(b"\xff\xd8 no more")
    (folder.parent / "outside.png").write_bytes((folder / "trip" / "0.png").read_bytes())
    (folder / "link.png").symlink_to(folder.parent / "outside.png")
    (folder / "up").symlink_to(folder.parent)
    return folder


@pytest.fixture(scope="module")
def workers(drawn, tmp_path_factory):
    model = tmp_path_factory.mktemp("model") / "model"
    tagrank.train(drawn, model, method="ridge-regression", features=["hsv"], cache=False, n_jobs=1)
    workers = ModelWorkers(model, max_seconds=30)
    yield workers
    workers.close()


@pytest.fixture(scope="module")
def app(workers, photos):
    return service_app(workers, token="secret", hosts=HostNames(), root=Root(photos), max_bytes=2**20)


@pytest.fixture
def program(app):
    return TestClient(app, base_url="http://127.0.0.1:8478", headers=TOKEN)


def blocks_of_page(language):
    page = Path(__file__).parents[3] / "docs" / "service.md"
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def on_page(app, photos, tmp_path_factory):
    """The service of the page, with the pictures that the page sends: its address and a folder."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "new").mkdir()
    for name in ("new/a.jpg", "new/b.jpg"):
        (folder / name).write_bytes((photos / "trip" / "0.png").read_bytes())
    (photos / "trip" / "a.jpg").write_bytes((photos / "trip" / "0.png").read_bytes())
    with running(app) as (host, port):
        yield f"http://{host}:{port}", folder


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_commands_of_the_page_run(on_page):
    address, folder = on_page
    lines = "".join(blocks_of_page("console")).splitlines()
    assert len(lines) == 4
    for line in lines:
        command = line.replace("http://127.0.0.1:8478", address).replace("curl", "curl --silent --fail", 1)
        command = command.replace("--json", "-H 'Content-Type: application/json' --data")  # curl before 7.82
        answer = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env={**os.environ, "TOKEN": "secret"},
            capture_output=True,
            check=True,
        )
        document = json.loads(answer.stdout)
        assert document.keys() & {"tags", "pictures", "why"}
        assert not document.get("problems")


def test_programs_are_answered_beside_a_crowd_of_idle_connections(app):
    with running(app) as place, crowd(place):
        client = http.client.HTTPConnection(*place)
        client.request("GET", "/model", headers=TOKEN)
        assert client.getresponse().status == 200
        client.close()


def test_the_python_of_the_page_runs(on_page, monkeypatch, capsys):
    address, folder = on_page
    monkeypatch.chdir(folder)
    (block,) = blocks_of_page("python")
    exec(block.replace("http://127.0.0.1:8478", address), {"token": "secret"})
    assert capsys.readouterr().out.startswith("a.jpg [")


def png(pixels):
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    return stream.getvalue()


def upload(*files):
    return [("pictures", (name, content, "image/png")) for name, content in files]


def test_pictures_get_their_tags_one_or_several(program, drawn):
    files = [(f"{k}.png", png(drawn.view("pictures")[k])) for k in range(3)]
    one = program.post("/annotate?top=3", files=upload(files[0])).json()
    several = program.post("/annotate?top=3", files=upload(*files)).json()
    assert several["pictures"][0] == one["pictures"][0]
    assert [picture["name"] for picture in several["pictures"]] == ["0.png", "1.png", "2.png"]
    assert len(one["pictures"][0]["tags"]) >= 3
    assert one["problems"] == []


def test_the_answer_is_that_of_the_library(program, drawn, workers, photos):
    model = program.get("/model").json()
    assert model["tags"] == list(drawn.tags)
    assert model["features"] == ["hsv"]
    answer = program.post("/annotate/path?top=22", json={"paths": ["trip/1.png"]}).json()
    again = program.post(
        "/annotate?top=22", files=upload(("trip/1.png", png(drawn.view("pictures")[1])))
    ).json()
    assert answer == again


def test_a_picture_that_cannot_be_read_is_a_problem_of_its_own(program, drawn):
    files = upload(("good.png", png(drawn.view("pictures")[0])), ("bad.png", b"no picture at all"))
    answer = program.post("/annotate", files=files).json()
    assert [picture["name"] for picture in answer["pictures"]] == ["good.png"]
    assert answer["problems"] == [{"name": "bad.png", "reason": "not a picture in a known format"}]


def test_why_names_training_pictures_and_features(program, drawn):
    picture = {"picture": ("a.png", png(drawn.view("pictures")[0]), "image/png")}
    answer = program.post("/why", files=picture, data={"tags": ["boats"]}).json()
    assert [reason["tag"] for reason in answer["why"]] == ["boats"]
    assert answer["why"][0]["shares"]
    same = program.post("/why/path", json={"path": "trip/0.png", "tags": ["boats"]}).json()
    assert same["why"] == answer["why"]
    assert program.post("/why/path", json={"path": "trip/0.png", "tags": ["none"]}).status_code == 422


def test_the_service_is_described_and_loads_nothing_from_outside(program):
    about = program.get("/openapi.json", headers={"Authorization": ""})
    assert about.json()["security"] == [{"token": []}]
    assert {"/health", "/model", "/annotate", "/annotate/path", "/why"} <= about.json()["paths"].keys()
    assert program.get("/docs").status_code == 404
    assert program.get("/health", headers={"Authorization": ""}).json() == {"status": "ok"}


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer wrong", "Basic secret", "secret"])
def test_without_the_token_nothing_is_told(program, header):
    answer = program.get("/model", headers={"Authorization": header})
    assert answer.status_code == 401
    assert program.post("/annotate", headers={"Authorization": header}).status_code == 401


@pytest.mark.parametrize(
    "path",
    [
        "../outside.png",
        "/etc/passwd",
        "link.png",
        "up/outside.png",
        "trip/../../outside.png",
        "trip/../trip/missing.png",
        "notes.txt",
        "trip",
        "a\0b.png",
        "x" * 3000 + ".png",
    ],
)
def test_only_what_lies_below_the_root_is_read(program, path):
    answer = program.post("/annotate/path", json={"paths": [path]})
    assert answer.status_code == 404
    assert answer.json() == {"error": "there is no such picture in the root folder"}


def test_what_is_wrong_with_a_picture_below_the_root_does_not_tell_where_that_is(program, photos):
    problem = program.post("/annotate/path", json={"paths": ["broken.jpg"]}).json()["problems"][0]
    assert problem["name"] == "broken.jpg"
    assert str(photos) not in problem["reason"]


def test_without_a_root_no_path_is_read(workers):
    alone = service_app(workers, token="secret", hosts=HostNames())
    client = TestClient(alone, base_url="http://127.0.0.1:8478", headers=TOKEN)
    assert client.post("/annotate/path", json={"paths": ["a.png"]}).status_code == 403


def test_a_decompression_bomb_is_refused_and_the_service_goes_on(program, drawn):
    bomb = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(bomb, "PNG")
    answer = program.post("/annotate", files=upload(("bomb.png", bomb.getvalue()))).json()
    assert "pixels" in answer["problems"][0]["reason"]
    assert program.post("/annotate", files=upload(("a.png", png(drawn.view("pictures")[0])))).json()[
        "pictures"
    ]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x89PNG\r\n\x1a\n",
        b"GIF89a" + b"\xff" * 100,
        b"%!PS-Adobe-3.0 EPSF-3.0\n",
        b"<svg/>",
        b"\0" * 1000,
    ],
)
def test_what_is_no_picture_is_a_problem(program, content):
    answer = program.post("/annotate", files=upload(("a.png", content)))
    assert answer.status_code == 200
    assert len(answer.json()["problems"]) == 1


def test_an_upload_that_is_too_large_is_refused(program):
    answer = program.post("/annotate", files=upload(("a.png", b"\0" * 2**20)))
    assert answer.status_code == 413
    assert "1,048,576 bytes" in answer.json()["error"]


def test_too_many_pictures_at_once_are_refused(program):
    assert program.post("/annotate", files=upload(*[("a.png", b"x")] * 33)).status_code == 413


@pytest.mark.parametrize(
    "content", [b"", b"--x\r\n", b"--x\r\nContent-Disposition: form-data\r\n\r\n", b"\xff" * 99]
)
def test_a_malformed_form_is_refused(program, content):
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    answer = program.post("/annotate", content=content, headers=kind)
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]


def test_a_worker_that_dies_is_replaced(program, workers, drawn, monkeypatch):
    worker = workers._idle.get()
    worker._process.kill()
    worker._process.wait()
    workers._idle.put(worker)
    files = upload(("a.png", png(drawn.view("pictures")[0])))
    assert "crashed the process" in program.post("/annotate", files=files).json()["problems"][0]["reason"]
    assert program.post("/annotate", files=files).json()["pictures"]
