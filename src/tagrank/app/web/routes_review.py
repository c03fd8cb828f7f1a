"""What to look at, and what was decided."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import JSONResponse

from tagrank.app.web.bodies import Decisions, Next, Number, Page, TagName, Text, Undo, WallPage
from tagrank.app.web.calls import calls_of, person_of

router = APIRouter(prefix="/api", tags=["review"])


@router.get("/overview")
async def overview(request: Request) -> JSONResponse:
    """The archive, its progress, its queues, and its model."""
    call, person = calls_of(request), person_of(request)
    found: dict[str, Any] = await call(call.desk.overview)
    return JSONResponse(found | {"person": person})


@router.get("/tags")
async def tags(request: Request, text: Text = "") -> JSONResponse:
    """All tags, or those that contain a text, with their numbers."""
    call = calls_of(request)
    return JSONResponse(await call(call.desk.tags, text))


@router.get("/complete")
async def complete(request: Request, text: Text = "") -> JSONResponse:
    """Tags that a text may become."""
    call = calls_of(request)
    return JSONResponse(await call(call.desk.complete, text))


@router.get("/wall")
async def wall(request: Request, asked: Annotated[WallPage, Query()]) -> JSONResponse:
    """Proposals of a queue, best first, lent to this person for some minutes."""
    call, person = calls_of(request), person_of(request)
    return JSONResponse(await call(call.desk.wall, who=person, **asked.given()))


@router.get("/next")
async def next_picture(request: Request, asked: Annotated[Next, Query()]) -> JSONResponse:
    """The next picture of a queue, lent to this person for some minutes."""
    call, person = calls_of(request), person_of(request)
    return JSONResponse(await call(call.desk.next, who=person, **asked.given()))


@router.get("/pictures")
async def pictures(request: Request, asked: Annotated[Page, Query()]) -> JSONResponse:
    """Pictures by id."""
    call = calls_of(request)
    return JSONResponse(await call(call.desk.pictures, **asked.given()))


@router.get("/pictures/{picture}")
async def picture(request: Request, picture: Number) -> JSONResponse:
    """One picture with its tags."""
    call = calls_of(request)
    return JSONResponse(await call(call.desk.picture, picture))


@router.post("/decisions")
async def decide(request: Request, body: Decisions) -> JSONResponse:
    """Record answers; once this is answered they are on disk."""
    call, person = calls_of(request), person_of(request)
    return JSONResponse(await call(call.desk.decide, body.model_dump(exclude_none=True), person))


@router.post("/undo")
async def undo(request: Request, body: Undo) -> JSONResponse:
    """Take back the last step of this person."""
    call, person = calls_of(request), person_of(request)
    return JSONResponse(await call(call.desk.undo, body.model_dump(exclude_none=True), person))


@router.get("/history")
async def history(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    before: Number | None = None,
    who: Text | None = None,
) -> JSONResponse:
    """Decisions, the last ones first."""
    call = calls_of(request)
    return JSONResponse(await call(call.desk.history, limit=limit, before=before, who=who or None))


@router.get("/steps")
async def steps(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=200)] = 30,
    before: Number | None = None,
) -> JSONResponse:
    """What people did at once, the last first, and what this person would take back next."""
    call, person = calls_of(request), person_of(request)
    return JSONResponse(await call(call.desk.steps, who=person, limit=limit, before=before))


@router.get("/why")
async def why(request: Request, picture: Number, tag: TagName) -> JSONResponse:
    """The training pictures and features that speak for and against a tag."""
    call = calls_of(request)
    return JSONResponse(await call(call.desk.why, picture, tag, kind="image"))
