"""What a scene shows: tags that depend on each other as in life.

A scene has a place and a light. The place brings its things (a harbour brings the sea, the sea allows boats),
the light brings what hangs in the sky (only the night has stars), and some things forbid others (no moon in
the rain).
"""

from dataclasses import dataclass

import numpy as np

# "sky" is what people tag so: a clear daylight sky. Every other name is plain.
TAGS = (
    "beach", "birds", "boats", "bridge", "cars", "clouds", "flowers", "houses", "lighthouse", "moon",
    "mountains", "night", "people", "rain", "sea", "sky", "snow", "stars", "street", "sun", "sunset", "trees",
)  # fmt: skip

_PLACES = {"coast": 0.24, "harbour": 0.18, "mountains": 0.18, "country": 0.19, "street": 0.21}
_LIGHTS = {"day": 0.43, "sunset": 0.18, "night": 0.24, "overcast": 0.15}

_THINGS = {
    "coast": {
        "sea": 1, "beach": 0.6, "lighthouse": 0.4, "boats": 0.45, "mountains": 0.25,
        "birds": 0.4, "trees": 0.35,
    },
    "harbour": {
        "sea": 1, "boats": 0.85, "houses": 0.75, "bridge": 0.5, "mountains": 0.3,
        "birds": 0.4, "people": 0.35,
    },
    "mountains": {
        "mountains": 1, "snow": 0.45, "trees": 0.65, "houses": 0.3, "flowers": 0.4,
        "birds": 0.2, "people": 0.2,
    },
    "country": {
        "trees": 0.75, "houses": 0.45, "flowers": 0.55, "people": 0.35,
        "birds": 0.3, "snow": 0.2, "mountains": 0.15,
    },
    "street": {
        "street": 1, "houses": 0.9, "cars": 0.7, "people": 0.6, "trees": 0.5, "snow": 0.15, "birds": 0.1,
    },
}  # fmt: skip
_SKIES = {
    "day": {"sky": 1, "sun": 0.4, "clouds": 0.5},
    "sunset": {"sunset": 1, "sun": 0.75, "clouds": 0.45},
    "night": {"night": 1, "stars": 0.7, "moon": 0.5, "clouds": 0.25, "rain": 0.12},
    "overcast": {"clouds": 1, "rain": 0.6},
}


@dataclass(frozen=True)
class Plan:
    """A scene before it is drawn: where, in which light, and everything that will be seen."""

    place: str
    light: str
    tags: frozenset[str]


def plan_scene(rng: np.random.Generator) -> Plan:
    """Draw a place, a light and the tags that go together there."""
    place, light = _pick(rng, _PLACES), _pick(rng, _LIGHTS)
    tags = {tag for tag, chance in {**_THINGS[place], **_SKIES[light]}.items() if rng.random() < chance}
    if "rain" in tags:
        tags.add("clouds")
    if "beach" in tags and rng.random() < 0.6:
        tags.add("people")
    return Plan(place, light, frozenset(tags - _ruled_out(tags)))


def _ruled_out(tags: set[str]) -> set[str]:
    """What the rest of the scene forbids: no moon in the rain, no flowers in the snow."""
    out: set[str] = set()
    if "rain" in tags:
        out |= {"stars", "moon", "birds", "snow"}
    if tags & {"snow", "night"}:
        out |= {"flowers"}
    if "night" in tags:
        out |= {"birds"}
    return out


def _pick(rng: np.random.Generator, chances: dict[str, float]) -> str:
    return str(rng.choice(list(chances), p=list(chances.values())))
