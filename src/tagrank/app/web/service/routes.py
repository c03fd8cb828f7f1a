"""What programs may ask for."""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import anyio
from anyio.to_thread import run_sync
from fastapi import APIRouter, File, Form, Query, Request, UploadFile
from pydantic import BaseModel, Field

from tagrank.app.web.bodies import Body, TagName
from tagrank.app.web.errors import Refused
from tagrank.app.web.service.model_workers import Question

router = APIRouter()
MOST_PICTURES, MOST_TAGS, MOST_WAITING = 32, 100, 64
PathName = Annotated[str, Field(min_length=1, max_length=4000)]
Top = Annotated[int, Query(ge=1, le=10_000, description="How many of the best tags.")]
MinProbability = Annotated[
    float | None, Query(gt=0, le=1, description="Predict what is at least so probable; or the model decides.")
]
Tags = Annotated[
    Sequence[TagName],
    Form(max_length=MOST_TAGS, description="Tags to explain; else those that are predicted."),
]


class Health(BaseModel):
    """That the service answers."""

    status: str


class ModelFacts(BaseModel):
    """What is known about the model."""

    name: str
    facts: dict[str, Any]
    features: list[str]
    tags: list[str]


class RankedTag(BaseModel):
    """A tag; `predicted` says whether the model would write it down."""

    tag: str
    score: float
    probability: float | None
    predicted: bool


class AnnotatedPicture(BaseModel):
    """The best tags of a picture, best first."""

    name: str
    tags: list[RankedTag]


class Problem(BaseModel):
    """A picture without an answer, and why."""

    name: str
    reason: str


class Annotation(BaseModel):
    """What became of each picture."""

    pictures: list[AnnotatedPicture]
    problems: list[Problem]


class Explanation(BaseModel):
    """What speaks for and against tags: each is a document as `tagrank annotate --why --json` prints it."""

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
    pictures: Annotated[list[UploadFile], File(description="One or several picture files.")],
    top: Top = 5,
    min_probability: MinProbability = None,
) -> Annotation:
    """The best tags of uploaded pictures."""
    if len(pictures) > MOST_PICTURES:
        raise Refused(413, f"at most {MOST_PICTURES} pictures are taken at once, got {len(pictures)}")
    with _kept(pictures) as (paths, save):
        await run_sync(save)
        questions = [
            Question(path, _name(upload), top, min_probability)
            for path, upload in zip(paths, pictures, strict=True)
        ]
        return await _annotated(request, questions)


@router.post("/annotate/path")
async def annotate_paths(
    request: Request, body: Paths, top: Top = 5, min_probability: MinProbability = None
) -> Annotation:
    """The best tags of pictures below the root of the service."""
    questions = [Question(_below_root(request, name), name, top, min_probability) for name in body.paths]
    return await _annotated(request, questions)


@router.post("/why")
async def why(
    request: Request, picture: Annotated[UploadFile, File(description="A picture file.")], tags: Tags = ()
) -> Explanation:
    """Which training pictures and features speak for and against tags of an uploaded picture."""
    with _kept([picture]) as (paths, save):
        await run_sync(save)
        return await _explained(request, Question(paths[0], _name(picture), why=tuple(tags)))


@router.post("/why/path")
async def why_path(request: Request, body: WhyPath) -> Explanation:
    """The same for a picture below the root of the service."""
    question = Question(_below_root(request, body.path), body.path, why=tuple(body.tags))
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
        raise Refused(403, "this service reads no paths; start it with --root FOLDER")
    return str(request.app.state.root.find(name))


async def _annotated(request: Request, questions: Sequence[Question]) -> Annotation:
    answers: list[dict[str, Any]] = [{} for _ in questions]

    async def ask(number: int, question: Question) -> None:
        answers[number] = await _ask(request, question)

    _check_waiting(request)
    async with anyio.create_task_group() as group:
        for number, question in enumerate(questions):
            group.start_soon(ask, number, question)
    return Annotation(
        pictures=[AnnotatedPicture(**answer) for answer in answers if "tags" in answer],
        problems=[Problem(**answer) for answer in answers if "reason" in answer],
    )


async def _explained(request: Request, question: Question) -> Explanation:
    _check_waiting(request)
    answer = await _ask(request, question)
    if "reason" in answer:
        raise Refused(422, answer["reason"])
    return Explanation(**answer)


async def _ask(request: Request, question: Question) -> dict[str, Any]:
    state = request.app.state
    return await run_sync(state.workers.ask, question, limiter=state.limiter)


def _check_waiting(request: Request) -> None:
    if request.app.state.limiter.statistics().tasks_waiting > MOST_WAITING:
        raise Refused(503, "too many pictures are waiting; try again in a moment", Retry_After="5")
