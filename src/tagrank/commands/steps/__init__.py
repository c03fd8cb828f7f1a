"""Steps of commands, and with them the libraries that they need: loaded when a command runs."""
