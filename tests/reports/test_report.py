"""The report page: whole, closed to the outside, true to its data, and safe with hostile names."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

from tagrank.annotation.explanation import Contribution, Explanation
from tagrank.data import Problem
from tagrank.metrics import MetricRow
from tagrank.reports.report import Answers, MethodResult, ReportPicture, TagExamples, judge_tags, write_report
from tagrank.solvers.solution import TracePoint
from tagrank.visible_text import shown

VOID = {"meta", "img", "br", "link"}
HOSTILE = '<script>alert("x")</script>&"\' onload=x\u202egnp.exe'


class Page(HTMLParser):
    """Elements, attributes and text of a page; insists that elements close in order."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts, self._open = [], [], []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, text):
        self.texts.append(text)

    def with_class(self, name):
        return [tag for tag, attributes in self.elements if name in (attributes.get("class") or "").split()]


def row(name, value, higher_is_better=True):
    return MetricRow(name, value, higher_is_better, "samples", 10, 0)


PICTURE = ReportPicture(
    name="harbour",
    true_tags=["sea", "boats", "birds"],
    predicted=[("sea", 1.5, 0.93), ("night", 0.7, None), ("boats", 0.2, 0.5), ("rain", 0.1, 0.4)],
    unknown_tags=["rain"],
    image=np.random.default_rng(0).integers(0, 256, (48, 64, 3), dtype=np.uint8),
)
METHODS = [
    MethodResult(
        "LabelRanker",
        [row("Image-AUC", 0.93), row("One-error", 0.05, False), row("N+", 22.0), row("Empty", np.nan)],
        [TracePoint(1, 0.1, 9.0, 1.0, 0.9), TracePoint(2, 0.2, 5.0, 4.9, 0.02)],
    ),
    MethodResult("label frequency", [row("Image-AUC", 0.71), row("One-error", 0.49, False), row("N+", 5.0)]),
]
PER_TAG = {
    "tag": ["sea", "boats", "never"],
    "support": [30, 12, 0],
    "precision": [0.9, 0.5, 0.0],
    "recall": [0.8, 0.25, np.nan],
    "f1": [0.85, 1 / 3, np.nan],
}


def render(path, **changes):
    content = {
        "title": "A report",
        "methods": METHODS,
        "pictures": [PICTURE],
        "per_tag": PER_TAG,
        "facts": {"tags": 3, "tags per picture": 2.5, "training pictures": 1200},
        "summary": "In short.",
    }
    write_report(path, **(content | changes))
    return path.read_text(encoding="utf-8")


def test_verdicts():
    verdicts = [(verdict.tag, verdict.kind, verdict.strength) for verdict in judge_tags(PICTURE)]
    assert verdicts == [
        ("sea", "found", "93%"),
        ("night", "wrong", "0.70"),
        ("boats", "found", "50%"),
        ("rain", "unknown", "40%"),
        ("birds", "missed", ""),
    ]


def test_page_shows_its_data(tmp_path):
    page = Page(render(tmp_path / "report.html"))
    text = " ".join(page.texts)
    for expected in (
        "A report",
        "In short.",
        "1,200",
        "2.50",
        "★ 0.930",
        "0.710",
        "★ 0.050",
        "★ 22",
        "harbour",
        "–",
    ):
        assert expected in text
    # one of each kind in the legend
    counts = {kind: len(page.with_class(kind)) - 1 for kind in ("found", "wrong", "missed", "unknown")}
    assert counts == {"found": 2, "wrong": 1, "missed": 1, "unknown": 1}
    assert "Empty" not in text


def test_page_needs_nothing_from_outside(tmp_path):
    text = render(tmp_path / "report.html")
    page = Page(text)
    assert not {tag for tag, _ in page.elements} & {
        "script",
        "link",
        "iframe",
        "object",
        "embed",
        "form",
    }
    for _, attributes in page.elements:
        assert not {name for name in attributes if name.startswith("on") or name in ("xlink:href", "srcset")}
        assert attributes.get("href", "#").startswith("#")
        assert attributes.get("src", "data:image/jpeg;base64,").startswith("data:image/jpeg;base64,")
    assert "http:" not in text
    assert "https:" not in text
    assert "url(" not in text
    policies = [a["content"] for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy"]
    assert policies == ["default-src 'none'; img-src data:; style-src 'unsafe-inline'"]


def test_plots_are_well_formed_and_named(tmp_path):
    text = render(tmp_path / "report.html")
    drawings = [piece.split("</svg>")[0] for piece in text.split("<svg")[1:]]
    trees = [ElementTree.fromstring(f"<svg{drawing}</svg>") for drawing in drawings]
    plots = [tree for tree in trees if tree.get("role") == "img"]
    assert len(plots) == 3
    assert all(plot.find("title").text.strip() for plot in plots)
    bars = plots[0].findall("rect")
    assert [float(bar.get("width")) for bar in bars] == pytest.approx([180, 160, 100, 50])


def test_every_state_has_a_sign_beside_its_colour(tmp_path):
    text = render(tmp_path / "report.html")
    for sign, kind in (("✓", "found"), ("✕", "wrong"), ("○", "missed"), ("?", "unknown")):
        assert f'<b aria-hidden="true">{sign}</b><span class="unseen">{kind}: </span>' in text


def test_hostile_names_stay_text(tmp_path):
    picture = replace(PICTURE, name=HOSTILE, true_tags=[HOSTILE], predicted=[(HOSTILE, 1.0, None)])
    method = replace(METHODS[0], name=HOSTILE, metrics=[row(HOSTILE, 0.5)])
    text = render(
        tmp_path / "report.html",
        title=HOSTILE,
        summary=HOSTILE,
        facts={HOSTILE: HOSTILE},
        pictures=[picture],
        methods=[method],
        per_tag=PER_TAG | {"tag": [HOSTILE, "</svg>", "</style>"]},
    )
    page = Page(text)
    assert "script" not in {tag for tag, _ in page.elements}
    assert not any("onload" in attributes for _, attributes in page.elements)
    assert shown(HOSTILE) in page.texts
    assert "\u202e" not in text


def test_names_that_are_no_text_are_written(tmp_path):
    text = render(tmp_path / "report.html", pictures=[replace(PICTURE, name="caf\udce9.jpg")])
    assert "caf‹U+DCE9›.jpg" in text


def test_rows_without_pictures_and_traces(tmp_path):
    page = Page(
        render(tmp_path / "report.html", pictures=[replace(PICTURE, image=None)], methods=METHODS[1:])
    )
    assert "img" not in {tag for tag, _ in page.elements}
    assert not page.with_class("with-image")
    assert len(page.with_class("found")) == 3
    assert "Convergence of the training" not in page.texts


def test_only_methods_are_required(tmp_path):
    write_report(tmp_path / "new" / "folder" / "report.html", title="t", methods=METHODS)
    text = (tmp_path / "new" / "folder" / "report.html").read_text()
    assert "Quality" in Page(text).texts


def test_a_trace_with_infinite_start_is_drawn_from_where_it_is_finite(tmp_path):
    trace = [TracePoint(0, 0.0, np.inf, 0.0, np.inf), *METHODS[0].trace]
    text = render(tmp_path / "report.html", methods=[replace(METHODS[0], trace=trace)])
    assert "nan" not in text.split("<main>")[1].split("base64")[0]
    assert "inf" not in "".join(part for part in Page(text).texts if "ends at" in part)


def test_many_tags_are_all_in_the_table(tmp_path):
    n_tags = 120
    per_tag = {
        "tag": [f"tag{i}" for i in range(n_tags)],
        "support": range(n_tags),
        **{name: np.linspace(0, 1, n_tags) for name in ("precision", "recall", "f1")},
    }
    page = Page(render(tmp_path / "report.html", per_tag=per_tag))
    assert {f"tag{i}" for i in range(n_tags)} <= set(page.texts)
    assert len(page.with_class("name")) == 42


def test_a_failure_leaves_the_old_page(tmp_path):
    path = tmp_path / "report.html"
    before = render(path)
    with pytest.raises(ValueError, match="uint8"):
        render(path, pictures=[replace(PICTURE, image=np.zeros((4, 4)))])
    assert path.read_text(encoding="utf-8") == before
    assert list(tmp_path.iterdir()) == [path]


def test_bad_input_is_named(tmp_path):
    with pytest.raises(ValueError, match="at least one method"):
        write_report(tmp_path / "r.html", title="t", methods=[])
    with pytest.raises(ValueError, match="missing: recall, f1"):
        render(tmp_path / "r.html", per_tag={"tag": [], "support": [], "precision": []})


RNG = np.random.default_rng(0)
TAGS = ["sea", "boats", "birds"]
LABELS = np.where(RNG.random((40, 3)) < 0.1, np.nan, RNG.random((40, 3)) < 0.5)
SCORES = RNG.normal(size=(40, 3))
HEADINGS = {
    "why": "Why these tags",
    "confusions": "Common confusions",
    "companions": "Tags that go together",
    "scores": "Scores and probabilities",
    "features": "Time for the features",
    "problems": "Files that could not be read",
}


def everything(tags=TAGS, name="sunset.jpg"):
    """All optional sections; every word of them can be chosen."""
    part = Contribution(name, 0.4, True)
    why = Explanation(tags[0], 0.7, 0.0, (part,), (part,), 0.2, {name: 0.4, tags[1]: 0.3}, note="a note")
    picture = replace(PICTURE, name=name, why=[why], heading=name)
    return {
        "pictures": [picture, replace(picture, image=None)],
        "answers": Answers(tags, LABELS, SCORES, (SCORES > 0).astype(int), 1 / (1 + np.exp(-SCORES))),
        "tag_examples": {tag: TagExamples(picture, picture) for tag in tags},
        "per_tag": PER_TAG | {"tag": tags, "ap": [0.9, 0.5, np.nan]},
        "find_picture": lambda name: PICTURE.image,
        "feature_seconds": {name: 12.5, "gist": 0.5},
        "n_pictures": 100,
        "problems": [Problem(name, f"{name} is broken")],
    }


def test_every_section_has_its_place_and_a_link(tmp_path):
    bare, full = Page(render(tmp_path / "a.html")), Page(render(tmp_path / "b.html", **everything()))
    for name, heading in HEADINGS.items():
        assert heading not in bare.texts
        assert full.texts.count(heading) == 2
        assert ("a", {"href": f"#{name}"}) in full.elements
        assert name in [attributes.get("id") for tag, attributes in full.elements if tag == "h2"]
    text = " ".join(" ".join(full.texts).split())
    for expected in (
        "sunset.jpg is broken",
        "13.0 seconds of computing in total for 100 pictures",
        "125.0",
        "A note.",
    ):
        assert expected in text


def test_full_page_is_closed_well_formed_and_named(tmp_path):
    text = render(tmp_path / "report.html", **everything())
    page = Page(text)
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(set(ids)) == len(ids)
    for tag, attributes in page.elements:
        assert tag != "img" or attributes["alt"]
        assert tag != "th" or attributes.get("scope")
        assert attributes.get("aria-labelledby", ids[0]) in ids
        assert attributes.get("src", "data:").startswith("data:")
    for piece in text.split("<svg")[1:]:
        ElementTree.fromstring(f"<svg{piece.split('</svg>')[0]}</svg>")
    assert not re.search(r"\b(nan|inf|None|Undefined)\b", re.sub(r"base64,[^\"]*", "", text))


def test_hostile_names_stay_text_in_every_section(tmp_path):
    page = Page(render(tmp_path / "report.html", **everything([HOSTILE, "</title>", "</svg>"], HOSTILE)))
    assert "script" not in {tag for tag, _ in page.elements}
    assert not any("onload" in attributes for _, attributes in page.elements)
    assert page.texts.count(shown(HOSTILE)) > 10
    assert f"{shown(HOSTILE)} is broken" in page.texts


def test_page_stays_small(tmp_path):
    # noise is what JPEG compresses worst: photographs need a fifth of it
    image = RNG.integers(0, 256, (400, 600, 3), dtype=np.uint8)
    pictures = [replace(PICTURE, name=f"{i}", image=image) for i in range(1000)]
    text = render(tmp_path / "report.html", pictures=pictures)
    assert len(text) < 10_000_000
    assert "904 more are not shown" in text


def test_long_lists_of_problems_are_cut(tmp_path):
    problems = [Problem(f"{i}.jpg", "broken") for i in range(5000)]
    page = Page(render(tmp_path / "report.html", problems=problems))
    assert page.texts.count("broken") == 200
    assert "5,000 files were skipped" in " ".join(page.texts)
