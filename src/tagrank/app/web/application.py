"""The desk as a web application."""

from urllib.parse import quote

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp

from tagrank._version import __version__
from tagrank.app.web.errors import Refused, add_error_answers, json_error
from tagrank.app.web.pages import Pages, StaticFiles, page_routes
from tagrank.app.web.protection.guard import Guard
from tagrank.app.web.protection.limits import BodyLimit, BodyLimits
from tagrank.app.web.protection.security import Security, path_of
from tagrank.app.web.routes import ROUTERS, Threads
from tagrank.desk.desk import Desk

BODIES = BodyLimits(by_path={"/api/import": BodyLimit(2**26, 300.0)})
_NO_PAGES = ("/api/", "/static/", "/images/", "/thumbnails/")


def desk_app(desk: Desk, security: Security) -> ASGIApp:
    """The application of a desk; `desk` answers, `security` says who may ask."""
    app = FastAPI(
        title="tagrank desk",
        version=__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.desk, app.state.threads = desk, Threads()
    app.state.security, app.state.static = security, StaticFiles()
    app.state.pages = Pages(app.state.static, desk, signs_in=security.signs_in)

    def answer(request: Request, refused: Refused) -> Response:
        if request.method != "GET" or path_of(request).startswith(_NO_PAGES):
            return json_error(request, refused)
        if refused.status_code == 401 and security.signs_in:
            query = request.scope["query_string"].decode("latin-1")
            here = path_of(request) + (f"?{query}" if query else "")
            return RedirectResponse(f"/sign-in?next={quote(here)}", 303)
        # not of the request, which may have been refused before it came to the application
        pages: Pages = app.state.pages
        return pages.answer(
            request, "error", status=refused.status_code, sentence=refused.detail, code=refused.status_code
        )

    add_error_answers(app, answer)
    for router in (*ROUTERS, page_routes()):
        app.include_router(router)
    return Guard(app, hosts=security.hosts, access=security, bodies=BODIES, answer=answer)
