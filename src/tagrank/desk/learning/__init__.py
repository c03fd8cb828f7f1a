"""How the desk learns: a model of everything known, held-out proposals, models kept one after the other."""

from tagrank.desk.learning.models import Models
from tagrank.desk.learning.proposals import Proposals
from tagrank.desk.learning.trainer import Trainer

__all__ = ["Models", "Proposals", "Trainer"]
