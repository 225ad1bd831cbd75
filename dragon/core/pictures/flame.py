"""A flame graph of a profile: the user's functions, within them operators, within those what they call; by time."""
from dragon.core.pictures.page import Page, drawing, escape, fill, shorten

_WIDTH, _ROW, _TOP, _LETTER = 1000, 19, 6, 6.7
_SMALLEST = 0.0004  # of all time; narrower boxes are left out
_MOST = 6000  # boxes
_TOLD = 0.01  # of all time; shorter ones are not told as text
_SHOWN = 24  # of the text: lines


class Box:
    """A name in its place: how much time was spent in it, in how many calls, and what is within."""

    def __init__(self, name, kind):
        self.name, self.kind = name, kind
        self.time, self.count, self.parts = 0, 0, {}

    def part(self, name, kind):
        """Return the box of a name within this one."""
        found = self.parts.get((name, kind))
        if found is None:
            found = self.parts[name, kind] = Box(name, kind)
        return found

    def sorted_parts(self):
        """Return what is within, the longest first."""
        return sorted(self.parts.values(), key=lambda box: -box.time)

    @property
    def own(self):
        """int: nanoseconds that no box within took."""
        return self.time - sum(box.time for box in self.parts.values())


def gather(events):
    """Return the box of everything: events within each other's time stand within each other, and below their callers.

    Parameters
    ----------
    events : Iterable[dragon.core.profile.Event]
        The calls of one thread.

    Returns
    -------
    Box
        The whole; its time is the sum of the calls'.

    """
    whole = Box("all calls", "python")
    running = []  # (end, box) of the calls around
    for event in sorted(events, key=lambda event: (event.start, -event.end)):
        while running and running[-1][0] <= event.start:
            running.pop()
        if running:
            outer = running[-1][1]
        else:
            outer = whole
            for caller in _callers(event):
                outer = _spend(outer.part(caller, "python"), event)
            whole.time += event.end - event.start
        name = f"backward of {event.name}" if event.is_node else event.name
        box = _spend(outer.part(name, "backward" if event.is_node else "operator"), event)
        box.count += 1
        running.append((event.end, box))
    whole.count = sum(box.count for box in whole.parts.values())
    return whole


def _callers(event):
    """Return the functions around a call; a plan's calls know the module and the line instead."""
    where = event.where or event.scope
    return where.split(";") if where else []


def _spend(box, event):
    box.time += event.end - event.start
    return box


def tell_time(nanoseconds):
    """Return a time in the unit that suits it."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.2f} {unit}"
    return f"{nanoseconds} ns"


class FlamePicture(Page):
    """A flame graph that is looked at in a browser: a click shows a box alone, a search marks boxes by name.

    Parameters
    ----------
    events : Iterable[dragon.core.profile.Event]
        The calls.
    title : str, optional, default="Where the time goes"
        What stands above.

    """

    def __init__(self, events, title="Where the time goes"):
        self.whole = gather(events)
        placed = list(self._place(self.whole))
        kept = sorted(placed, key=lambda place: -place[3])[:_MOST]
        depth = max((place[1] for place in kept), default=0)
        picture = drawing(_WIDTH, 2 * _TOP + (depth + 1) * _ROW, title, [self._draw(*place) for place in kept])
        body = (f"<h1>{escape(title)}</h1><p>{escape(self._summary())}</p>"
                '<div class="bar"><button type="button" id="whole">Show all</button>'
                '<input id="search" type="search" placeholder="Search, e.g. conv" aria-label="Search by name">'
                '<span id="found"></span></div>'
                f'<div class="stage">{picture}</div>'
                '<div class="tell" aria-live="polite">A click shows a box alone. Grey: the program; '
                "coloured: operators and the backward pass's nodes.</div>")
        super().__init__(title, body, self._text(title), ["flame.js"], picture, 260 + (depth + 1) * _ROW)

    def _summary(self):
        return f"{tell_time(self.whole.time)} in calls of operators; wide takes long, and what a box calls is below it"

    def _place(self, whole):
        """Yield (box, depth, left, share) of the boxes that are wide enough to be seen."""
        waiting = [(whole, 0, 0.0)]
        total = max(whole.time, 1)
        while waiting:
            box, depth, left = waiting.pop()
            yield box, depth, left, max(box.time, 0) / total if whole.time else 1.0
            for part in box.sorted_parts():
                share = part.time / total
                if share >= _SMALLEST:
                    waiting.append((part, depth + 1, left))
                left += share

    def _draw(self, box, depth, left, share):
        name, width = shorten(box.name), share * _WIDTH
        hint = (f"{name}\n{tell_time(box.time)}, {share:.1%} of all; of its own {tell_time(max(box.own, 0))}"
                + (f"; {box.count} calls, {tell_time(box.time // box.count)} each" if box.count else ""))
        style = "fill:var(--panel)" if box.kind == "python" else fill(name)
        letters = int((width - 6) / _LETTER)
        text = "" if letters < 2 else name if len(name) <= letters else name[:letters - 1] + "…"
        y = _TOP + depth * _ROW
        return (f'<g class="box" data-left="{left:.6f}" data-share="{share:.6f}" data-depth="{depth}" '
                f'data-name="{escape(name)}"><title>{escape(hint)}</title>'
                f'<rect x="{left * _WIDTH:.2f}" y="{y}" width="{max(width, 0.3):.2f}" height="{_ROW - 1}" rx="2" '
                f'style="{style};stroke:var(--paper);stroke-width:.6"/>'
                f'<text x="{left * _WIDTH + 4:.2f}" y="{y + 13}">{escape(text)}</text></g>')

    def _text(self, title):
        """Return the boxes with the most time as an indented list."""
        lines, waiting = [f"{title}: {self._summary()}"], [(self.whole, 0)]
        while waiting and len(lines) <= _SHOWN:
            box, depth = waiting.pop()
            share = box.time / max(self.whole.time, 1)
            lines.append(f"{share:6.1%}  {'  ' * depth}{shorten(box.name, 80)}  {tell_time(box.time)}"
                         + (f", {box.count} calls" if box.count > 1 else ""))
            waiting += [(part, depth + 1) for part in reversed(box.sorted_parts())
                        if part.time > _TOLD * self.whole.time]
        return "\n".join(lines)
