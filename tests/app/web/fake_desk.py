"""A desk in memory that answers as the real one does; python -m tests.app.web.fake_desk serves it."""

import io

from PIL import Image

from tagrank.data.drawn_pictures import draw_pictures

STATES = {"yes": "present", "no": "absent", "skip": "unknown"}


class FakeDesk:
    """Drawn pictures, of which every second tag is hidden and proposed."""

    name = "drawn"
    identity = "0123456789abcdef"

    def __init__(self, n_pictures=40):
        drawn = draw_pictures(n_pictures, size=48)
        self.images, self.names, self.all_tags = drawn.view("pictures"), drawn.names, list(drawn.tags)
        true = {
            (i, tag): number
            for number, (i, tag) in enumerate(
                (i, tag)
                for i, row in enumerate(drawn.states(), start=1)
                for tag, state in zip(drawn.tags, row, strict=True)
                if state > 0
            )
        }
        self.listed = {cell for cell, number in true.items() if number % 2}
        self.proposed = {cell: 0.5 + number % 50 / 100 for cell, number in true.items() if not number % 2}
        self.decided, self.batches, self.seen, self.calls = {}, [], {}, []
        self.state, self.current = "idle", 1
        self.learning = self

    def _picture(self, i):
        if not 1 <= i <= len(self.names):
            raise LookupError(f"there is no picture {i}")
        tagged = any(picture == i for picture, _ in self.listed)
        facts = {"id": i, "name": f"{self.names[i - 1]}.png", "folder": "", "date": "2024-05-01"}
        return facts | {
            "width": 48,
            "height": 48,
            "tagged": tagged,
            "reviewed": False,
            "changed": False,
        }

    def _pair(self, i, tag):
        answer, who = self.decided.get((i, tag), (None, None))
        state = STATES[answer] if answer else ("present" if (i, tag) in self.listed else "unknown")
        return {
            "tag": tag,
            "probability": self.proposed.get((i, tag), 0.1),
            "state": state,
            "listed": (i, tag) in self.listed,
            "answer": answer,
            "by": who,
        }

    def _open(self, tag=None):
        found = [cell for cell in self.proposed if cell not in self.decided and tag in (None, cell[1])]
        return sorted(found, key=lambda cell: -self.proposed[cell])

    def overview(self):
        answers = [answer for answer, _ in self.decided.values()]
        queues = ("missing", "wrong", "informative", "untagged", "tag", "all")
        counts = {"pictures": len(self.names), "tagged": len(self.names), "untagged": 0}
        return {
            "archive": {"name": self.name, **counts, "tags": len(self.all_tags)},
            "progress": {
                "decisions": len(answers),
                **{word: answers.count(word) for word in STATES},
                "reviewed": 0,
                "share_reviewed": 0.0,
                "tags_complete": 0,
                "missing": {"estimate": 80, "low": 60, "high": 100},
            },
            "queues": [
                {
                    "name": name,
                    "title": name.title(),
                    "about": f"Pictures: {name}.",
                    "count": len(self._open()),
                }
                for name in queues
            ],
            "model": {"number": self.current, "made": "2024-05-01T12:00:00", "method": "Fake", "metrics": {}},
            "training": self.training(),
        }

    def tags(self, text=""):
        rows = [
            {
                "tag": tag,
                "present": sum(other == tag for _, other in self.listed),
                "proposed": len(self._open(tag)),
                "yes": sum(key[1] == tag and value[0] == "yes" for key, value in self.decided.items()),
                "no": sum(key[1] == tag and value[0] == "no" for key, value in self.decided.items()),
                "complete": False,
            }
            for tag in self.all_tags
            if text in tag
        ]
        return {"tags": rows}

    def complete(self, text=""):
        tags = [tag for tag in self.all_tags if tag.startswith(text)]
        return {"tags": tags, "known": text in self.all_tags, "near": [], "meant": None}

    def vocabulary(self):
        empty = {"synonyms": [], "parents": [], "listed_parents": [], "description": "", "is_deleted": False}
        entries = [{"tag": tag, "present": 1, "yes": 0, "no": 0} | empty for tag in self.all_tags]
        return {"tags": entries, "conflicts": [], "n_conflicts": 0, "circles": [], "history": []}

    def change_tags(self, verb, tag, other="", *, who, request, dry_run):
        self.calls.append(("change_tags", verb, tag, other))
        return {"effects": [f"{verb} {tag}"], "applied": not dry_run}

    def wall(self, queue, *, who, limit=60, cursor=""):
        self.calls.append(("wall", queue))
        cells, start = self._open(queue.tag or None), int(cursor or 0)
        items = [
            {"picture": self._picture(i), **{k: self._pair(i, t)[k] for k in ("tag", "probability", "state")}}
            for i, t in cells[start : start + limit]
        ]
        more = start + limit < len(cells)
        told = {"items": items, "cursor": str(start + limit) if more else None, "total": len(cells)}
        return told | {"rule": "accept", "right": None, "nothing": None if items else "decided"}

    def next(self, queue, *, who, after=None):
        left = sorted({i for i, _ in self._open(queue.tag or None) if after is None or i > after})
        return self.picture(left[0]) | {"left": len(left)} if left else self._nothing()

    def _nothing(self):
        lists = {name: [] for name in ("tags", "proposed", "doubtful")}
        return {"picture": None, **lists, "left": 0, "nothing": "decided"}

    def picture(self, i):
        facts = self._picture(i)
        pairs = [self._pair(i, tag) for tag in self.all_tags]
        return {
            "picture": facts,
            "tags": [pair for pair in pairs if pair["state"] == "present"],
            "proposed": [pair for pair in pairs if (i, pair["tag"]) in self.proposed and not pair["answer"]],
            "doubtful": [],
            "left": 1,
            "nothing": None,
        }

    def pictures(self, chosen, *, limit=60, cursor=""):
        self.calls.append(("pictures", chosen))
        cursor = cursor or "0"
        ids = range(int(cursor) + 1, min(int(cursor) + limit, len(self.names)) + 1)
        items = [
            self._picture(i) | {"tags": [tag for picture, tag in self.listed if picture == i], "proposed": 1}
            for i in ids
        ]
        last = int(cursor) + limit
        cursor = str(last) if last < len(self.names) else None
        return {"items": items, "cursor": cursor, "total": len(self.names)}

    def decide(self, answers, *, who, request, **more):
        if request not in self.seen:
            before = {}
            for picture, tag, answer in answers:
                self._picture(picture)
                before[picture, tag] = self.decided.get((picture, tag))
                self.decided[picture, tag] = (answer, who)
                if tag not in self.all_tags:
                    self.all_tags.append(tag)
            self.batches.append((who, before))
            self.seen[request] = len(self.batches)
        batch = self.seen[request]
        return {"batch": batch, "decisions": len(self.decided), "due_in": 50 - len(self.decided) % 50}

    def undo(self, *, who, request, batch=None, shown=None):
        own = [k for k, (person, before) in enumerate(self.batches) if person == who and before]
        if not own:
            raise LookupError("there is nothing to undo")
        before = self.batches[own[-1]][1]
        self.batches[own[-1]] = (who, {})
        for cell, value in before.items():
            self.decided.pop(cell)
            if value is not None:
                self.decided[cell] = value
        restored = [
            {"picture": i, "name": self._picture(i)["name"], "tag": tag, "state": self._pair(i, tag)["state"]}
            for i, tag in before
        ]
        told = {"batch": own[-1] + 1, "restored": restored, "kept": [], "reviewed": []}
        return told | {"said": f"{len(restored)} decisions undone."}

    def history(self, *, limit=100, before=None, who=None):
        rows = [
            {"id": k, "batch": k, "picture": i, "name": self._picture(i)["name"], "tag": tag}
            | {"answer": answer, "before": "unknown", "by": person, "at": "2024-05-01T12:00:00"}
            | {"queue": "missing", "undone": False}
            for k, ((i, tag), (answer, person)) in enumerate(self.decided.items(), start=1)
        ]
        return {"decisions": rows[::-1][:limit]}

    def steps(self, *, who, limit=30, before=None):
        return {"steps": [], "next": None}

    def why(self, picture, tag):
        self._picture(picture)
        one = {"picture": 2, "name": self.names[1], "contribution": 0.3, "present": True}
        against = one | {"contribution": -0.1, "present": False}
        reasons = {"for": [one], "against": [against], "features": {"hsv": 0.2}}
        return {"tag": tag, "probability": 0.7, "note": "", **reasons}

    def training(self):
        gap = [[1, 0.5], [2, 0.1], [3, 0.01]]
        return {"state": self.state, "what": "", "done": 0, "of": 0, "seconds": 0.0, "gap": gap} | {
            "error": None,
            "due_in": 50,
            "changes": None,
        }

    def train(self, fresh=False):
        self.state = "running"
        return self.training()

    def cancel(self):
        self.state = "cancelled"
        return self.training()

    def models(self):
        facts = {"made": "2024-05-01T12:00:00", "method": "Fake", "metrics": {"MAP": 0.7}}
        more = {"decisions": 0, "seconds": 1.0, "gap": 1e-3}
        models = [{"number": k, **facts, **more, "current": k == self.current} for k in (2, 1)]
        return {"models": models}

    def use(self, number):
        if number not in (1, 2):
            raise LookupError(f"there is no model {number}")
        self.current = number
        return self.models()

    def scan(self):
        return {name: [] for name in ("added", "moved", "changed", "gone", "problems")} | {
            "pictures": len(self.names)
        }

    def write_sidecars(self, *, style, dry_run):
        return {"changes": [], "problems": [], "added": 0, "removed": 0}

    def write_tag_list(self, *, dry_run):
        return {"path": "photos/tags.csv", "action": "keep", "changes": [], "added": 0, "removed": 0}

    def export(self, format):
        lines = [f"{i},{tag},{answer}" for (i, tag), (answer, _) in self.decided.items()]
        return "\n".join(["picture,tag,answer", *lines, ""]).encode()

    def import_(self, content, format, *, dry_run, who):
        self.calls.append(("import", len(content)))
        return {"changes": [], "problems": [], "applied": not dry_run}

    def thumbnail(self, i, side):
        self._picture(i)
        stream = io.BytesIO()
        Image.fromarray(self.images[i - 1]).resize((side, side)).save(stream, "JPEG")
        return stream.getvalue(), f"{i}-{side}"


if __name__ == "__main__":
    from tagrank.app.web.application import desk_app
    from tagrank.app.web.protection.guard import HostNames
    from tagrank.app.web.protection.security import Security
    from tagrank.app.web.protection.sessions import SessionMemory, Sessions
    from tagrank.app.web.serving import address, listen, serve

    listener = listen("127.0.0.1", 8477)
    security = Security(HostNames(), Sessions(SessionMemory()), person="anna", token="test")
    security.port = listener.getsockname()[1]
    serve(
        desk_app(FakeDesk(), security),
        listener,
        on_ready=lambda: print(f"{address(listener)}/?token=test", flush=True),
    )
