"""What requests of the desk may hold, and how much of it."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

QueueWord = Literal["missing", "wrong", "informative", "untagged", "tag", "all"]
StateWord = Literal["present", "absent", "unknown", "tagged", "untagged", "reviewed", "unreviewed", "changed"]
Number = Annotated[int, Field(ge=0, le=2**62)]
TagName = Annotated[str, Field(min_length=1, max_length=200)]
Word = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[\w.:-]+$")]
Text = Annotated[str, Field(max_length=200)]
Day = Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
MOST_ANSWERS = 1000


class Body(BaseModel):
    """A body without fields that nobody knows."""

    model_config = ConfigDict(extra="forbid")


class Given(BaseModel):
    """Parameters of an address; an empty one counts as not given."""

    @field_validator("*", mode="before")
    @classmethod
    def _drop_empty(cls, value: Any) -> Any:
        return None if value == "" else value

    def given(self) -> dict[str, Any]:
        """Those that are there, by name."""
        return self.model_dump(exclude_none=True)


class Filters(Given):
    """Which pictures."""

    tag: TagName | None = None
    folder: Annotated[str, Field(max_length=1000)] | None = None
    state: StateWord | None = None
    text: Text | None = None
    start: Day | None = None
    end: Day | None = None


class Page(Filters):
    """Which pictures, and how many of them from where on."""

    limit: Annotated[int, Field(ge=1, le=500)] | None = None
    cursor: Annotated[str, Field(max_length=200)] | None = None


class WallPage(Page):
    """Proposals of a queue."""

    queue: QueueWord | None = None


class Next(Filters):
    """What to look at after a picture."""

    queue: QueueWord | None = None
    after: Number | None = None


class GivenAnswer(Body):
    """What somebody says about a tag of a picture."""

    picture: Number
    tag: TagName
    answer: Literal["yes", "no", "skip"]


class Shown(Filters):
    """What a page shows: the answer to a step tells how much is left of it."""

    model_config = ConfigDict(extra="forbid")
    queue: QueueWord | None = None


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


class Training(Body):
    """Train; from nothing if it is to be fresh."""

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
