"""Training, and the models that came of it."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse

from tagrank.app.web.bodies import Number, Training
from tagrank.app.web.calls import calls_of

router = APIRouter(prefix="/api", tags=["learning"])


@router.get("/training")
async def training(request: Request) -> JSONResponse:
    """How far the training is, and what the last one changed."""
    call = calls_of(request)
    return JSONResponse(await call(call.desk.training))


@router.post("/training")
async def train(request: Request, body: Training) -> JSONResponse:
    """Start a training in the background."""
    call = calls_of(request)
    return JSONResponse(await call(call.desk.train, body.fresh))


@router.delete("/training")
async def cancel_training(request: Request) -> JSONResponse:
    """End the training; the last good model keeps answering."""
    call = calls_of(request)
    return JSONResponse(await call(call.desk.cancel_training))


@router.get("/models")
async def models(request: Request) -> JSONResponse:
    """All models that are kept, the newest first."""
    call = calls_of(request)
    return JSONResponse(await call(call.desk.models))


@router.post("/models/{number}/use")
async def use_model(request: Request, number: Number) -> JSONResponse:
    """Let another model answer."""
    call = calls_of(request)
    found: Any = await call(call.desk.use_model, number, kind="long")
    return JSONResponse(found)
