"""Lines of results on the screen, and tables of a page."""


def show(line, *keys):
    """Print some entries of a line of results."""
    print("  ".join(f"{key} {_text(line[key])}" for key in keys))


def markdown_table(header, rows, *, numbers=False):
    """A table, without an end of line; with `numbers` all columns but the first are aligned to the right."""
    rules = ["---", *["---:" if numbers else "---"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rules, *rows))


def _text(value):
    if isinstance(value, float):
        return f"{value:.4g}"
    return ",".join(map(_text, value)) if isinstance(value, list) else str(value)
