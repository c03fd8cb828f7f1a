"""Who may use a server, under which names, how often and how much."""
