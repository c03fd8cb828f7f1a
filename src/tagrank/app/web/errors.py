"""Errors as answers: {"error": "one sentence"}."""

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from tagrank.errors import one_line

LONGEST_SENTENCE = 1000
Answering = Callable[[Request, "Refused"], Response]


class Refused(HTTPException):
    """A request that gets a sentence instead of what it asked for."""

    def __init__(self, status: int, sentence: str, **headers: str) -> None:
        super().__init__(status, sentence, {name.replace("_", "-"): text for name, text in headers.items()})


def json_error(request: Request, refused: HTTPException) -> Response:
    """The sentence for programs."""
    sentence = str(refused.detail)[:LONGEST_SENTENCE]
    return JSONResponse({"error": sentence}, refused.status_code, refused.headers)


def add_error_answers(app: FastAPI, answer: Answering = json_error) -> None:
    """Let `answer` turn whatever goes wrong into an answer."""

    def handler(refusal: Callable[[Any], Refused]) -> Callable[[Request, Exception], Response]:
        return lambda request, error: answer(request, refusal(error))

    kinds: dict[type[Exception], Callable[[Any], Refused]] = {
        RequestValidationError: lambda error: Refused(422, _invalid(error)),
        HTTPException: _of_framework,
        LookupError: lambda error: Refused(404, _words(error)),
        ValueError: lambda error: Refused(422, _words(error)),
        OSError: lambda error: Refused(507, _words(error)),
        Exception: lambda error: Refused(500, "the server failed; see its terminal for the reason"),
    }
    for kind, refusal in kinds.items():
        app.add_exception_handler(kind, handler(refusal))


def _of_framework(error: HTTPException) -> Refused:
    if isinstance(error, Refused):
        return error
    sentences = {404: "this page does not exist", 405: "this address does not accept this method"}
    refused = Refused(error.status_code, sentences.get(error.status_code, str(error.detail)))
    refused.headers = error.headers
    return refused


def _words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    # str of a KeyError is the repr of its message
    is_plain = isinstance(error, LookupError) and error.args
    return " ".join(str(error.args[0]).split()) if is_plain else one_line(error)


def _invalid(error: RequestValidationError) -> str:
    """The first thing that is wrong, and where; never what came, which may be long."""
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return "the body is not valid JSON"
    place = ".".join(map(str, first["loc"][1:])) or str(first["loc"][0])
    return f"{place}: {first['msg']}"
