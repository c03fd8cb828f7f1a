"""Crowds of connections that say nothing, or too little: whoever asks is answered all the same."""

import http.client
import socket
import ssl

import pytest

from tagrank.app.web import serving
from tagrank.app.web.application import desk_app
from tagrank.app.web.protection.limits import Waiting
from tests.app.web.conftest import PASSWORD
from tests.app.web.live import crowd, running
from tests.app.web.test_server import BODY, post

HALF_SIGN_IN = (
    b"POST /api/sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"Content-Length: 100\r\n\r\n{"
)
SAID = {"nothing": b"", "half a header": b"GET / HTTP/1.1\r\nHost: ", "half a body": HALF_SIGN_IN}


@pytest.fixture(autouse=True)
def _patient(monkeypatch):
    """No connection is left because of its age: only because there are too many."""
    monkeypatch.setattr(serving, "IDLE_SECONDS", 3600)


@pytest.fixture
def place(desk, security):
    with running(desk_app(desk, security)) as place:
        yield place


def ask(connection, path="/api/tags", **headers):
    connection.request("GET", path, headers={"Authorization": "Bearer the-token"} | headers)
    answer = connection.getresponse()
    answer.read()
    return answer.status


def connect(place, **options):
    return http.client.HTTPConnection(*place, **options)


@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_a_new_client_is_answered_beside_a_crowd(place, said):
    with crowd(place, said):
        client = connect(place)
        assert ask(client) == 200
        assert ask(client) == 200
        client.close()


def test_who_signed_in_keeps_the_connection(place):
    client = connect(place)
    assert ask(client) == 200
    line = client.sock
    with crowd(place):
        assert ask(client) == 200
    assert client.sock is line
    client.close()


def test_who_signed_in_may_go_on_with_a_body(place, desk):
    head = post(f"Content-Length: {len(BODY)}", "Connection: close")
    with socket.create_connection(place) as client:
        client.sendall(head + BODY[:5].encode())
        with crowd(place):
            client.sendall(BODY[5:].encode())
            answer = b"".join(iter(lambda: client.recv(2**16), b""))
    assert answer.startswith(b"HTTP/1.1 200")
    assert len(desk.batches) == 1


def connect_from_elsewhere(place):
    """From another address than the crowd."""
    try:
        client = connect(place, source_address=("127.0.0.2", 0))
        client.connect()
    except OSError:
        pytest.skip("this machine has one address only")
    return client


def test_people_can_sign_in_beside_a_crowd(desk, shared):
    with running(desk_app(desk, shared)) as place, crowd(place, HALF_SIGN_IN):
        client, host = connect_from_elsewhere(place), "{}:{}".format(*place)
        body = f'{{"name": "anna", "password": "{PASSWORD}"}}'
        headers = {"Content-Type": "application/json", "Origin": f"http://{host}"}
        client.request("POST", "/api/sign-in", body, headers)
        assert client.getresponse().status == 200
        client.close()


def test_a_crowd_of_one_address_does_not_push_out_others(place):
    client = connect_from_elsewhere(place)
    line = client.sock
    with crowd(place):
        assert ask(client) == 200
    assert client.sock is line
    client.close()


def test_handshakes_that_are_not_finished_keep_nobody_out(desk, security, certificate):
    hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
    trusted = ssl.create_default_context(cafile=certificate["certificate"])
    with running(desk_app(desk, security), **certificate) as place, crowd(place), crowd(place, hello):
        client = http.client.HTTPSConnection(*place, context=trusted)
        assert ask(client) == 200
        line = client.sock
        with crowd(place, hello):
            assert ask(client) == 200
        assert client.sock is line
        client.close()


def test_a_web_server_before_the_desk_keeps_its_connections(desk, security):
    n = 300
    with running(desk_app(desk, security), proxies=["127.0.0.0/8"]) as place, crowd(place, n=10):
        client = connect(place)
        client.connect()
        line = client.sock
        with crowd(place, n=n):
            assert ask(client) == 200
        assert client.sock is line
        client.close()


# which ones have to leave


class Fake:
    def __init__(self, name, left):
        self._name, self._left, self.is_unknown = name, left, True

    def waits_for_unknown(self):
        return self.is_unknown

    def leave(self):
        self._left.append(self._name)


def test_the_address_that_holds_most_loses_its_oldest():
    waiting, left = Waiting(most=3), []
    for name, address in [("a1", "a"), ("b1", "b"), ("b2", "b"), ("b3", "b"), ("c1", "c"), ("d1", "d")]:
        waiting.add(Fake(name, left), address)
    assert left == ["b1", "b2", "a1"]


def test_what_is_added_again_keeps_its_place():
    waiting, left = Waiting(most=2), []
    first, second, third = (Fake(name, left) for name in "123")
    for one in (first, second, first, third):
        waiting.add(one, "a")
    assert left == ["1"]


def test_who_signed_in_since_does_not_leave():
    waiting, left = Waiting(most=1), []
    first = Fake("1", left)
    waiting.add(first, "a")
    first.is_unknown = False
    waiting.add(Fake("2", left), "a")
    assert left == []
    waiting.add(Fake("3", left), "a")
    assert left == ["2"]


def test_all_leave_in_the_end():
    waiting, left = Waiting(most=5), []
    for name in "123":
        waiting.add(Fake(name, left), name)
    waiting.close()
    assert left == ["1", "2", "3"]
