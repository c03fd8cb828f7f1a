"""How the desk learns: a model of everything known, held-out proposals, models kept one after the other."""
