"""What the pages and programs ask the desk over HTTP, one function an address.

Each call of the desk runs in a thread, and only so many of a kind run at once: slow answers do not keep quick
ones waiting.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Literal, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import APIRouter, Query, Request
from starlette.responses import JSONResponse, Response

from tagrank.app.web.bodies import (
    A_PAGE,
    Decisions,
    DryRun,
    Empty,
    NextQuery,
    Number,
    PicturesQuery,
    Shown,
    Sidecars,
    SignIn,
    TagName,
    TagVerb,
    Text,
    TrainingBody,
    Undo,
    WallQuery,
)
from tagrank.app.web.protection.security import Security, address_of, check_name
from tagrank.archive import Answer
from tagrank.desk.desk import Desk
from tagrank.desk.queues import Queue

review = APIRouter(prefix="/api", tags=["review"])
learning = APIRouter(prefix="/api", tags=["learning"])
archive = APIRouter(tags=["archive"])
sessions = APIRouter(include_in_schema=False)
ROUTERS = (review, learning, archive, sessions)
# quick answers wait for the disk, images for the processor, long work for both
AT_ONCE = {"quick": 48, "image": 4, "long": 2, "sign in": 1}
_CSV = "text/csv; charset=utf-8"
_TYPES = {"csv": _CSV, "jsonl": "application/x-ndjson", "tags": _CSV}

Result = TypeVar("Result")


class Threads:
    """Calls functions in threads, only so many of a kind at once."""

    def __init__(self) -> None:
        self._limiters: dict[str, CapacityLimiter] = {}

    async def call(
        self, work: Callable[..., Result], /, *arguments: Any, kind: str = "quick", **named: Any
    ) -> Result:
        """What `work` answers."""
        limiter = self._limiters.setdefault(kind, CapacityLimiter(AT_ONCE[kind]))
        return await run_sync(partial(work, *arguments, **named), limiter=limiter)


# plain functions of the request: what FastAPI calls dependencies would cost a third of a quick answer
def desk_of(request: Request) -> Desk:
    """The desk of the application."""
    return request.app.state.desk


def person_of(request: Request) -> str:
    """Who asks."""
    return request.state.person


async def _call(
    request: Request, work: Callable[..., Result], /, *arguments: Any, kind: str = "quick", **named: Any
) -> Result:
    threads: Threads = request.app.state.threads
    return await threads.call(work, *arguments, kind=kind, **named)


async def _answer(
    request: Request, work: Callable[..., Any], /, *arguments: Any, kind: str = "quick", **named: Any
) -> JSONResponse:
    return JSONResponse(await _call(request, work, *arguments, kind=kind, **named))


# what to look at


@review.get("/overview")
async def overview(request: Request) -> JSONResponse:
    """The archive, its progress, its queues, and its model."""
    told = await _call(request, desk_of(request).overview)
    return JSONResponse(told | {"person": person_of(request)})


@review.get("/tags")
async def tags(request: Request, text: Text = "") -> JSONResponse:
    """All tags, or those that contain a text, with their numbers."""
    return await _answer(request, desk_of(request).tags, text)


@review.get("/complete")
async def complete(request: Request, text: Text = "") -> JSONResponse:
    """Tags that a text may become."""
    return await _answer(request, desk_of(request).complete, text)


@review.get("/wall")
async def wall(request: Request, query: Annotated[WallQuery, Query()]) -> JSONResponse:
    """Proposals of a queue, best first, lent to this person for some minutes."""
    return await _answer(
        request,
        desk_of(request).wall,
        query.chosen(),
        who=person_of(request),
        cursor=query.cursor or "",
        limit=query.limit or A_PAGE,
    )


@review.get("/next")
async def next_picture(request: Request, query: Annotated[NextQuery, Query()]) -> JSONResponse:
    """The next picture of a queue, lent to this person for some minutes."""
    return await _answer(
        request, desk_of(request).next, query.chosen(), who=person_of(request), after=query.after
    )


@review.get("/pictures")
async def pictures(request: Request, query: Annotated[PicturesQuery, Query()]) -> JSONResponse:
    """Pictures by id."""
    return await _answer(
        request,
        desk_of(request).pictures,
        query.picture_filter(),
        limit=query.limit or A_PAGE,
        cursor=query.cursor or "",
    )


@review.get("/pictures/{picture}")
async def picture(request: Request, picture: Number) -> JSONResponse:
    """One picture with its tags."""
    return await _answer(request, desk_of(request).picture, picture)


# what is decided


@review.post("/decisions")
async def decide(request: Request, body: Decisions) -> JSONResponse:
    """Record answers; once this is answered they are on disk."""
    return await _answer(
        request,
        desk_of(request).decide,
        [Answer(one.picture, one.tag, one.answer) for one in body.answers],
        who=person_of(request),
        request=body.request,
        queue=body.queue,
        model=body.model,
        reviewed=body.reviewed,
        is_unmarked=body.unmarked,
        shown=_shown(body.shown),
    )


@review.post("/undo")
async def undo(request: Request, body: Undo) -> JSONResponse:
    """Take back the last step of this person."""
    return await _answer(
        request,
        desk_of(request).undo,
        who=person_of(request),
        request=body.request,
        batch=body.batch,
        shown=_shown(body.shown),
    )


def _shown(shown: Shown | None) -> Queue | None:
    """What the page shows, None where it does not say."""
    return None if shown is None or shown == Shown() else shown.chosen()


@review.get("/history")
async def history(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    before: Number | None = None,
    who: Text | None = None,
) -> JSONResponse:
    """Decisions, the last ones first."""
    return await _answer(request, desk_of(request).history, limit=limit, before=before, who=who or None)


@review.get("/steps")
async def steps(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=200)] = 30,
    before: Number | None = None,
) -> JSONResponse:
    """What people did at once, the last first, and what this person would take back next."""
    return await _answer(request, desk_of(request).steps, who=person_of(request), limit=limit, before=before)


@review.get("/why")
async def why(request: Request, picture: Number, tag: TagName) -> JSONResponse:
    """The training pictures and features that speak for and against a tag."""
    return await _answer(request, desk_of(request).why, picture, tag, kind="image")


# how it learns


@learning.get("/training")
async def training(request: Request) -> JSONResponse:
    """How far the training is, and what the last one changed."""
    return await _answer(request, desk_of(request).learning.training)


@learning.post("/training")
async def train(request: Request, body: TrainingBody) -> JSONResponse:
    """Start a training in the background."""
    return await _answer(request, desk_of(request).learning.train, body.fresh)


@learning.delete("/training")
async def cancel_training(request: Request) -> JSONResponse:
    """End the training; the last good model keeps answering."""
    return await _answer(request, desk_of(request).learning.cancel)


@learning.get("/models")
async def models(request: Request) -> JSONResponse:
    """All models that are kept, the newest first."""
    return await _answer(request, desk_of(request).learning.models)


@learning.post("/models/{number}/use")
async def use_model(request: Request, number: Number) -> JSONResponse:
    """Let another model answer."""
    return await _answer(request, desk_of(request).learning.use, number, kind="long")


# the folder of pictures, and decisions on their way out and in


@archive.post("/api/scan")
async def scan(request: Request) -> JSONResponse:
    """Look for added, moved, changed and vanished pictures."""
    return await _answer(request, desk_of(request).scan, kind="long")


@archive.get("/api/export")
async def export(request: Request, format: Literal["csv", "jsonl", "tags"] = "csv") -> Response:
    """All decisions as a file, or all pictures with all their tags."""
    desk = desk_of(request)
    content = await _call(request, desk.export, format, kind="long")
    return Response(
        content,
        media_type=_TYPES[format],
        headers={"Content-Disposition": f'attachment; filename="{download_name(desk.name, format)}"'},
    )


@archive.post("/api/sidecars")
async def sidecars(request: Request, body: Sidecars) -> JSONResponse:
    """Write tags beside the pictures and take out what was taken back, or tell what would be written."""
    return await _answer(
        request, desk_of(request).write_sidecars, style=body.style, dry_run=body.dry_run, kind="long"
    )


@archive.post("/api/tag-list")
async def tag_list(request: Request, body: DryRun) -> JSONResponse:
    """Write all tags into the list of the folder, or tell what would be written."""
    return await _answer(request, desk_of(request).write_tag_list, dry_run=body.dry_run, kind="long")


@archive.post("/api/import")
async def import_decisions(
    request: Request, format: Literal["csv", "jsonl"] = "csv", dry_run: bool = True
) -> JSONResponse:
    """Take decisions from a file, or tell what they would change."""
    content = await request.body()
    return await _answer(
        request,
        desk_of(request).import_,
        content,
        format,
        dry_run=dry_run,
        who=person_of(request),
        kind="long",
    )


@archive.get("/api/vocabulary")
async def vocabulary(request: Request) -> JSONResponse:
    """Tags with synonyms, parents and descriptions, conflicts between answers, and what was changed."""
    return await _answer(request, desk_of(request).vocabulary)


@archive.post("/api/vocabulary")
async def change_tags(request: Request, body: TagVerb) -> JSONResponse:
    """Change what a tag means, or tell what would become of the pictures."""
    return await _answer(
        request,
        desk_of(request).change_tags,
        body.verb,
        body.tag,
        body.other,
        who=person_of(request),
        request=body.request,
        dry_run=body.dry_run,
        kind="long",
    )


@archive.get("/thumbnails/{picture}")
async def thumbnail(
    request: Request, picture: Number, side: Annotated[int, Query(ge=16, le=512)] = 256
) -> Response:
    """A small JPEG of a picture."""
    return await _image(request, picture, side)


@archive.get("/images/{picture}")
async def image(
    request: Request, picture: Number, side: Annotated[int, Query(ge=16, le=4096)] = 1600
) -> Response:
    """A JPEG of a picture as large as it is shown."""
    return await _image(request, picture, side)


async def _image(request: Request, picture: int, side: int) -> Response:
    content, word = await _call(request, desk_of(request).thumbnail, picture, side, kind="image")
    headers = {"ETag": f'"{word}"', "Cache-Control": "private, max-age=3600"}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type="image/jpeg", headers=headers)


def download_name(archive: str, format: str) -> str:
    """A file name that says nothing in a header but a name."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", archive).strip("-.")[:80]
    return f"{plain or 'archive'}-{'tags.csv' if format == 'tags' else f'decisions.{format}'}"


# signing in and out


@sessions.post("/api/sign-in")
async def sign_in(request: Request, body: SignIn) -> Response:
    """A new session for name and password; one that was there ends."""
    security: Security = request.app.state.security
    # who has to wait does not wait in the line of the others
    security.attempts.check(address_of(request))
    word = await _call(
        request, security.sign_in, body.name, body.password, address_of(request), kind="sign in"
    )
    response = JSONResponse({"person": check_name(body.name)})
    security.set_cookie(response, word)
    await _end_session(request)
    return response


@sessions.post("/api/sign-out")
async def sign_out(request: Request, body: Empty) -> Response:
    """End the session of this browser."""
    security: Security = request.app.state.security
    response = JSONResponse({})
    response.delete_cookie(security.cookie, path="/")
    await _end_session(request)
    return response


async def _end_session(request: Request) -> None:
    security: Security = request.app.state.security
    if word := request.cookies.get(security.cookie):
        await _call(request, security.sessions.end, word)
