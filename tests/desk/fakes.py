"""Models without training: proposals from a table of probabilities."""

import numpy as np


class FakeProposals:
    def __init__(self, number, ids, tags, probabilities, companions=None):
        self._companions = companions
        self.number, self.ids, self.tags = number, np.asarray(ids), list(tags)
        self.probabilities = np.asarray(probabilities, dtype=np.float16)
        self.facts = {
            "number": number,
            "made": "2024-05-01T12:00:00",
            "method": "fake",
            "metrics": {"MAP": 0.5},
        }
        self.facts |= {"last_decision": 0, "decisions": 0, "seconds": 1.0, "gap": 0.001}

    def companions(self):
        return self._companions

    def held_out(self):
        return self.probabilities


class FakeModels:
    def __init__(self, *proposals):
        self.by_number = {one.number: one for one in proposals}
        self.current = max(self.by_number, default=None)

    def open(self, number):
        return self.by_number[number]

    def use(self, number):
        if number not in self.by_number:
            raise LookupError(f"there is no model {number}")
        self.current = number

    def list(self):
        return [self.by_number[number].facts for number in sorted(self.by_number, reverse=True)]


class FakeTrainer:
    def __init__(self):
        self.state, self.started, self.on_finished = "idle", [], None

    def start(self, fresh=False):
        self.state = "running"
        self.started.append(fresh)

    def cancel(self):
        self.state = "cancelled"

    def status(self):
        return {"state": self.state, "changes": None}

    def finish(self, number):
        self.state = "done"
        self.on_finished(number)

    def close(self):
        self.state = "closed"
