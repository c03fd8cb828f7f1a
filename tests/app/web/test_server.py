"""A real server on a real socket: slow clients, odd requests, ports, and how it ends."""

import http.client
import json
import socket
import ssl

import pytest

from tagrank.app.web import application, serving
from tagrank.app.web.application import desk_app
from tagrank.app.web.protection.guard import HostNames
from tagrank.app.web.protection.limits import BodyLimit, BodyLimits
from tagrank.app.web.protection.security import Security
from tagrank.app.web.protection.sessions import SessionMemory, Sessions
from tests.app.web.conftest import PASSWORD
from tests.app.web.live import running

BODY = json.dumps({"request": "a", "answers": [{"picture": 1, "tag": "boats", "answer": "yes"}]})


@pytest.fixture
def place(desk, monkeypatch):
    """A server that waits for a moment only."""
    monkeypatch.setattr(serving, "IDLE_SECONDS", 0.3)
    monkeypatch.setattr(application, "BODIES", BodyLimits(BodyLimit(2**16, 0.3)))
    security = Security(HostNames(), Sessions(SessionMemory()), person="anna", token="the-token")
    with running(desk_app(desk, security)) as place:
        yield place


def talk(place, *pieces):
    """What comes back on a connection until the server closes it."""
    with socket.create_connection(place) as client:
        for piece in pieces:
            client.sendall(piece)
        return b"".join(iter(lambda: client.recv(2**16), b""))


def request(path="/api/overview", method="GET", *headers, host="127.0.0.1"):
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Authorization: Bearer the-token", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def post(*headers):
    return request("/api/decisions", "POST", "Content-Type: application/json", *headers)


def still_answers(place):
    client = http.client.HTTPConnection(*place)
    client.request("GET", "/api/overview", headers={"Authorization": "Bearer the-token"})
    answer = client.getresponse()
    client.close()
    return answer.status == 200


def test_who_sends_nothing_is_left(place):
    assert talk(place) == b""
    assert still_answers(place)


def test_who_sends_half_a_header_is_left(place):
    assert talk(place, request()[:40]) == b""


def test_who_sends_half_a_header_after_a_whole_request_is_left(place):
    assert talk(place, request(), request()[:40]).count(b"HTTP/1.1") == 1


def test_who_sends_half_a_body_is_answered_and_left(place, desk):
    answer = talk(place, post("Content-Length: 1000"), BODY.encode())
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"0.3 seconds" in answer
    assert not desk.batches


def test_many_slow_clients_do_not_keep_others_waiting(place):
    slow = [socket.create_connection(place) for _ in range(100)]
    for client in slow:
        client.sendall(request()[:20])
    assert still_answers(place)
    for client in slow:
        client.close()


def test_who_leaves_in_the_middle_of_a_body_decides_nothing(place, desk):
    with socket.create_connection(place) as client:
        client.sendall(post("Content-Length: 1000") + BODY.encode())
    assert still_answers(place)
    assert not desk.batches


def test_a_body_that_lies_about_its_length_is_cut(place, desk):
    answer = talk(
        place, post(f"Content-Length: {len(BODY)}", "Connection: close"), BODY.encode() + b"x" * 1000
    )
    assert answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 400"))
    assert len(desk.batches) <= 1


def test_a_stream_without_end_is_refused(place, desk):
    chunk = b"8000\r\n" + b" " * 2**15 + b"\r\n"
    answer = talk(place, post("Transfer-Encoding: chunked"), *[chunk] * 3)
    assert answer.startswith(b"HTTP/1.1 413")
    assert not desk.batches


@pytest.mark.parametrize(
    "raw",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET /\0 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
)
def test_what_is_no_request_is_refused(place, raw):
    answer = talk(place, raw)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 4")
    assert b"Traceback" not in answer
    assert still_answers(place)


def test_headers_without_end_are_refused(place):
    try:
        answer = talk(place, request()[:-2], *[b"X-More: " + b"x" * 1000 + b"\r\n"] * 100)
    except ConnectionError:
        # closed while more was on its way
        answer = b""
    assert answer == b"" or answer.startswith(b"HTTP/1.1 4")
    assert still_answers(place)


@pytest.mark.parametrize(
    "path", ["/static/x/../../application.py", "/static/../../../etc/passwd", "/thumbnails/../api/overview"]
)
def test_dots_in_a_path_lead_nowhere(place, path):
    answer = talk(place, request(path, "GET", "Connection: close"))
    assert answer.startswith((b"HTTP/1.1 404", b"HTTP/1.1 422"))


def test_an_upgrade_to_another_protocol_is_not_made(place):
    answer = talk(place, request("/api/tags", "GET", "Upgrade: websocket", "Connection: Upgrade, close"))
    assert answer.startswith(b"HTTP/1.1 200")


def test_nothing_says_what_serves(place):
    answer = talk(place, request("/api/tags", "GET", "Connection: close")).lower()
    assert b"\r\nserver:" not in answer
    assert b"uvicorn" not in answer


def test_a_forwarded_name_is_not_believed(place):
    answer = talk(place, request("/api/tags", "GET", "X-Forwarded-Host: evil.example", "Connection: close"))
    assert answer.startswith(b"HTTP/1.1 200")
    answer = talk(
        place, request("/api/tags", "GET", "X-Forwarded-Host: localhost", "Connection: close", host="evil")
    )
    assert answer.startswith(b"HTTP/1.1 421")


def sign_in(place, password, forwarded, proto="http", origin="http"):
    """The status of an attempt through a web server that says for whom it asks."""
    host = "{}:{}".format(*place)
    body = json.dumps({"name": "anna", "password": password})
    headers = {"Host": host, "Origin": f"{origin}://{host}", "Content-Type": "application/json"}
    headers |= {"X-Forwarded-For": forwarded, "X-Forwarded-Proto": proto}
    client = http.client.HTTPConnection(*place)
    client.request("POST", "/api/sign-in", body, headers)
    status = client.getresponse().status
    client.close()
    return status


@pytest.mark.parametrize("proxies", [[], ["192.0.2.1/32"]])
def test_a_forwarded_address_is_not_believed(desk, shared, proxies):
    """Else the limit on wrong passwords would count by what the attacker writes."""
    with running(desk_app(desk, shared), proxies=proxies) as place:
        attempts = [sign_in(place, "a wrong password", f"198.51.100.{k}") for k in range(4)]
        assert attempts == [401, 401, 401, 429]
        assert sign_in(place, PASSWORD, "198.51.100.9", proto="https") == 429


def test_the_address_that_a_known_web_server_forwards_is_believed(desk, shared):
    with running(desk_app(desk, shared), proxies=["127.0.0.1/32", "192.0.2.1/32"]) as place:
        # what stands before the address that the web server added, the attacker wrote
        attempts = [sign_in(place, "a wrong password", f"203.0.113.{k}, 198.51.100.1") for k in range(4)]
        assert attempts == [401, 401, 401, 429]
        assert sign_in(place, PASSWORD, "198.51.100.1, 192.0.2.1") == 429
        assert sign_in(place, PASSWORD, "198.51.100.2") == 200
        assert sign_in(place, PASSWORD, "198.51.100.3", proto="https") == 403
        assert sign_in(place, PASSWORD, "198.51.100.3", proto="https", origin="https") == 200


# encryption


def test_connections_are_encrypted_with_a_certificate(desk, certificate):
    security = Security(HostNames(), Sessions(SessionMemory()), token="the-token", is_encrypted=True)
    with running(desk_app(desk, security), **certificate) as (host, port):
        trusted = ssl.create_default_context(cafile=certificate["certificate"])
        client = http.client.HTTPSConnection(host, port, context=trusted)
        client.request("GET", "/?token=the-token")
        answer = client.getresponse()
        assert answer.status == 303
        assert "; Secure" in answer.headers["set-cookie"]
        client.close()


def test_a_certificate_that_is_none_is_refused_in_a_sentence(certificate, desk):
    with pytest.raises(ValueError, match="certificate and key cannot be used"):
        serving.make_server(lambda *_: None, certificate=certificate["key"], key=certificate["key"])


# ports


def test_a_port_in_use_is_passed_over_or_named():
    with serving.listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with serving.listen("127.0.0.1", port) as second:
            assert second.getsockname()[1] > port
        with pytest.raises(OSError, match=f"port {port} of 127.0.0.1 is in use.*--port"):
            serving.listen("127.0.0.1", port, may_move=False)


@pytest.mark.parametrize("host", ["192.0.2.1", "no.such.host.invalid"])
def test_an_address_of_another_machine_is_refused_in_a_sentence(host):
    with pytest.raises(OSError, match="not an address of this machine"):
        serving.listen(host, 0)


def test_the_address_is_one_that_a_browser_can_open():
    with serving.listen("0.0.0.0", 0) as listener:
        port = listener.getsockname()[1]
        assert serving.address(listener) == f"http://127.0.0.1:{port}"
        assert serving.address(listener, is_encrypted=True) == f"https://127.0.0.1:{port}"


def test_answers_are_sent_without_delay():
    """asyncio looks at the protocol of the socket; without it the kernel keeps a short answer for 40 ms."""
    with serving.listen("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP
