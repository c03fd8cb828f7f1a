"""Tags for pictures of programs, over HTTP: a model behind a token."""

import hmac
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import anyio
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import APIRouter, FastAPI, File, Form, Query, Request, UploadFile
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response
from starlette.types import ASGIApp

from tagrank._version import __version__
from tagrank.app.web.bodies import Body, TagName
from tagrank.app.web.errors import Refused, add_error_answers, json_error
from tagrank.app.web.model_workers import ModelWorkers, PictureQuestion
from tagrank.app.web.protection.guard import Guard, HostNames
from tagrank.app.web.protection.limits import BodyLimit, BodyLimits, RateLimit
from tagrank.app.web.protection.security import address_of
from tagrank.data.picture_files import PICTURE_SUFFIXES
from tagrank.errors import ArgumentError

router = APIRouter()
MOST_PICTURES, MOST_TAGS, MOST_WAITING = 32, 100, 64
PathName = Annotated[str, Field(min_length=1, max_length=4000)]
Top = Annotated[int, Query(ge=1, le=10_000, description="Number of best tags to return.")]
MinProbability = Annotated[
    float | None,
    Query(
        gt=0,
        le=1,
        description="Predict the tags with at least this probability; by default, the model decides.",
    ),
]
Tags = Annotated[
    Sequence[TagName],
    Form(max_length=MOST_TAGS, description="Tags to explain; by default, the predicted tags."),
]
OPEN_PATHS = frozenset({"/health", "/openapi.json"})
_UPLOADS = ("/annotate", "/why")
_WITH_TOKEN, _WITHOUT = (200.0, 1000.0), (20.0, 100.0)
_ABOUT = """Send the token as `Authorization: Bearer TOKEN`. An error is `{"error": "a sentence"}`."""


class Root:
    """A folder whose pictures may be named by path, wherever links in it seem to lead."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise ArgumentError(f"root {folder} is not a folder; name the folder of the pictures to serve")
        self.folder = folder.resolve()

    def find(self, name: str) -> Path:
        """The picture; whether other files exist is not told."""
        try:
            path = (self.folder / name).resolve(strict=True)
            is_inside = path.is_relative_to(self.folder) and path.is_file()
        except (OSError, ValueError, RuntimeError):
            is_inside = False
        if not is_inside or path.suffix.casefold() not in PICTURE_SUFFIXES:
            raise LookupError("there is no such picture in the root folder")
        return path


class Health(BaseModel):
    """That the service answers."""

    status: str


class ModelFacts(BaseModel):
    """What is known about the model."""

    name: str
    facts: dict[str, Any]
    features: list[str]
    tags: list[str]


class TagAnswer(BaseModel):
    """A tag; `predicted` says whether the model would write it down."""

    model_config = ConfigDict(title="RankedTag")
    tag: str
    score: float
    probability: float | None
    predicted: bool


class AnnotatedPicture(BaseModel):
    """The best tags of a picture, best first."""

    name: str
    tags: list[TagAnswer]


class ProblemAnswer(BaseModel):
    """A picture without an answer, and why."""

    model_config = ConfigDict(title="Problem")
    name: str
    reason: str


class AnnotationAnswer(BaseModel):
    """What became of each picture."""

    model_config = ConfigDict(title="Annotation")
    pictures: list[AnnotatedPicture]
    problems: list[ProblemAnswer]


class ExplanationAnswer(BaseModel):
    """What speaks for and against tags: each is a document as `tagrank annotate --why --json` prints it."""

    model_config = ConfigDict(title="Explanation")
    name: str
    why: list[dict[str, Any]]


class Paths(Body):
    """Pictures below the root."""

    paths: Annotated[list[PathName], Field(min_length=1, max_length=MOST_PICTURES)]


class WhyPath(Body):
    """A picture below the root, and the tags to explain; else those that are predicted."""

    path: PathName
    tags: Annotated[tuple[TagName, ...], Field(max_length=MOST_TAGS)] = ()


@router.get("/health")
async def health() -> Health:
    """Whether the service answers."""
    return Health(status="ok")


@router.get("/model")
async def model(request: Request) -> ModelFacts:
    """What is known about the model, and its tags."""
    return request.app.state.facts


@router.post("/annotate")
async def annotate(
    request: Request,
    pictures: Annotated[list[UploadFile], File(description="One or more picture files.")],
    top: Top = 5,
    min_probability: MinProbability = None,
) -> AnnotationAnswer:
    """The best tags of uploaded pictures."""
    if len(pictures) > MOST_PICTURES:
        raise Refused(
            413, f"at most {MOST_PICTURES} pictures are accepted in one request, got {len(pictures)}"
        )
    with _kept(pictures) as (paths, save):
        await run_sync(save)
        questions = [
            PictureQuestion(path, _name(upload), top, min_probability)
            for path, upload in zip(paths, pictures, strict=True)
        ]
        return await _annotated(request, questions)


@router.post("/annotate/path")
async def annotate_paths(
    request: Request, body: Paths, top: Top = 5, min_probability: MinProbability = None
) -> AnnotationAnswer:
    """The best tags of pictures below the root of the service."""
    questions = [
        PictureQuestion(_below_root(request, name), name, top, min_probability) for name in body.paths
    ]
    return await _annotated(request, questions)


@router.post("/why")
async def why(
    request: Request, picture: Annotated[UploadFile, File(description="A picture file.")], tags: Tags = ()
) -> ExplanationAnswer:
    """Which training pictures and features speak for and against tags of an uploaded picture."""
    with _kept([picture]) as (paths, save):
        await run_sync(save)
        return await _explained(request, PictureQuestion(paths[0], _name(picture), why=tuple(tags)))


@router.post("/why/path")
async def why_path(request: Request, body: WhyPath) -> ExplanationAnswer:
    """The same for a picture below the root of the service."""
    question = PictureQuestion(_below_root(request, body.path), body.path, why=tuple(body.tags))
    return await _explained(request, question)


@contextmanager
def _kept(uploads: Sequence[UploadFile]) -> Iterator[tuple[list[str], Any]]:
    """Paths of files in a folder of their own, and a function that fills them."""
    with tempfile.TemporaryDirectory(prefix="tagrank-") as folder:
        paths = [f"{folder}/{number}.jpg" for number in range(len(uploads))]

        def save() -> None:
            for path, upload in zip(paths, uploads, strict=True):
                with open(path, "wb") as file:
                    shutil.copyfileobj(upload.file, file)

        yield paths, save


def _name(upload: UploadFile) -> str:
    return (upload.filename or "picture")[:200]


def _below_root(request: Request, name: str) -> str:
    if request.app.state.root is None:
        raise Refused(403, "this service does not read paths; start it with --root FOLDER")
    return str(request.app.state.root.find(name))


async def _annotated(request: Request, questions: Sequence[PictureQuestion]) -> AnnotationAnswer:
    answers: list[dict[str, Any]] = [{} for _ in questions]

    async def ask(number: int, question: PictureQuestion) -> None:
        answers[number] = await _ask(request, question)

    _check_waiting(request)
    async with anyio.create_task_group() as group:
        for number, question in enumerate(questions):
            group.start_soon(ask, number, question)
    return AnnotationAnswer(
        pictures=[AnnotatedPicture(**answer) for answer in answers if "tags" in answer],
        problems=[ProblemAnswer(**answer) for answer in answers if "reason" in answer],
    )


async def _explained(request: Request, question: PictureQuestion) -> ExplanationAnswer:
    _check_waiting(request)
    answer = await _ask(request, question)
    if "reason" in answer:
        raise Refused(422, answer["reason"])
    return ExplanationAnswer(**answer)


async def _ask(request: Request, question: PictureQuestion) -> dict[str, Any]:
    state = request.app.state
    return await run_sync(state.workers.ask, question, limiter=state.limiter)


def _check_waiting(request: Request) -> None:
    if request.app.state.limiter.statistics().tasks_waiting > MOST_WAITING:
        raise Refused(503, "too many pictures are waiting; try again in a moment", Retry_After="5")


class BearerAccess:
    """Lets in whoever sends the token, which no browser does by itself for a page of another site."""

    def __init__(self, token: str) -> None:
        self._token = token.encode()
        self._known, self._unknown = RateLimit(*_WITH_TOKEN), RateLimit(*_WITHOUT)

    async def admit(self, request: Request) -> Response | None:
        """See `Access`."""
        kind, _, word = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and hmac.compare_digest(word.strip().encode(), self._token):
            self._known.take("token")
            request.state.is_known = True
            return None
        self._unknown.take(address_of(request))
        if request.scope["path"] in OPEN_PATHS:
            return None
        raise Refused(401, "send the token as Authorization: Bearer TOKEN", WWW_Authenticate="Bearer")


def service_app(
    workers: ModelWorkers,
    *,
    token: str,
    hosts: HostNames,
    root: Root | None = None,
    max_bytes: int = 2**26,
) -> ASGIApp:
    """The application of a model.

    Parameters
    ----------
    workers : processes with the model
    token : what programs have to send
    hosts : the names of the server
    root : the folder below which pictures may be named by path
    max_bytes : of one upload
    """
    app = FastAPI(
        title="tagrank",
        version=__version__,
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.workers, app.state.root = workers, root
    app.state.facts = workers.ask(None)
    app.state.limiter = CapacityLimiter(workers.n_workers)
    add_error_answers(app)
    app.include_router(router)
    app.openapi = lambda: _with_token(app)  # type: ignore[method-assign]
    limits = BodyLimits(by_path=dict.fromkeys(_UPLOADS, BodyLimit(max_bytes, 300.0)))
    return Guard(app, hosts=hosts, access=BearerAccess(token), bodies=limits, answer=json_error)


def _with_token(app: FastAPI) -> dict[str, Any]:
    """The description for programs, which says that a token is needed."""
    if not app.openapi_schema:
        about = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        about.setdefault("components", {})["securitySchemes"] = {
            "token": {"type": "http", "scheme": "bearer"}
        }
        about["security"] = [{"token": []}]
        app.openapi_schema = about
    return app.openapi_schema
