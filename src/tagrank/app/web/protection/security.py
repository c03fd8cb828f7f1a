"""Who may use the desk: whoever has the token of this start, or signs in with name and password."""

import hmac
import re
import threading
from dataclasses import dataclass, field
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from tagrank.app.web.errors import Refused
from tagrank.app.web.protection.guard import SAFE_METHODS, HostNames, check_source
from tagrank.app.web.protection.limits import Attempts, RateLimit
from tagrank.app.web.protection.passwords import is_password
from tagrank.app.web.protection.sessions import SECONDS, Sessions
from tagrank.visible_text import check_visible

LONGEST_NAME = 60
OPEN_PATHS = frozenset({"/sign-in", "/api/sign-in", "/favicon.ico"})
STATIC = "/static/"
UPLOADS = frozenset({"/api/import"})
# what a form of another site can send without asking first
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data", "text/plain")
# walls of thumbnails come at once; a decision a key press is far below
_A_SESSION, _AN_ADDRESS = (200.0, 1000.0), (20.0, 200.0)


@dataclass
class Security:
    """How the desk is protected.

    Parameters
    ----------
    hosts : the names of the server
    sessions : who is signed in
    person : the name of whoever has the token; not used where people sign in
    token : the word in the opened address, None where people sign in
    password : the stored hash of the password, None without one
    port : makes the name of the cookie: browsers keep one jar for all ports of a machine
    is_encrypted : whether the cookie travels only encrypted
    """

    hosts: HostNames
    sessions: Sessions
    person: str = "me"
    token: str | None = None
    password: str | None = None
    port: int = 0
    is_encrypted: bool = False
    attempts: Attempts = field(default_factory=Attempts)
    by_session: RateLimit = field(default_factory=lambda: RateLimit(*_A_SESSION))
    by_address: RateLimit = field(default_factory=lambda: RateLimit(*_AN_ADDRESS))

    def __post_init__(self) -> None:
        self._one_at_a_time = threading.Lock()

    @property
    def signs_in(self) -> bool:
        """Whether people sign in with name and password."""
        return self.password is not None

    @property
    def cookie(self) -> str:
        """What the cookie is called."""
        return f"{'__Host-' if self.is_encrypted else ''}tagrank-{self.port}"

    async def admit(self, request: Request) -> Response | None:
        """Let in who has a session or the token; see `Access`."""
        word = request.cookies.get(self.cookie)
        check_source(request.method, request.scope["scheme"], request.headers, has_cookie=word is not None)
        _check_content_type(request)
        person = self.sessions.person(word) if word else self._bearer(request)
        if person is not None:
            self.by_session.take(word or person)
            request.state.person, request.state.is_known = person, True
            return None
        self.by_address.take(address_of(request))
        if request.method == "GET" and "token" in request.query_params:
            return await self._exchange_token(request)
        if path_of(request) in OPEN_PATHS or path_of(request).startswith(STATIC):
            request.state.person = None
            return None
        if request.method == "GET" and request.headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            return HTMLResponse(_ONCE_MORE)
        raise Refused(401, "sign in first" if self.signs_in else _NO_TOKEN)

    def sign_in(self, name: str, password: str, address: str) -> str:
        """The word of a new session; a wrong password is refused."""
        if self.password is None:
            raise Refused(403, _NO_TOKEN)
        person = check_name(name)
        # one after the other: each takes much memory, and many at once must not try more often
        with self._one_at_a_time:
            self.attempts.check(address)
            is_right = is_password(password, self.password)
            self.attempts.count(address, is_right=is_right)
        if not is_right:
            raise Refused(401, "wrong name or password")
        return self.sessions.begin(person)

    def set_cookie(self, response: Response, word: str) -> None:
        """Give a browser its session."""
        response.set_cookie(
            self.cookie,
            word,
            max_age=SECONDS,
            path="/",
            secure=self.is_encrypted,
            httponly=True,
            samesite="strict",
        )

    def _bearer(self, request: Request) -> str | None:
        """Programs may send the token in a header."""
        kind, _, word = request.headers.get("authorization", "").partition(" ")
        return self.person if kind.lower() == "bearer" and self._is_token(word) else None

    def _is_token(self, word: str) -> bool:
        return self.token is not None and hmac.compare_digest(word.encode(), self.token.encode())

    async def _exchange_token(self, request: Request) -> Response:
        """A session for the token, which leaves the address."""
        if not self._is_token(request.query_params["token"]):
            raise Refused(401, _NO_TOKEN)
        word = await run_in_threadpool(self.sessions.begin, self.person)
        rest = [pair for pair in request.query_params.multi_items() if pair[0] != "token"]
        # a path of two slashes would lead to another machine
        path = "/" + path_of(request).lstrip("/\\")
        response = RedirectResponse(path + ("?" + urlencode(rest) if rest else ""), 303)
        self.set_cookie(response, word)
        return response


# a strict cookie does not come along with a link from another site, but with what this page asks for
_ONCE_MORE = (
    '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0"><title>tagrank</title>'
)
_NO_TOKEN = "open the address that the command printed, with its token"


def check_name(name: str) -> str:
    """The name of a person, in one line."""
    return check_visible("a name", name, LONGEST_NAME)


def path_of(request: Request) -> str:
    """The path by which the application chooses; that of `request.url` depends on Host, too."""
    return str(request.scope["path"])


def address_of(request: Request) -> str:
    """Where a request comes from."""
    return request.client.host if request.client is not None else ""


def local_path(path: str) -> str:
    """A path on this server to go on to; the first page for anything else."""
    return path if re.fullmatch(r"/(?![/\\])[\x21-\x7e]*", path) else "/"


def _check_content_type(request: Request) -> None:
    if request.method in SAFE_METHODS or request.method == "DELETE":
        return
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    is_expected = kind not in _FORMS if path_of(request) in UPLOADS else kind == "application/json"
    if not is_expected:
        raise Refused(415, "expected a body of the type application/json")
