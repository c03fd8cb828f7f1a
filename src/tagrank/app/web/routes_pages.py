"""Pages, the files that they load, and signing in."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from tagrank.app.web.bodies import Empty, Number, SignIn
from tagrank.app.web.calls import calls_of
from tagrank.app.web.protection.security import address_of, check_name, local_path

router = APIRouter(include_in_schema=False)
# address -> template
PAGES = {
    "/": "overview",
    "/tags": "tags",
    "/wall": "wall",
    "/review": "review",
    "/pictures": "pictures",
    "/models": "models",
    "/history": "history",
    "/archive": "archive",
}


def _add_page(path: str, name: str) -> None:
    @router.get(path, name=name)
    def page(request: Request) -> Response:
        return request.app.state.pages.answer(request, name, picture=None)


for _path, _name in PAGES.items():
    _add_page(_path, _name)


@router.get("/pictures/{picture}")
def picture_page(request: Request, picture: Number) -> Response:
    """The review of one picture."""
    return request.app.state.pages.answer(request, "review", picture=picture)


@router.get("/sign-in")
def sign_in_page(request: Request, next: Annotated[str, Query(max_length=2000)] = "/") -> Response:
    """Where name and password are asked."""
    next = local_path(next)
    if request.state.person is not None:
        return RedirectResponse(next, 303)
    return request.app.state.pages.answer(request, "sign-in", next=next)


@router.get("/static/{version}/{name:path}")
def static_file(request: Request, version: str, name: str) -> Response:
    """A file that pages load."""
    return request.app.state.static.answer(version, name)


@router.post("/api/sign-in")
async def sign_in(request: Request, body: SignIn) -> Response:
    """A new session for name and password; one that was there ends."""
    call = calls_of(request)
    security = request.app.state.security
    # who has to wait does not wait in the line of the others
    security.attempts.check(address_of(request))
    word = await call(security.sign_in, body.name, body.password, address_of(request), kind="sign in")
    response = JSONResponse({"person": check_name(body.name)})
    security.set_cookie(response, word)
    await _end_session(request)
    return response


@router.post("/api/sign-out")
async def sign_out(request: Request, body: Empty) -> Response:
    """End the session of this browser."""
    response = JSONResponse({})
    response.delete_cookie(request.app.state.security.cookie, path="/")
    await _end_session(request)
    return response


async def _end_session(request: Request) -> None:
    call = calls_of(request)
    security = request.app.state.security
    if word := request.cookies.get(security.cookie):
        await call(security.sessions.end, word)
