"""What others try on the desk, each with a test.

What they try on the service, with uploads and paths, is in test_service, with slow clients in test_server.
"""

import itertools
import json

import pytest

from tagrank.app.web.application import desk_app
from tagrank.app.web.protection.guard import HostNames
from tagrank.app.web.protection.limits import Attempts, RateLimit, neighbourhood
from tagrank.app.web.protection.passwords import Cost, PasswordFile, hash_password, is_password
from tagrank.app.web.protection.security import Security, check_name, local_path
from tagrank.app.web.protection.sessions import SessionMemory, Sessions
from tagrank.app.web.routes import download_name
from tagrank.desk.queues import Missing
from tests.app.web.conftest import BASE, PASSWORD, TestClient

BODY = {"request": "a", "answers": [{"picture": 1, "tag": "boats", "answer": "yes"}]}
MARKUP = "<script>alert(1)</script>\"'&"


def post(browser, headers=None, **more):
    return browser.post("/api/decisions", **({"json": BODY} | more), headers=headers)


def sign_in(browser, name="anna", password=PASSWORD):
    return browser.post("/api/sign-in", json={"name": name, "password": password})


# the token


@pytest.mark.parametrize(
    "token", ["", "the-toke", "the-token2", "THE-TOKEN", "thé-token", "\0", "the-token\n"]
)
def test_a_wrong_token_opens_nothing(outside, token):
    answer = outside.get("/api/overview", params={"token": token})
    assert answer.status_code == 401
    assert not answer.cookies
    bearer = {"Authorization": b"Bearer x" + token.strip().encode()}
    assert outside.get("/api/overview", headers=bearer).status_code == 401


@pytest.mark.parametrize(
    "path", ["/api/overview", "/api/export", "/thumbnails/1", "/images/1", "/api/openapi.json"]
)
def test_without_a_session_nothing_is_told(outside, path):
    assert outside.get(path).status_code == 401
    outside.cookies.set("tagrank-8477", "guessed")
    assert outside.get(path).status_code == 401


def test_without_a_session_nothing_is_changed(outside, desk):
    assert post(outside).status_code == 401
    assert outside.post("/api/scan", json={}).status_code == 401
    assert outside.delete("/api/training").status_code == 401
    assert not desk.batches


def test_the_token_leaves_the_address_and_becomes_a_cookie_that_scripts_cannot_read(outside):
    answer = outside.get("/wall?tag=a&token=the-token&queue=tag")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/wall?tag=a&queue=tag"
    words = {word.strip().lower() for word in answer.headers["set-cookie"].split(";")}
    assert {"httponly", "samesite=strict", "path=/"} <= words
    assert "the-token" not in answer.headers["set-cookie"]


def test_a_program_may_send_the_token_in_a_header(outside):
    assert outside.get("/api/overview", headers={"Authorization": "Bearer the-token"}).status_code == 200


def test_the_token_is_no_password(outside):
    assert sign_in(outside, password="the-token").status_code == 403


@pytest.mark.parametrize(
    "path", ["//evil.example", "/\\evil.example", "/%0d%0aSet-Cookie:%20a=b", "/%2f%2fevil.example"]
)
def test_the_way_on_from_the_token_stays_here(outside, path):
    answer = outside.get(f"{BASE}{path}?token=the-token")
    assert answer.headers["location"].startswith("/")
    assert not answer.headers["location"].startswith(("//", "/\\"))
    assert "a=b" not in answer.headers["set-cookie"]


# Host: DNS rebinding


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8477",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "evil.example#127.0.0.1",
        "127.0.0.1@evil.example",
        "127.0.0.1/static/?",
        "127.0.0.1\t",
        "192.168.1.1",
        "0.0.0.0",
        "",
    ],
)
def test_another_name_is_not_answered_to(browser, host):
    answer = browser.get("/api/overview", headers={"Host": host})
    assert answer.status_code == 421
    assert "archive" not in answer.text


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8477", "localhost", "LOCALHOST:8477", "[::1]:8477", "localhost."]
)
def test_its_own_names_are_answered_to(browser, host):
    assert browser.get("/api/overview", headers={"Host": host}).status_code == 200


def test_a_server_on_all_addresses_is_called_by_address_but_not_by_any_name():
    names = HostNames("0.0.0.0", ["photos.example"])
    for host in ("192.168.1.7:8477", "[fe80::1]", "photos.example", "localhost"):
        names.check(host)
    for host in ("evil.example", "192.168.1.7.evil.example"):
        with pytest.raises(Exception, match="does not answer to this host name"):
            names.check(host)


def test_host_does_not_choose_which_checks_are_made(outside):
    """What Host holds must not look like the path of something open to all."""
    for host in ("127.0.0.1/static/?", "127.0.0.1/sign-in?", "127.0.0.1/sign-in#"):
        assert outside.get("/api/overview", headers={"Host": host}).status_code == 421


# cross-site requests


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:3000"},
        {"Origin": "http://127.0.0.1:8477.evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
    ],
)
def test_a_page_of_another_site_changes_nothing(browser, desk, headers):
    assert post(browser, headers).status_code == 403
    assert browser.delete("/api/training", headers=headers).status_code == 403
    assert not desk.batches


def test_what_does_not_say_where_it_comes_from_changes_nothing(browser, desk):
    del browser.headers["Origin"]
    assert post(browser).status_code == 403
    assert not desk.batches
    assert post(browser, {"Sec-Fetch-Site": "same-origin"}).status_code == 200


def test_a_link_from_another_site_leads_here_by_a_page_that_asks_again(outside):
    """Browsers send the cookie only with that second request; what is not signed in stays so."""
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    answer = outside.get("/wall?tag=a", headers=link)
    assert answer.status_code == 200
    assert 'http-equiv="refresh"' in answer.text
    assert outside.get("/wall?tag=a", headers=link | {"Sec-Fetch-Site": "same-origin"}).status_code == 401


@pytest.mark.parametrize("path", ["/api/overview", "/thumbnails/1", "/api/export"])
def test_a_page_of_another_site_shows_nothing_of_ours(browser, path):
    for site in ("cross-site", "same-site"):
        assert (
            browser.get(path, headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"}).status_code
            == 403
        )


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "text/json"],
)
def test_what_a_form_can_send_is_not_taken(browser, desk, kind):
    answer = post(browser, {"Content-Type": kind}, json=None, content=json.dumps(BODY))
    assert answer.status_code == 415
    assert not desk.batches


def test_a_form_cannot_send_a_file_of_decisions(browser, desk):
    for kind in ("text/plain", "multipart/form-data; boundary=x"):
        headers = {"Content-Type": kind}
        assert browser.post("/api/import?dry_run=false", content=b"x", headers=headers).status_code == 415
    assert not desk.calls


def test_no_answer_may_be_read_by_another_site(browser):
    asks = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    answer = browser.options("/api/decisions", headers=asks)
    assert answer.status_code == 405
    for one in (answer, browser.get("/api/overview", headers={"Origin": "http://evil.example"})):
        assert not [name for name in one.headers if name.startswith("access-control")]


# methods


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "TRACE", "OPTIONS", "NONSENSE"])
def test_only_post_decides(browser, desk, method):
    answer = browser.request(method, "/api/decisions", json=BODY)
    assert answer.status_code == 405
    assert not desk.batches


def test_the_method_cannot_be_named_elsewhere(browser, desk):
    override = {"X-HTTP-Method-Override": "POST", "X-HTTP-Method": "POST", "X-Method-Override": "POST"}
    assert (
        browser.request("GET", "/api/decisions?_method=POST", json=BODY, headers=override).status_code == 405
    )
    assert browser.get("/api/scan").status_code == 405
    assert not desk.batches


def test_head_tells_nothing_without_a_session(outside):
    answer = outside.head("/api/overview")
    assert answer.status_code in (401, 405)
    assert not answer.content


# paths


@pytest.mark.parametrize(
    "path",
    [
        "/static/x/../../../../../../etc/passwd",
        "/static/x/..%2f..%2f..%2fetc/passwd",
        "/static/x/%2e%2e/%2e%2e/application.py",
        "/static/x//etc/passwd",
        "/static/x/../application.py",
        "/static/..%2fapi/overview",
        "/static/",
        "/static/x/",
        "/thumbnails/..%2f..%2fetc%2fpasswd",
        "/images/1%2f..%2f2",
        "/thumbnails/1.jpg",
        "/thumbnails/-1",
        "/thumbnails/%00",
        "/thumbnails/99999999999999999999999999",
        "/pictures/../etc/passwd",
    ],
)
def test_no_path_leads_out(browser, path):
    answer = browser.get(f"{BASE}{path}", headers={"Accept": "application/json"})
    assert answer.status_code in (404, 422)
    assert "root:" not in answer.text
    assert "import" not in answer.text


@pytest.mark.parametrize("side", ["0", "-5", "100000", "1e3", "256;", "../.."])
def test_a_picture_is_not_drawn_at_any_size(browser, side):
    assert browser.get("/images/1", params={"side": side}).status_code == 422


# sessions


def test_a_session_that_was_planted_is_not_taken_over(new_browser):
    """Session fixation: whoever set the cookie before must not know the one after."""
    victim = new_browser()
    victim.cookies.set("tagrank-8477", "planted", domain="127.0.0.1", path="/")
    assert sign_in(victim).status_code == 200
    attacker = new_browser()
    attacker.cookies.set("tagrank-8477", "planted")
    assert attacker.get("/api/overview").status_code == 401


def test_signing_in_again_gives_another_session_and_ends_the_old_one(new_browser):
    browser = new_browser()
    sign_in(browser)
    old = browser.cookies["tagrank-8477"]
    sign_in(browser, name="ben")
    assert browser.cookies["tagrank-8477"] != old
    assert browser.get("/api/overview").json()["person"] == "ben"
    other = new_browser()
    other.cookies.set("tagrank-8477", old)
    assert other.get("/api/overview").status_code == 401


def test_after_signing_out_the_cookie_is_worth_nothing(new_browser):
    browser = new_browser()
    sign_in(browser)
    word = browser.cookies["tagrank-8477"]
    assert browser.post("/api/sign-out", json={}).status_code == 200
    browser.cookies.set("tagrank-8477", word)
    assert browser.get("/api/overview").status_code == 401


def test_sessions_outlive_a_restart_and_end_with_another_password(desk):
    store, secret = SessionMemory(), "hash of a password"
    word = Sessions(store, secret).begin("anna")
    assert word not in str(vars(store))
    assert Sessions(store, secret).person(word) == "anna"
    assert Sessions(store, "hash of another").person(word) is None


def test_a_session_is_over_after_its_time():
    sessions = Sessions(SessionMemory(), seconds=-1)
    assert sessions.person(sessions.begin("anna")) is None


def test_an_encrypted_cookie_never_travels_in_the_clear(desk, security):
    security.is_encrypted = True
    browser = TestClient(desk_app(desk, security), base_url="https://127.0.0.1:8477", follow_redirects=False)
    cookie = browser.get("/?token=the-token").headers["set-cookie"]
    assert cookie.startswith("__Host-tagrank-8477=")
    assert "; Secure" in cookie


# passwords


def test_a_wrong_password_opens_nothing(new_browser):
    browser = new_browser()
    for password in ("", "Correct horse", PASSWORD + " ", "x" * 1000):
        answer = sign_in(browser, password=password)
        assert answer.status_code in (401, 429)
        assert not answer.cookies


def test_guessing_is_slowed_down_even_when_the_guess_is_right(new_browser, shared):
    browser = new_browser()
    answers = [sign_in(browser, password=f"guess {k}").status_code for k in range(4)]
    assert answers == [401, 401, 401, 429]
    late = sign_in(browser)
    assert late.status_code == 429
    assert int(late.headers["retry-after"]) >= 0


def test_each_wrong_password_doubles_the_wait(monkeypatch):
    now = itertools.count(0, 0)
    monkeypatch.setattr("tagrank.app.web.protection.limits.time.monotonic", lambda: next(now))
    attempts, waits = Attempts(), []
    for _ in range(20):
        attempts.count("10.0.0.1", is_right=False)
        waits.append(attempts._failed["10.0.0.1"][1])
    assert waits[:6] == [0, 0, 1, 2, 4, 8]
    assert waits[-1] == Attempts.LONGEST_WAIT
    attempts.check("10.0.0.2")


def test_an_attacker_with_many_addresses_of_a_network_counts_as_one():
    assert neighbourhood("2001:db8::1") == neighbourhood("2001:db8::ffff:1")
    assert neighbourhood("2001:db8::1") != neighbourhood("2001:db8:0:1::1")
    assert neighbourhood("10.0.0.1") != neighbourhood("10.0.0.2")


def test_a_password_is_stored_as_a_hash_that_only_its_owner_may_read(tmp_path):
    file, cost = PasswordFile(tmp_path / "desk.password"), Cost(2**4, 1, 1)
    assert file.read() is None
    file.write(hash_password(PASSWORD, cost))
    assert (tmp_path / "desk.password").stat().st_mode & 0o777 == 0o600
    assert PASSWORD not in file.read()
    assert is_password(PASSWORD, file.read())
    assert not is_password("another one", file.read())
    assert hash_password(PASSWORD, cost) != hash_password(PASSWORD, cost)
    assert [path.name for path in tmp_path.iterdir()] == ["desk.password"]


@pytest.mark.parametrize("text", ["", "scrypt", "plain$1$1$1$aa$aa", "scrypt$16$8$1$$", "\xff" * 50])
def test_a_damaged_password_file_opens_nothing(tmp_path, text):
    (tmp_path / "desk.password").write_text(text, encoding="latin-1")
    with pytest.raises(ValueError, match="password"):
        PasswordFile(tmp_path / "desk.password").read()


def test_a_stored_hash_cannot_ask_for_all_memory():
    with pytest.raises(ValueError, match="too much memory"):
        is_password(PASSWORD, "scrypt$16777216$8$1$YWFh$YWFh")


def test_the_usual_cost_takes_memory():
    assert Cost().memory >= 2**26


# markup and headers


def test_markup_in_a_tag_is_data(browser):
    body = {"request": "m", "answers": [{"picture": 1, "tag": MARKUP, "answer": "yes"}]}
    assert post(browser, json=body).status_code == 200
    for path in ("/api/pictures/1", "/api/tags", "/api/complete", "/api/history"):
        answer = browser.get(path)
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert MARKUP in json.dumps(answer.json(), ensure_ascii=False).replace('\\"', '"')


def test_markup_in_an_address_is_not_in_the_answer(browser):
    for path in (
        f"/api/pictures/{MARKUP}",
        f"/api/why?picture=1&tag={'x' * 300}",
        f"/api/wall?queue={MARKUP}",
    ):
        answer = browser.get(path)
        assert answer.status_code in (404, 422)
        assert "<script>" not in answer.text
        assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("name", ["", " ", "a\nb" * 40, "\x1b[31m", "x" * 61, "\u202eanna", "a\0b"])
def test_a_name_is_one_line_that_can_be_seen(new_browser, name):
    answer = sign_in(new_browser(), name=name)
    assert answer.status_code == 422
    assert not answer.cookies


def test_a_name_keeps_its_letters():
    assert check_name("  Zoë  Müller ") == "Zoë Müller"


@pytest.mark.parametrize(
    "name", ['a"\r\nSet-Cookie: x=y', "../../etc/passwd", "ü" * 300, "", '";filename=evil.exe']
)
def test_a_download_is_called_by_plain_letters(name):
    assert set(download_name(name, "csv")) <= set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
    )
    assert download_name(name, "csv").endswith("-decisions.csv")
    assert not download_name(name, "csv").startswith((".", "-"))


@pytest.mark.parametrize(
    "path",
    ["//evil.example", "/\\evil.example", "https://evil.example", "javascript:alert(1)", "", "/a\r\nb"],
)
def test_signing_in_leads_nowhere_else(path):
    assert local_path(path) == "/"


def test_every_answer_carries_the_headers(browser, desk, monkeypatch):
    def fail():
        raise RuntimeError("secret detail")

    monkeypatch.setattr(desk, "models", fail)
    client = browser
    client._transport.raise_server_exceptions = False
    answers = [
        client.get("/api/overview"),
        client.get("/api/pictures/999"),
        client.get("/api/nothing"),
        client.get("/api/overview", headers={"Host": "evil.example"}),
        client.get("/api/models"),
    ]
    assert [answer.status_code for answer in answers] == [200, 404, 404, 421, 500]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "server" not in answer.headers
        assert "secret detail" not in answer.text
        assert list(answer.json()) == ["error"] or answer.status_code == 200


# SQL and nonsense in filters


@pytest.mark.parametrize(
    "text", ["' OR 1=1 --", "'; DROP TABLE decisions; --", "%", "_", "\\", "NEAR(", '"', "🙂"]
)
def test_what_looks_like_sql_reaches_the_desk_as_text(browser, desk, text):
    answer = browser.get("/api/wall", params={"tag": text, "text": text, "folder": text})
    assert answer.status_code == 200
    assert desk.calls[-1][1] == Missing(tag=text, text=text, folder=text)


@pytest.mark.parametrize(
    "query",
    [
        {"queue": "nothing"},
        {"state": "1; DROP TABLE x"},
        {"limit": "100000000"},
        {"limit": "-1"},
        {"start": "yesterday"},
        {"text": "x" * 201},
        {"cursor": "x" * 201},
    ],
)
def test_a_filter_that_cannot_be_meant_is_refused(browser, desk, query):
    answer = browser.get("/api/wall", params=query)
    assert answer.status_code == 422
    assert not desk.calls


# bodies


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"[" * 100_000, 400),
        (b'{"request":' * 50_000, 400),
        (b'{"request": 1' + b"0" * 10_000 + b"}", 400),
        (b"\xff\xfe", 422),
        (b"", 422),
        (b"null", 422),
        (b"[]", 422),
        (b'"x"', 422),
        (b"{", 422),
        (b'{"request": NaN}', 422),
        (b'{"request": "a", "answers": [{"picture": 1, "tag": "\\ud800", "answer": "yes"}]}', 422),
        (b'{"request": "a", "answers": [{"picture": 1e400, "tag": "a", "answer": "yes"}]}', 422),
        (b'{"request": "a", "answers": {"__proto__": 1}}', 422),
    ],
)
def test_json_that_is_none_or_too_deep_is_refused(browser, desk, content, status):
    answer = post(browser, {"Content-Type": "application/json"}, json=None, content=content)
    assert answer.status_code == status
    assert len(answer.json()["error"]) < 300
    assert not desk.batches


def test_a_body_that_is_too_large_is_not_read(browser, desk):
    kind = {"Content-Type": "application/json"}
    assert post(browser, kind, json=None, content=b" " * (2**20 + 1)).status_code == 413
    assert post(browser, kind | {"Content-Length": "9" * 30}, json=None, content=b"{}").status_code == 413


def test_a_body_without_a_length_is_counted_as_it_comes(browser, desk):
    sent = []

    def pieces():
        for _ in range(100):
            sent.append(1)
            yield b" " * 2**16

    answer = post(browser, {"Content-Type": "application/json"}, json=None, content=pieces())
    assert answer.status_code == 413
    assert not desk.batches


# how often


def test_too_many_requests_have_to_wait(desk, security):
    security.by_session = RateLimit(0.1, 3)
    browser = TestClient(desk_app(desk, security), base_url=BASE, follow_redirects=False)
    browser.get("/?token=the-token")
    answers = [browser.get("/api/tags") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert int(answers[-1].headers["retry-after"]) > 0


def test_unknown_clients_cannot_use_up_the_requests_of_others(desk, security):
    security.by_address = RateLimit(0.01, 5)
    app = desk_app(desk, security)
    inside, outside = (TestClient(app, base_url=BASE, follow_redirects=False) for _ in range(2))
    inside.get("/?token=the-token")
    assert [outside.get("/api/tags").status_code for _ in range(6)].count(429) >= 1
    assert inside.get("/api/tags").status_code == 200


def test_limits_forget_whom_they_have_not_seen_for_long():
    limit, attempts = RateLimit(1, 1), Attempts()
    for k in range(10_100):
        limit.take(str(k))
        attempts.count(str(k), is_right=False)
    assert len(limit._left) <= 10_000
    assert len(attempts._failed) <= 10_000


def test_no_security_is_weaker_than_it_says():
    """A desk for several people has no token, one for this machine has no password."""
    alone = Security(HostNames(), Sessions(SessionMemory()), token="x")
    several = Security(HostNames(), Sessions(SessionMemory()), password="x")
    assert (alone.signs_in, several.signs_in) == (False, True)
    assert not several._is_token("")
    assert not several._is_token("None")
