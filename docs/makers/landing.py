"""Write the parts of the first page, and of the README, that are figures.

What a program printed and cost, here and under PyTorch, and the chart of training steps: inside of our pages it takes
their colours, and the README's, which others show, has its own.
"""
import html
import re

from makers.doors import DOCS
from makers.files import write_if_new
from makers.plots import PLOTS, draw_training

PAGE = DOCS / "benchmarks" / "first_minutes.md"
BLOCK = re.compile(r"^```text\n(.*?)^```", re.DOTALL | re.MULTILINE)
COMMAND = "$ dragon run"
CHART = "training-{}.svg"
STYLE = ("text{{fill:{text};font:12px system-ui,sans-serif}}.value{{fill:{faint};font-size:11px}}"
         ".reference{{stroke:{faint};stroke-dasharray:4 3}}.series-0{{fill:{first}}}.series-1{{fill:{second}}}")
THEMES = {"light": {"text": "#1f2328", "faint": "#59636e"}, "dark": {"text": "#e6edf3", "faint": "#9198a1"}}


def read_sides():
    """Return what both sides printed, [(title, lines)], the genuine framework's first; empty if nobody measured."""
    found = BLOCK.search(PAGE.read_text(encoding="utf-8")) if PAGE.exists() else None
    if not found:
        return []
    lines = found[1].splitlines()
    edge = lines[0].index(COMMAND)
    sides = [line[:edge].rstrip() for line in lines], [line[edge:].rstrip() for line in lines]
    return [(side[0], side[1:]) for side in sides]


def write_terminal(title, lines, style):
    """Return a terminal's picture in words: a command, what it printed, and last what it cost."""
    *printed, cost = [line for line in lines if line.strip()]
    return (f'<div class="terminal {style}"><pre tabindex="0" aria-label="{html.escape(title.lstrip("$ "))}"><code>'
            f'<span class="command">{html.escape(title)}</span>\n{html.escape(chr(10).join(printed))}\n'
            f'<span class="cost">{html.escape(cost)}</span></code></pre></div>')


def draw_alone(theme):
    """Return the chart of training steps as a file of its own, in the colours of a theme."""
    css = (DOCS / "_static" / "dragon.css").read_text(encoding="utf-8").partition(f'data-theme="{theme}"')[2]
    first, second = (re.search(rf"--dragon-{number}: (#\w+);", css)[1] for number in (0, 1))
    picture = re.search("<svg (.*?>)(.*</svg>)", draw_training())
    style = STYLE.format(**THEMES[theme], first=first, second=second)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {picture[1]}<style>{style}</style>{picture[2]}\n'


def write_parts(app=None):
    """Write the terminals and the chart of the first page, and the charts of the README."""
    for theme in THEMES:
        write_if_new(DOCS / "_static" / CHART.format(theme), draw_alone(theme))
    sides = read_sides()
    terminals = "".join(write_terminal(title, lines, style) for (title, lines), style
                        in zip(sides, ("genuine", "dragon")))
    shown = f'<div class="terminals">{terminals}</div>' if sides else ""
    chart = PLOTS["first_minutes"][0]() if sides else draw_training()
    write_if_new(DOCS / "benchmarks" / "terminals.inc", f"{shown}\n")
    write_if_new(DOCS / "benchmarks" / "chart.inc", f"{chart}\n")
