"""What requests of the desk may hold, and how much of it."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, field_validator

from tagrank.archive.records import PictureFilter
from tagrank.desk.queues import QUEUES, USUAL, Queue, make_queue

# which queues there are is checked where one is made; the description for programs lists them
QueueName = Annotated[
    str, Field(max_length=40, pattern=r"^[a-z-]+$"), WithJsonSchema({"type": "string", "enum": list(QUEUES)})
]
StateWord = Literal["present", "absent", "unknown", "tagged", "untagged", "reviewed", "unreviewed", "changed"]
Number = Annotated[int, Field(ge=0, le=2**62)]
TagName = Annotated[str, Field(min_length=1, max_length=200)]
Word = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[\w.:-]+$")]
Text = Annotated[str, Field(max_length=200)]
Day = Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
PageSize = Annotated[int, Field(ge=1, le=500)]
Cursor = Annotated[str, Field(max_length=200)]
MOST_ANSWERS, A_PAGE = 1000, 60


class Body(BaseModel):
    """A body without fields that nobody knows."""

    model_config = ConfigDict(extra="forbid")


class Filters(BaseModel):
    """Which pictures; an empty parameter of an address counts as not given."""

    tag: TagName | None = None
    folder: Annotated[str, Field(max_length=1000)] | None = None
    state: StateWord | None = None
    text: Text | None = None
    start: Day | None = None
    end: Day | None = None

    @field_validator("*", mode="before")
    @classmethod
    def _drop_empty(cls, value: Any) -> Any:
        return None if value == "" else value

    def picture_filter(self) -> PictureFilter:
        """As the archive takes it."""
        return PictureFilter(self.tag, self.folder, self.state, self.start, self.end, self.text)


class QueueFilters(Filters):
    """Which items of a queue."""

    queue: QueueName | None = None

    def chosen(self) -> Queue:
        """The queue with its filters; an error where there is none of that name."""
        return make_queue(
            self.queue or USUAL,
            tag=self.tag or "",
            folder=self.folder or "",
            state=self.state or "",
            start=self.start or "",
            end=self.end or "",
            text=self.text or "",
        )


class PicturesQuery(Filters):
    """Which pictures, and how many of them from where on."""

    limit: PageSize | None = None
    cursor: Cursor | None = None


class WallQuery(QueueFilters):
    """Proposals of a queue, and how many of them from where on."""

    limit: PageSize | None = None
    cursor: Cursor | None = None


class NextQuery(QueueFilters):
    """What to look at after a picture."""

    after: Number | None = None


class GivenAnswer(Body):
    """What somebody says about a tag of a picture."""

    picture: Number
    tag: TagName
    answer: Literal["yes", "no", "skip"]


class Shown(QueueFilters):
    """What a page shows: the answer to a step tells how much is left of it."""

    model_config = ConfigDict(extra="forbid")


class Decisions(Body):
    """Answers that are given, and undone, in one step."""

    request: Word
    queue: Annotated[str, Field(max_length=20)] = ""
    answers: Annotated[list[GivenAnswer], Field(max_length=MOST_ANSWERS)] = []
    reviewed: Annotated[list[Number], Field(max_length=MOST_ANSWERS)] = []
    model: Number | None = None
    unmarked: bool = False
    shown: Shown | None = None


class Undo(Body):
    """The last step of a person, or the one that is named."""

    request: Word
    batch: Number | None = None
    shown: Shown | None = None


class TagVerb(Body):
    """What is done with a tag."""

    request: Word
    verb: Literal[
        "rename",
        "merge",
        "synonym",
        "no synonym",
        "delete",
        "restore",
        "describe",
        "parent",
        "no parent",
    ]
    tag: TagName
    other: Annotated[str, Field(max_length=1000)] = ""
    dry_run: bool = True


class TrainingBody(Body):
    """Train; from nothing if it is to be fresh."""

    model_config = ConfigDict(title="Training")
    fresh: bool = False


class DryRun(Body):
    """Only tell what would be done, unless told otherwise."""

    dry_run: bool = True


class Sidecars(DryRun):
    """How sidecars are written: also what new ones are called."""

    style: Literal["full", "stem"] = "full"


class Empty(Body):
    """Nothing."""


class SignIn(Body):
    """Name and password."""

    name: Annotated[str, Field(max_length=200)]
    password: Annotated[str, Field(max_length=1000)]
