"""`tagrank desk` and `tagrank serve` as commands: how they start, what they refuse, how they end."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from PIL import Image

from tagrank.app.cli.access import hash_of, take_password
from tagrank.app.cli.network import check_proxies
from tagrank.app.web.protection.passwords import Cost, hash_password
from tagrank.archive import Answer, Archive
from tagrank.data.drawn_pictures import draw_pictures


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Untagged pictures: nothing is trained on them."""
    folder = tmp_path_factory.mktemp("archive") / "photos"
    folder.mkdir()
    for k, pixels in enumerate(draw_pictures(3, size=32).view("pictures")):
        Image.fromarray(pixels).save(folder / f"{k}.png")
    return folder


def start(*arguments):
    """The process of a command, and what it first says on standard output."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tagrank", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    return process, process.stdout.readline()


def end(process, number=signal.SIGINT):
    process.send_signal(number)
    _, said = process.communicate()
    return process.returncode, said


def ask(place, path, token, body=None):
    request = urllib.request.Request(
        place + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def test_a_desk_opens_decides_and_ends(photos, tagrank):
    process, line = start(
        "desk", photos, "--no-browser", "--port", "0", "--name", "anna", "--features", "hsv"
    )
    place, _, token = line.split()[-1].partition("/?token=")
    picture = ask(place, "/api/pictures", token)["items"][0]
    answers = [{"picture": picture["id"], "tag": "sea", "answer": "no"}]
    assert ask(place, "/api/decisions", token, {"request": "a", "answers": answers})["decisions"] == 1
    second = tagrank("desk", str(photos), "--no-browser", "--port", "0")
    assert second.exit_code == 1
    assert f"is open at {place}" in second.stderr
    code, said = end(process)
    assert code == 0
    assert "1 decision saved" in said
    connection = sqlite3.connect(photos / ".tagrank" / "desk.sqlite")
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
    process, line = start("desk", photos, "--no-browser", "--port", "0", "--features", "hsv")
    place, _, token = line.split()[-1].partition("/?token=")
    assert [one["by"] for one in ask(place, "/api/history", token)["decisions"]] == ["anna"]
    assert end(process, signal.SIGTERM)[0] == 0


def newer(folder):
    (folder / ".tagrank").mkdir()
    connection = sqlite3.connect(folder / ".tagrank" / "desk.sqlite")
    connection.execute("PRAGMA application_id = 1")
    connection.execute("PRAGMA user_version = 999")
    connection.execute("CREATE TABLE x (y)")
    connection.commit()
    connection.close()


def test_what_is_no_archive_is_refused_in_a_sentence_and_left_as_it_was(tagrank, tmp_path):
    (tmp_path / "notes.txt").write_text("no picture")
    for place, words in [
        (tmp_path, "has no pictures"),
        (tmp_path / "nowhere", "no such folder"),
        (tmp_path / "notes.txt", "is not a folder"),
    ]:
        result = tagrank("desk", str(place), "--no-browser", "--port", "0")
        assert result.exit_code == 1
        assert words in result.stderr
        assert result.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_database_that_is_not_ours_is_refused(tagrank, tmp_path):
    Image.new("RGB", (32, 32)).save(tmp_path / "a.png")
    newer(tmp_path)
    result = tagrank("desk", str(tmp_path), "--no-browser", "--port", "0")
    assert result.exit_code == 1
    assert "desk.sqlite" in result.stderr


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_says_where_else_decisions_may_lie(tagrank, tmp_path):
    Image.new("RGB", (32, 32)).save(tmp_path / "a.png")
    tmp_path.chmod(0o500)
    result = tagrank("desk", str(tmp_path), "--no-browser", "--port", "0")
    tmp_path.chmod(0o700)
    assert result.exit_code == 1
    assert "--decisions" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "a folder of pictures, or --demo"),
        (["PHOTOS", "--demo"], "a folder of pictures, or --demo"),
        (["PHOTOS", "--certificate", "x.pem"], "must be used together"),
        (["PHOTOS", "--certificate", "x.pem", "--key", "y.pem"], "expected a PEM file"),
        (["PHOTOS", "--password-file", "x"], "--host ADDRESS"),
        (["PHOTOS", "--new-password"], "--host ADDRESS"),
        (["PHOTOS", "--host", "127.0.0.1"], "TAGRANK_PASSWORD"),
        (["PHOTOS", "--name", ""], "1 to 60 characters"),
        (["PHOTOS", "--port", "70000"], "65535"),
        (["PHOTOS", "--train-after", "-1"], "train-after"),
        (["PHOTOS", "--features", "nonsense"], "no features 'nonsense'"),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error(tagrank, photos, arguments, words, monkeypatch):
    monkeypatch.delenv("TAGRANK_PASSWORD", raising=False)
    given = [str(photos) if word == "PHOTOS" else word for word in arguments]
    result = tagrank("desk", *given, "--no-browser")
    assert result.exit_code == 2
    assert words in result.stderr


def test_a_port_in_use_is_named(tagrank, photos):
    from tagrank.app.web.serving import listen

    with listen("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        result = tagrank("desk", str(photos), "--no-browser", "--port", port)
    assert result.exit_code == 1
    assert f"port {port} of 127.0.0.1 is in use" in result.stderr


def test_without_the_packages_it_says_how_to_get_them(tagrank, photos, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    for command in (["desk", str(photos)], ["serve", "model"]):
        result = tagrank(*command)
        assert result.exit_code == 1
        assert "pip install 'tagrank[desk]'" in result.stderr


def test_others_on_the_network_are_warned_of(tagrank, photos, monkeypatch):
    monkeypatch.setenv("TAGRANK_PASSWORD", "short")
    result = tagrank("desk", str(photos), "--host", "0.0.0.0", "--no-browser")
    assert result.exit_code == 2
    assert "connections are not encrypted" in result.stderr
    assert "8 to 1,000 characters" in result.stderr


def test_a_password_comes_from_a_file_or_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("TAGRANK_PASSWORD", "of the environment")
    (tmp_path / "password").write_text("of the file\nand more\n")
    assert take_password(None, None, wants_new=False) == "of the environment"
    assert take_password(None, tmp_path / "password", wants_new=False) == "of the file"
    monkeypatch.delenv("TAGRANK_PASSWORD")
    assert take_password("stored", None, wants_new=False) is None


def test_only_another_password_is_stored_anew():
    stored = hash_password("the password", Cost(2**4, 1, 1))
    assert hash_of(None, stored) == stored
    assert hash_of("the password", stored) == stored
    assert hash_of("another password", stored) != stored


# serve


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "model not found"),
        (["nowhere", "--root", "nowhere"], "is not a folder"),
        (["nowhere", "--token-file", "nowhere.txt"], "nowhere.txt"),
        (["nowhere", "--proxy", "photos.example"], "--proxy photos.example is not an address"),
        (["nowhere", "--proxy", "0.0.0.0/0"], "would trust everyone"),
    ],
)
def test_a_service_that_cannot_start_says_why(tagrank, arguments, words):
    result = tagrank("serve", *arguments, "--port", "0")
    assert result.exit_code in (1, 2)
    assert words in result.stderr


def test_a_token_has_to_be_long(tagrank, tmp_path):
    (tmp_path / "token").write_text("short\n")
    result = tagrank("serve", "model", "--token-file", str(tmp_path / "token"))
    assert result.exit_code == 2
    assert "at least 16" in result.stderr


def test_a_web_server_is_known_by_both_versions_of_its_address():
    assert check_proxies(["127.0.0.1", "10.0.0.0/8", "fd00::1"]) == [
        "127.0.0.1/32",
        "::ffff:127.0.0.1/128",
        "10.0.0.0/8",
        "::ffff:10.0.0.0/104",
        "fd00::1/128",
    ]


@pytest.fixture
def gift(photos, tmp_path, monkeypatch):
    """A copy of an archive that somebody else made, with decisions in it; and a state of one's own."""
    folder = shutil.copytree(photos, tmp_path / "gift", ignore=shutil.ignore_patterns(".tagrank"))
    with Archive.open(folder) as archive:
        archive.scan()
        archive.decide([Answer(1, "sea", "yes"), Answer(2, "sky", "no")], who="mallory", request="1")
    monkeypatch.setenv("TAGRANK_STATE", str(tmp_path / "state"))
    return folder


def listen_and_end(*arguments):
    """What a desk says until it ends, and what `ask` makes of its address while it is open."""
    process, line = start("desk", *arguments, "--no-browser", "--port", "0", "--features", "hsv")
    return line, end(process)[1]


def test_an_archive_of_somebody_else_is_announced_once(gift):
    _, said = listen_and_end(gift)
    assert "was made by somebody else" in said
    assert "2 decisions by mallory (2)" in said
    assert "made by somebody else" not in listen_and_end(gift)[1]


def test_what_a_stranger_planted_is_neither_believed_nor_touched(gift, tmp_path):
    home, years = gift / ".tagrank", tmp_path / "years"
    for number in range(1, 31):
        (years / str(number)).mkdir(parents=True)
    (home / "models").symlink_to(years)
    (home / "desk.password").write_text(hash_password("password of mallory", Cost(2**4, 1, 1)))
    before = sorted(path.name for path in home.iterdir())
    _, said = listen_and_end(gift)
    assert "ignored models, desk.password in" in said
    assert len(list(years.iterdir())) == 30
    assert sorted(path.name for path in home.iterdir()) == sorted([*before, "desk.lock"])


def test_a_planted_password_does_not_open_the_desk(gift, tagrank, monkeypatch):
    monkeypatch.delenv("TAGRANK_PASSWORD", raising=False)
    planted = hash_password("password of mallory", Cost(2**4, 1, 1))
    (gift / ".tagrank" / "desk.password").write_text(planted)
    result = tagrank("desk", str(gift), "--host", "127.0.0.1", "--no-browser", "--port", "0")
    assert result.exit_code == 2
    assert "--host needs a password" in result.stderr


def test_a_moved_archive_is_recognised_only_when_the_user_says_so(gift, tmp_path, tagrank):
    with Archive.open(gift) as archive:
        mine = archive.own.folder
    moved = gift.rename(tmp_path / "renamed")
    _, said = listen_and_end(moved, "--moved")
    assert f"using the models and the password of the archive that was at {gift / '.tagrank'}" in said
    with Archive.open(moved) as archive:
        assert archive.own.folder == mine
    again = moved.rename(tmp_path / "again")
    _, said = listen_and_end(again)
    assert "add --moved to use its models and password" in said
    with Archive.open(again) as archive:
        assert archive.own.folder != mine


def sign_in(place, name, password):
    request = urllib.request.Request(
        place + "/api/sign-in",
        data=json.dumps({"name": name, "password": password}).encode(),
        headers={"Content-Type": "application/json", "Origin": place},
    )
    with urllib.request.urlopen(request) as answer:
        return answer.headers["Set-Cookie"].partition(";")[0]


def status(place, path, cookie):
    request = urllib.request.Request(place + path, headers={"Cookie": cookie})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_a_restart_signs_nobody_out_and_a_new_password_everybody(gift, monkeypatch):
    monkeypatch.setenv("TAGRANK_PASSWORD", "correct horse")
    arguments = ["desk", gift, "--host", "127.0.0.1", "--no-browser", "--features", "hsv", "--port"]
    process, line = start(*arguments, "0")
    place = line.split()[-1]
    port = place.rpartition(":")[2]
    cookie = sign_in(place, "anna", "correct horse")
    assert status(place, "/api/overview", cookie) == 200
    end(process)
    monkeypatch.delenv("TAGRANK_PASSWORD")
    process, _ = start(*arguments, port)
    assert status(place, "/api/overview", cookie) == 200
    end(process)
    monkeypatch.setenv("TAGRANK_PASSWORD", "another horse")
    process, _ = start(*arguments, port)
    assert status(place, "/api/overview", cookie) == 401
    end(process)


def test_a_token_signs_in_for_one_start_only(gift):
    cookies = []
    arguments = ["desk", gift, "--no-browser", "--features", "hsv", "--port"]
    port = "0"
    for _ in range(2):
        process, line = start(*arguments, port)
        place, _, token = line.split()[-1].partition("/?token=")
        port = place.rpartition(":")[2]
        assert [status(place, "/api/overview", cookie) for cookie in cookies] == [401] * len(cookies)
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        opener.open(f"{place}/?token={token}").close()
        (jar,) = [handler.cookiejar for handler in opener.handlers if hasattr(handler, "cookiejar")]
        cookies = [f"{cookie.name}={cookie.value}" for cookie in jar]
        assert status(place, "/api/overview", cookies[0]) == 200
        end(process)


def test_links_out_of_the_folder_are_not_served(gift, tmp_path, monkeypatch):
    private = tmp_path / "private"
    private.mkdir()
    Image.new("RGB", (32, 32)).save(private / "passport.png")
    (gift / "album").symlink_to(private)
    (gift / "one.png").symlink_to(private / "passport.png")
    monkeypatch.setenv("TAGRANK_PASSWORD", "correct horse")
    shown = {}
    for options in ([], ["--follow-links"], ["--host", "127.0.0.1", "--follow-links"]):
        process, line = start("desk", gift, "--no-browser", "--port", "0", "--features", "hsv", *options)
        place, _, token = line.split()[-1].partition("/?token=")
        cookie = "" if token else sign_in(place, "anna", "correct horse")
        headers = {"Authorization": f"Bearer {token}"} if token else {"Cookie": cookie}
        request = urllib.request.Request(place + "/api/pictures", headers=headers)
        with urllib.request.urlopen(request) as answer:
            names = {one["name"]: one["id"] for one in json.load(answer)["items"]}
        shown[" ".join(options)] = set(names) - {"0.png", "1.png", "2.png"}
        if options == ["--follow-links"]:
            numbers = [names["one.png"], names["album/passport.png"]]
        if "--host" in options:
            # known from before, and still not shown
            assert [status(place, f"/images/{number}", cookie) for number in numbers] == [404, 404]
        end(process)
    assert shown == {
        "": {"one.png"},
        "--follow-links": {"one.png", "album/passport.png"},
        "--host 127.0.0.1 --follow-links": set(),
    }
