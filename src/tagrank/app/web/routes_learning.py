"""Training, and the models that came of it."""

from typing import Any

from fastapi import APIRouter
from starlette.responses import JSONResponse

from tagrank.app.web.bodies import Number, Training
from tagrank.app.web.calls import Calling

router = APIRouter(prefix="/api", tags=["learning"])


@router.get("/training")
async def training(call: Calling) -> JSONResponse:
    """How far the training is, and what the last one changed."""
    return JSONResponse(await call(call.desk.training))


@router.post("/training")
async def train(call: Calling, body: Training) -> JSONResponse:
    """Start a training in the background."""
    return JSONResponse(await call(call.desk.train, body.fresh))


@router.delete("/training")
async def cancel_training(call: Calling) -> JSONResponse:
    """End the training; the last good model keeps answering."""
    return JSONResponse(await call(call.desk.cancel_training))


@router.get("/models")
async def models(call: Calling) -> JSONResponse:
    """All models that are kept, the newest first."""
    return JSONResponse(await call(call.desk.models))


@router.post("/models/{number}/use")
async def use_model(call: Calling, number: Number) -> JSONResponse:
    """Let another model answer."""
    found: Any = await call(call.desk.use_model, number, kind="long")
    return JSONResponse(found)
