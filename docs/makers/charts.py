"""Draw charts as SVG that takes its colours from the page, so that one picture serves a light and a dark one."""
import html
import math

WIDTH, LEFT, RIGHT = 480, 8, 56
BAR, GAP, LABEL = 11, 12, 15
COLOURS = 5  # classes of `dragon.css`: series-0 ...


def number(value):
    """Return a number as a reader wants it: three digits at most."""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"


def text(x, y, words, style="label", anchor="start"):
    """Return a line of text."""
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(words)}</text>'


def frame(title, description, height, parts):
    """Return a whole picture with its name and its description for those who do not see it."""
    return (f'<figure class="chart"><svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" '
            f'aria-label="{html.escape(f"{title}. {description}", quote=True)}">{"".join(parts)}</svg>'
            f"<figcaption>{html.escape(title)}</figcaption></figure>")


def legend(series, y=12):
    """Return the names of the series with their colours, and where the next thing may stand."""
    parts, x = [], LEFT
    for index, name in enumerate(series):
        width = 22 + 7.2 * len(name)
        if x > LEFT and x + width > WIDTH:
            x, y = LEFT, y + 18
        parts.append(f'<rect class="series-{index % COLOURS}" x="{x}" y="{y - 9}" width="11" height="11" rx="2"/>')
        parts.append(text(x + 16, y + 1, name))
        x += width
    return parts, y + 16


def draw_bars(title, rows, series, unit="", reference=None):
    """Return a chart of horizontal bars.

    Parameters
    ----------
    title : str
        What is shown.
    rows : List[Tuple[str, List[float]]]
        A label and a number for each series; None where there is none.
    series : List[str]
        Names of the series.
    unit : str, optional
        Of the numbers.
    reference : Tuple[float, str], optional
        A number at which a line stands, and what the line is called.

    Returns
    -------
    str
        A figure with an SVG inside.

    """
    values = [value for _, numbers in rows for value in numbers if value is not None]
    largest = max([*values, reference[0] if reference else 0])
    scale = (WIDTH - LEFT - RIGHT) / largest
    parts, y = legend(series) if len(series) > 1 else ([], 4)
    top = y = y + (14 if reference else 0)
    for label, numbers in rows:
        parts.append(text(LEFT, y + LABEL - 4, label))
        y += LABEL
        for index, value in enumerate(numbers):
            if value is None:
                continue
            parts.append(f'<rect class="series-{index % COLOURS}" x="{LEFT}" y="{y}" height="{BAR}" rx="2" '
                         f'width="{max(1.0, value * scale):.1f}"/>')
            parts.append(text(LEFT + value * scale + 4, y + BAR - 1.5, number(value) + unit, "value"))
            y += BAR + 2
        y += GAP - 2
    if reference:
        x = LEFT + reference[0] * scale
        parts.append(f'<line class="reference" x1="{x:.1f}" x2="{x:.1f}" y1="{top - 2}" y2="{y - 6:.0f}"/>')
        parts.append(text(x, top - 6, reference[1], "value", "end" if x > WIDTH / 2 else "start"))
    told = "; ".join(f"{label}: " + ", ".join(f"{name} {number(value)}{unit}" for name, value in zip(series, numbers)
                                              if value is not None) for label, numbers in rows[:12])
    return frame(title, told, y, parts)


def ticks_between(low, high, count=4):
    """Return round numbers within a range."""
    step = 10 ** math.floor(math.log10((high - low) / count or 1))
    step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= count)
    first = math.ceil(low / step) * step
    return [first + index * step for index in range(int((high - first) / step + 1e-9) + 1)]


def draw_lines(title, places, series, unit="", height=250):
    """Return a chart of lines over places that follow each other at equal distances.

    Parameters
    ----------
    title : str
        What is shown.
    places : List[str]
        Labels below the axis.
    series : Dict[str, List[float]]
        A number for each place; None where there is none.
    unit : str, optional
        Of the numbers.
    height : int, optional, default=250
        Of the lines' room.

    Returns
    -------
    str
        A figure with an SVG inside.

    """
    values = [value for numbers in series.values() for value in numbers if value is not None]
    high = max(values) * 1.08
    parts, top = legend(list(series))
    left, right, bottom = 44, WIDTH - 24, top + height

    def across(index):
        return left + (right - left) * (index / (len(places) - 1) if len(places) > 1 else 0.5)

    def up(value):
        return bottom - (value / high) * height
    for tick in ticks_between(0, high):
        parts.append(f'<line class="grid" x1="{left}" x2="{right}" y1="{up(tick):.1f}" y2="{up(tick):.1f}"/>')
        parts.append(text(left - 6, up(tick) + 4, f"{tick:g}", "value", "end"))
    shown = max(1, math.ceil(len(places) / 7))
    parts += [text(across(index), bottom + 18, place, "value", "middle")
              for index, place in enumerate(places) if index % shown == 0]
    for index, numbers in enumerate(series.values()):
        points = [(across(place), up(value)) for place, value in enumerate(numbers) if value is not None]
        way = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline class="line-{index % COLOURS}" points="{way}"/>')
        parts += [f'<circle class="series-{index % COLOURS}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y in points]
    told = "; ".join(f"{name}: " + ", ".join(f"{place} {number(value)}{unit}" for place, value
                                             in zip(places, numbers) if value is not None)
                     for name, numbers in series.items())
    return frame(title, told, bottom + 26, parts)
