"""Pages from templates, and the files that they load; all are read once, so no path can lead elsewhere."""

import hashlib
import mimetypes
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from tagrank.app.web.errors import Refused
from tagrank.desk.progress import FEWEST_ANSWERS
from tagrank.desk.queues import PROPOSED, QUEUES

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
    """Templates with what all of them know: static(name), version, archive, queues, whether one signs in."""

    def __init__(
        self, static: StaticFiles, desk: Any, *, signs_in: bool, folder: Path = HERE / "templates"
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
