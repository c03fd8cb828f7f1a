"""The folder of pictures, and decisions on their way out and in."""

import re
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import JSONResponse, Response

from tagrank.app.web.bodies import DryRun, Number, Sidecars, TagVerb
from tagrank.app.web.calls import calls_of, person_of

router = APIRouter(tags=["archive"])
FormatWord = Literal["csv", "jsonl"]
_CSV = "text/csv; charset=utf-8"
_TYPES = {"csv": _CSV, "jsonl": "application/x-ndjson", "tags": _CSV}


@router.post("/api/scan")
async def scan(request: Request) -> JSONResponse:
    """Look for added, moved, changed and vanished pictures."""
    call = calls_of(request)
    return JSONResponse(await call(call.desk.scan, kind="long"))


@router.get("/api/export")
async def export(request: Request, format: Literal["csv", "jsonl", "tags"] = "csv") -> Response:
    """All decisions as a file, or all pictures with all their tags."""
    call = calls_of(request)
    content = await call(call.desk.export, format, kind="long")
    return Response(
        content,
        media_type=_TYPES[format],
        headers={"Content-Disposition": f'attachment; filename="{download_name(call.desk.name, format)}"'},
    )


@router.post("/api/sidecars")
async def sidecars(request: Request, body: Sidecars) -> JSONResponse:
    """Write tags beside the pictures and take out what was taken back, or tell what would be written."""
    call = calls_of(request)
    return JSONResponse(await call(call.desk.export, "sidecars", body.dry_run, body.style, kind="long"))


@router.post("/api/tag-list")
async def tag_list(request: Request, body: DryRun) -> JSONResponse:
    """Write all tags into the list of the folder, or tell what would be written."""
    call = calls_of(request)
    return JSONResponse(await call(call.desk.export, "tag-list", body.dry_run, kind="long"))


@router.post("/api/import")
async def import_decisions(
    request: Request, format: FormatWord = "csv", dry_run: bool = True
) -> JSONResponse:
    """Take decisions from a file, or tell what they would change."""
    call, person = calls_of(request), person_of(request)
    content = await request.body()
    return JSONResponse(await call(call.desk.import_, content, format, dry_run, person, kind="long"))


@router.get("/api/vocabulary")
async def vocabulary(request: Request) -> JSONResponse:
    """Tags with synonyms, parents and descriptions, conflicts between answers, and what was changed."""
    call = calls_of(request)
    return JSONResponse(await call(call.desk.vocabulary))


@router.post("/api/vocabulary")
async def change_tags(request: Request, body: TagVerb) -> JSONResponse:
    """Change what a tag means, or tell what would become of the pictures."""
    call, person = calls_of(request), person_of(request)
    return JSONResponse(await call(call.desk.change_tags, body.model_dump(), person, kind="long"))


@router.get("/thumbnails/{picture}")
async def thumbnail(
    request: Request, picture: Number, side: Annotated[int, Query(ge=16, le=512)] = 256
) -> Response:
    """A small JPEG of a picture."""
    return await _image(request, picture, side)


@router.get("/images/{picture}")
async def image(
    request: Request, picture: Number, side: Annotated[int, Query(ge=16, le=4096)] = 1600
) -> Response:
    """A JPEG of a picture as large as it is shown."""
    return await _image(request, picture, side)


async def _image(request: Request, picture: int, side: int) -> Response:
    call = calls_of(request)
    content, tag = await call(call.desk.thumbnail, picture, side, kind="image")
    headers = {"ETag": f'"{tag}"', "Cache-Control": "private, max-age=3600"}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type="image/jpeg", headers=headers)


def download_name(archive: str, format: str) -> str:
    """A file name that says nothing in a header but a name."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", archive).strip("-.")[:80]
    return f"{plain or 'archive'}-{'tags.csv' if format == 'tags' else f'decisions.{format}'}"
