"""Charts of a page as one SVG drawing, two side by side, with one legend."""

from collections.abc import Iterator, Sequence

from tagrank.reports.charts import LineChart

WIDTH, HEIGHT, LEGEND = 360, 220, 20  # of a chart, see tagrank.reports.charts, and of the legend below
COLOURS = (  # told apart by colour-blind eyes, too
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"),
)


def draw_charts(charts: Sequence[LineChart]) -> str:
    """SVG text of LineCharts whose lines have the same names."""
    width, height = WIDTH * min(2, len(charts)), HEIGHT * -(-len(charts) // 2)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height + LEGEND}" '
        'font-family="sans-serif" font-size="10">',
        f"<title>{'; '.join(map(_caption, charts))}</title>",
        f'<rect width="{width}" height="{height + LEGEND}" fill="white"/>',
    ]
    for k, chart in enumerate(charts):
        parts += [f'<g transform="translate({WIDTH * (k % 2)} {HEIGHT * (k // 2)})">', *_draw(chart), "</g>"]
    left = charts[0].x_ticks[0].position
    room = (width - left) / len(charts[0].lines)
    step = min(room, max(95, 20 + 6 * max(len(line.name) for line in charts[0].lines)))
    for k, line in enumerate(charts[0].lines):
        parts.append(
            f'<text x="{left + step * k:.1f}" y="{height + 11}" fill="{COLOURS[k]}">{line.name}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


def _caption(chart: LineChart) -> str:
    return f"{chart.title} over {chart.x_label}"


def _draw(chart: LineChart) -> Iterator[str]:
    left, right = chart.x_ticks[0].position, chart.x_ticks[-1].position
    bottom = max(tick.position for tick in chart.y_ticks)
    for tick in chart.y_ticks:
        y = tick.position
        yield f'<path d="M{left:.1f} {y:.1f}H{right:.1f}" stroke="#ddd"/>'
        yield f'<text x="{left - 6:.1f}" y="{y + 3:.1f}" text-anchor="end">{tick.label}</text>'
    for tick in chart.x_ticks:
        x = tick.position
        yield f'<text x="{x:.1f}" y="{bottom + 15:.1f}" text-anchor="middle">{tick.label}</text>'
    middle = (left + right) / 2
    yield f'<text x="{middle:.1f}" y="{bottom + 27:.1f}" text-anchor="middle">{_caption(chart)}</text>'
    for line, colour in zip(chart.lines, COLOURS, strict=False):
        yield f'<polyline points="{line.points}" fill="none" stroke="{colour}" stroke-width="2"/>'
