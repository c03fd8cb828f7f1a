"""How long work tells how far it is."""

from collections.abc import Callable

# Called with how many pieces of work are done, how many there are, and what is being done.
Progress = Callable[[int, int, str], None]

# What `train` tells once nothing is left but to write: the last moment to give up.
WRITING = "writing the model"
