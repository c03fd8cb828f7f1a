"""Calls of the desk from the server: each in a thread, and only so many of a kind at once."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.requests import Request

Answer = TypeVar("Answer")
# quick answers wait for the disk, images for the processor, long work for both
AT_ONCE = {"quick": 48, "image": 4, "long": 2, "sign in": 1}


class Calls:
    """The desk and its threads; slow answers do not keep quick ones waiting."""

    def __init__(self, desk: Any) -> None:
        self.desk = desk
        self._limiters: dict[str, CapacityLimiter] = {}

    async def __call__(
        self, work: Callable[..., Answer], *arguments: Any, kind: str = "quick", **named: Any
    ) -> Answer:
        """What `work` answers."""
        limiter = self._limiters.setdefault(kind, CapacityLimiter(AT_ONCE[kind]))
        return await run_sync(partial(work, *arguments, **named), limiter=limiter)


# plain functions of the request: what FastAPI calls dependencies would cost a third of a quick answer
def calls_of(request: Request) -> Calls:
    """The desk of the application."""
    return request.app.state.calls


def person_of(request: Request) -> str:
    """Who asks."""
    return request.state.person
