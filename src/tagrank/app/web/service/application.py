"""The application: a model behind a token."""

import hmac
from typing import Any

from anyio import CapacityLimiter
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from tagrank._version import __version__
from tagrank.app.web.errors import Refused, add_error_answers, json_error
from tagrank.app.web.protection.guard import Guard
from tagrank.app.web.protection.hosts import HostNames
from tagrank.app.web.protection.limits import BodyLimit, BodyLimits, RateLimit
from tagrank.app.web.protection.security import address_of
from tagrank.app.web.service import routes
from tagrank.app.web.service.model_workers import ModelWorkers
from tagrank.app.web.service.roots import Root

OPEN_PATHS = frozenset({"/health", "/openapi.json"})
_UPLOADS = ("/annotate", "/why")
_WITH_TOKEN, _WITHOUT = (200.0, 1000.0), (20.0, 100.0)
_ABOUT = """Send the token as `Authorization: Bearer TOKEN`. An error is `{"error": "a sentence"}`."""


class BearerAccess:
    """Lets in whoever sends the token, which no browser does by itself for a page of another site."""

    def __init__(self, token: str) -> None:
        self._token = token.encode()
        self._known, self._unknown = RateLimit(*_WITH_TOKEN), RateLimit(*_WITHOUT)

    async def admit(self, request: Request) -> Response | None:
        """See `Access`."""
        kind, _, word = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and hmac.compare_digest(word.strip().encode(), self._token):
            self._known.take("token")
            request.state.is_known = True
            return None
        self._unknown.take(address_of(request))
        if request.scope["path"] in OPEN_PATHS:
            return None
        raise Refused(401, "send the token as Authorization: Bearer TOKEN", WWW_Authenticate="Bearer")


def service_app(
    workers: ModelWorkers,
    *,
    token: str,
    hosts: HostNames,
    root: Root | None = None,
    max_bytes: int = 2**26,
) -> ASGIApp:
    """The application of a model.

    Parameters
    ----------
    workers : processes with the model
    token : what programs have to send
    hosts : the names of the server
    root : the folder below which pictures may be named by path
    max_bytes : of one upload
    """
    app = FastAPI(
        title="tagrank",
        version=__version__,
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.workers, app.state.root = workers, root
    app.state.facts = workers.ask(None)
    app.state.limiter = CapacityLimiter(workers.n_workers)
    add_error_answers(app)
    app.include_router(routes.router)
    app.openapi = lambda: _with_token(app)  # type: ignore[method-assign]
    limits = BodyLimits(by_path=dict.fromkeys(_UPLOADS, BodyLimit(max_bytes, 300.0)))
    return Guard(app, hosts=hosts, access=BearerAccess(token), bodies=limits, answer=json_error)


def _with_token(app: FastAPI) -> dict[str, Any]:
    """The description for programs, which says that a token is needed."""
    if not app.openapi_schema:
        about = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        about.setdefault("components", {})["securitySchemes"] = {
            "token": {"type": "http", "scheme": "bearer"}
        }
        about["security"] = [{"token": []}]
        app.openapi_schema = about
    return app.openapi_schema
