"""What to look at, and what was decided."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import JSONResponse

from tagrank.app.web.bodies import Decisions, Next, Number, Page, TagName, Text, Undo, WallPage
from tagrank.app.web.calls import Calling, Person

router = APIRouter(prefix="/api", tags=["review"])


@router.get("/overview")
async def overview(call: Calling, person: Person) -> JSONResponse:
    """The archive, its progress, its queues, and its model."""
    found: dict[str, Any] = await call(call.desk.overview)
    return JSONResponse(found | {"person": person})


@router.get("/tags")
async def tags(call: Calling, text: Text = "") -> JSONResponse:
    """All tags, or those that contain a text, with their numbers."""
    return JSONResponse(await call(call.desk.tags, text))


@router.get("/complete")
async def complete(call: Calling, text: Text = "") -> JSONResponse:
    """Tags that a text may become."""
    return JSONResponse(await call(call.desk.complete, text))


@router.get("/wall")
async def wall(call: Calling, person: Person, asked: Annotated[WallPage, Query()]) -> JSONResponse:
    """Proposals of a queue, best first, lent to this person for some minutes."""
    return JSONResponse(await call(call.desk.wall, who=person, **asked.given()))


@router.get("/next")
async def next_picture(call: Calling, person: Person, asked: Annotated[Next, Query()]) -> JSONResponse:
    """The next picture of a queue, lent to this person for some minutes."""
    return JSONResponse(await call(call.desk.next, who=person, **asked.given()))


@router.get("/pictures")
async def pictures(call: Calling, asked: Annotated[Page, Query()]) -> JSONResponse:
    """Pictures by id."""
    return JSONResponse(await call(call.desk.pictures, **asked.given()))


@router.get("/pictures/{picture}")
async def picture(call: Calling, picture: Number) -> JSONResponse:
    """One picture with its tags."""
    return JSONResponse(await call(call.desk.picture, picture))


@router.post("/decisions")
async def decide(call: Calling, person: Person, body: Decisions) -> JSONResponse:
    """Record answers; once this is answered they are on disk."""
    return JSONResponse(await call(call.desk.decide, body.model_dump(exclude_none=True), person))


@router.post("/undo")
async def undo(call: Calling, person: Person, body: Undo) -> JSONResponse:
    """Take back the last step of this person."""
    return JSONResponse(await call(call.desk.undo, body.model_dump(exclude_none=True), person))


@router.get("/history")
async def history(
    call: Calling,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    before: Number | None = None,
    who: Text | None = None,
) -> JSONResponse:
    """Decisions, the last ones first."""
    return JSONResponse(await call(call.desk.history, limit=limit, before=before, who=who or None))


@router.get("/why")
async def why(call: Calling, picture: Number, tag: TagName) -> JSONResponse:
    """The training pictures and features that speak for and against a tag."""
    return JSONResponse(await call(call.desk.why, picture, tag, kind="image"))
