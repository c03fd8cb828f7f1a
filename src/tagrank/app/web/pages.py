"""Pages from templates, and the files that they load; all are read once, so no path can lead elsewhere.

To add a page, write ``templates/NAME.html`` and its script ``static/NAME.js``, and put it into `PAGES`: its
address, its title and the menu of all pages come from there.
"""

import hashlib
import mimetypes
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Query, Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, RedirectResponse, Response

from tagrank.app.web.bodies import Number
from tagrank.app.web.errors import Refused
from tagrank.app.web.protection.security import local_path
from tagrank.desk.desk import Desk
from tagrank.desk.documents import FEWEST_ANSWERS
from tagrank.desk.learning.models import PROPOSED
from tagrank.desk.queues import QUEUES


class MenuEntry(NamedTuple):
    """Where a page is, and what people call it."""

    path: str
    title: str


# by template, in the order of the menu
PAGES = {
    "overview": MenuEntry("/", "Start"),
    "wall": MenuEntry("/wall", "By tag"),
    "review": MenuEntry("/review", "By picture"),
    "pictures": MenuEntry("/pictures", "Pictures"),
    "tags": MenuEntry("/tags", "Tags"),
    "models": MenuEntry("/models", "Models"),
    "history": MenuEntry("/history", "History"),
    "archive": MenuEntry("/archive", "Archive"),
}
HERE = Path(__file__).parent
# the browser asks again for a file only when its address changes
_FOR_EVER = "public, max-age=31536000, immutable"
# not left to the tables of the system
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


class StaticFiles:
    """The files of `folder` under addresses that change with their content."""

    def __init__(self, folder: Path = HERE / "static") -> None:
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        self._files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
        everything = hashlib.sha256()
        for name, content in self._files.items():
            everything.update(f"{name}\0{len(content)}\0".encode() + content)
        # one for all, so that a file may name another that lies beside it
        self.version = everything.hexdigest()[:12]

    def address(self, name: str) -> str:
        """Where a page finds the file."""
        if name not in self._files:
            raise LookupError(f"there is no file {name!r} in static")
        return f"/static/{self.version}/{name}"

    def answer(self, version: str, name: str) -> Response:
        """The file; a page from before an upgrade gets the file of today, once."""
        if name not in self._files:
            raise Refused(404, "there is no such file")
        kind = _TYPES.get(Path(name).suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
        caching = _FOR_EVER if version == self.version else "no-cache"
        return Response(self._files[name], media_type=kind, headers={"Cache-Control": caching})


class Pages:
    """Templates with what all of them know: static(name), the menu, archive, queues, whether one signs in."""

    def __init__(
        self, static: StaticFiles, desk: Desk, *, signs_in: bool, folder: Path = HERE / "templates"
    ) -> None:
        self._templates = Environment(
            loader=FileSystemLoader(folder),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals |= {
            "static": static.address,
            "version": static.version,
            "signs_in": signs_in,
            "pages": dict(PAGES),
            "archive": desk.name,
            "identity": desk.identity,
            "queues": list(QUEUES.values()),
            "fewest_answers": FEWEST_ANSWERS,
            "proposed_from": round(100 * PROPOSED),
        }

    def answer(self, request: Request, name: str, *, status: int = 200, **known: Any) -> Response:
        """The page `name`.html, for the person of the request."""
        person = getattr(request.state, "person", None)
        text = self._templates.get_template(f"{name}.html").render(page=name, person=person, **known)
        return HTMLResponse(text, status)


def page_routes() -> APIRouter:
    """The addresses of all pages, and of the files that they load."""
    router = APIRouter(include_in_schema=False)
    for name, (path, _) in PAGES.items():
        router.add_api_route(path, _page_route(name), name=name, methods=["GET"], response_model=None)

    @router.get("/pictures/{picture}")
    def picture_page(request: Request, picture: Number) -> Response:
        """The review of one picture."""
        return pages_of(request).answer(request, "review", picture=picture)

    @router.get("/sign-in")
    def sign_in_page(request: Request, next: Annotated[str, Query(max_length=2000)] = "/") -> Response:
        """Where name and password are asked."""
        next = local_path(next)
        if request.state.person is not None:
            return RedirectResponse(next, 303)
        return pages_of(request).answer(request, "sign-in", next=next)

    @router.get("/static/{version}/{name:path}")
    def static_file(request: Request, version: str, name: str) -> Response:
        """A file that pages load."""
        static: StaticFiles = request.app.state.static
        return static.answer(version, name)

    return router


def pages_of(request: Request) -> Pages:
    """The pages of the application."""
    return request.app.state.pages


def _page_route(name: str) -> Callable[[Request], Response]:
    def page(request: Request) -> Response:
        return pages_of(request).answer(request, name, picture=None)

    return page
