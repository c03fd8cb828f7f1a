"""When a training must end although it is not done: after some time, or when it is asked to."""

import time


class Ending:
    """Asked between blocks of samples: cheap, and never inside compiled code.

    `stop` answers whether to end, as `threading.Event().is_set` does; None never does.
    """

    def __init__(self, max_seconds=None, stop=None):
        self.started = time.perf_counter()
        self.max_seconds = max_seconds
        self.stop = stop
        self.was_asked = False

    @property
    def seconds(self):
        """Since the training began."""
        return time.perf_counter() - self.started

    def reason(self):
        """ "stop" once somebody asked for it, "max_seconds" once they are over, otherwise None."""
        if self.stop is not None and not self.was_asked:
            self.was_asked = bool(self.stop())
        if self.was_asked:
            return "stop"
        return "max_seconds" if self.max_seconds is not None and self.seconds >= self.max_seconds else None


def is_interrupt(error):
    """Whether Ctrl-C is behind an error; inside compiled code it becomes a chain of SystemErrors."""
    while isinstance(error, SystemError):
        error = error.__cause__
    return isinstance(error, KeyboardInterrupt)
