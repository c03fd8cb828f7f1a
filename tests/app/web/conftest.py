"""A desk in memory behind the real application."""

import shutil
import subprocess
import warnings

import pytest

from tagrank.app.web.application import desk_app
from tagrank.app.web.protection.guard import HostNames
from tagrank.app.web.protection.passwords import Cost, hash_password
from tagrank.app.web.protection.security import Security
from tagrank.app.web.protection.sessions import SessionMemory, Sessions
from tests.app.web.fake_desk import FakeDesk

with warnings.catch_warnings():
    # that another client would be preferred
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient


BASE = "http://127.0.0.1:8477"
PASSWORD = "correct horse"


@pytest.fixture(scope="module")
def drawn_desk():
    return FakeDesk()


@pytest.fixture
def desk(drawn_desk):
    """The desk, with nothing decided."""
    drawn_desk.decided.clear()
    drawn_desk.seen.clear()
    drawn_desk.batches.clear()
    drawn_desk.calls.clear()
    return drawn_desk


@pytest.fixture
def security():
    """As on one's own machine: a token, and no password."""
    return Security(HostNames(), Sessions(SessionMemory()), person="anna", token="the-token", port=8477)


@pytest.fixture
def outside(desk, security):
    """A browser that has nothing yet."""
    return TestClient(
        desk_app(desk, security), base_url=BASE, headers={"Origin": BASE}, follow_redirects=False
    )


@pytest.fixture
def browser(outside):
    """A browser that came with the token."""
    outside.get("/?token=the-token")
    return outside


@pytest.fixture(scope="session")
def stored_password():
    return hash_password(PASSWORD, Cost(2**4, 1, 1))


@pytest.fixture
def shared(desk, stored_password):
    """How a desk for several people is protected."""
    return Security(HostNames(), Sessions(SessionMemory()), password=stored_password, port=8477)


@pytest.fixture
def new_browser(desk, shared):
    """Makes browsers that know the desk for several people."""
    app = desk_app(desk, shared)
    return lambda: TestClient(app, base_url=BASE, headers={"Origin": BASE}, follow_redirects=False)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate of our own and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    paths = {name: tmp_path_factory.mktemp("tls") / f"{name}.pem" for name in ("certificate", "key")}
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost"]
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", paths["key"], "-out", paths["certificate"]]
    subprocess.run(["openssl", "req", "-x509", *kind, *names], check=True, capture_output=True)
    return paths
