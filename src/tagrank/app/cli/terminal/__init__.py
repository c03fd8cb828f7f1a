"""What the terminal shows and hears: text, tables, progress, Ctrl-C."""
