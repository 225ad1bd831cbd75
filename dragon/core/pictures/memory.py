"""A picture of the memory of a plan: when each piece is needed, where it lies, and who holds the peak."""
from dragon.core.capture.scopes import split_scope
from dragon.core.pictures.page import Page, drawing, escape, fill, shorten, table
from dragon.core.units import count_bytes

_WIDTH, _HEIGHT, _LEFT, _TOP, _GAP = 960, 300, 84, 14, 30
_DRAWN = 3000  # pieces; the largest ones
_LISTED = 12  # holders of the peak
_DASHES = ' stroke-dasharray="3 2"'  # around results
_BARS = " ▁▂▃▄▅▆▇█"
_COLUMNS = 60  # of the terminal's picture


class Piece:
    """A piece of memory that values lie in one after another.

    Parameters
    ----------
    told : dict
        What the plan tells of it.
    makers : Dict[int, int]
        By value, the position of the call that makes it.
    graph : dragon._C.Graph
        The plan's graph.

    """

    def __init__(self, told, makers, graph):
        self.kind, self.device, self.offset, self.bytes = told["kind"], told["device"], told["offset"], told["bytes"]
        self.first, self.last, self.lane = told["first"], told["last"], 0
        self.makers = sorted((makers.get(value, -1), value) for value in told["values"])
        self._graph = graph

    def describe(self, step=None):
        """Return (operator, type, module, line) of what lies here at a step, or of what is made here first."""
        made = [pair for pair in self.makers if pair[0] >= 0 and (step is None or pair[0] <= step)]
        number, value = (made[-1] if step is not None else made[0]) if made else (-1, None)
        if value is None:
            return (self.kind if self.makers else "a copy, or a result that nobody reads", "", "", "")
        call, info = self._graph.calls[number], self._graph.values[value]
        module, line = split_scope(call.scope)
        shape = ", ".join(map(str, info.shape))
        return call.op, f"{info.dtype}[{shape}]", shorten(module, 80), shorten(line, 80)

    def tell(self):
        """Return all that is known, a line for each value."""
        lines = [f"{count_bytes(self.bytes)}, needed from step {self.first} to {self.last}"
                 + (f", at byte {self.offset:,}" if self.kind == "block" else
                    ", memory of its own" if self.kind == "own" else f": {self.kind} of the plan")]
        for number, value in [pair for pair in self.makers if pair[0] >= 0][:8]:
            module, line = split_scope(self._graph.calls[number].scope)
            info = self._graph.values[value]
            lines.append(" ".join(filter(None, [
                f"step {number}: {self._graph.calls[number].op}",
                f"{info.dtype}[{', '.join(map(str, info.shape))}]", shorten(module, 80), shorten(line, 80)])))
        hidden = len(self.makers) - 8
        return "\n".join(lines + ([f"and {hidden} more"] if hidden > 0 else []))


class MemoryPicture(Page):
    """When and where the memory of a plan is in use.

    Parameters
    ----------
    name : str
        What is run.
    plans : Sequence[Tuple[str, dragon._C.Plan]]
        The parts of a run with their names: "forward" and "backward", or one with any name.

    """

    def __init__(self, name, plans):
        self.parts = [_Part(title, plan) for title, plan in plans]
        text = "\n\n".join([f"memory of {shorten(name)}", *(part.text() for part in self.parts)])
        drawings = [part.svg() for part in self.parts]
        body = f"<h1>{escape(f'Memory of {shorten(name)}')}</h1>" + "".join(
            f'<p>{escape(part.summary())}</p><div class="stage">{drawing}</div>{part.holders_table()}'
            for part, drawing in zip(self.parts, drawings))
        body += '<div class="tell" aria-live="polite">Point at a piece to see what lies there.</div>'
        svg = drawings[0] if len(drawings) == 1 else None
        super().__init__(f"Memory of {shorten(name)}", body, text, ["hover.js"], svg, 430 * max(len(self.parts), 1))

    @property
    def peak(self):
        """int: the most bytes in use at one step, inputs and constants left out."""
        return max((part.peak for part in self.parts), default=0)


class _Part:
    """One plan: its pieces by place and time."""

    def __init__(self, title, plan):
        graph = self.graph = plan.graph
        calls = graph.calls
        makers = {value: position for position, call in enumerate(calls) for value in call.outputs if value is not None}
        pieces = [Piece(told, makers, _Snapshot(calls, graph.values)) for told in plan.pieces]
        self.title, self.steps, self.memory = title, len(calls), plan.memory
        self.given = sum(piece.bytes for piece in pieces if piece.kind in ("input", "constant"))
        self.pieces = [piece for piece in pieces if piece.kind in ("block", "own", "output") and piece.bytes]
        self._place_results()
        self.in_use = self._sum_up()
        self.peak = max(self.in_use, default=0)
        self.peak_step = self.in_use.index(self.peak) if self.in_use else 0

    def _place_results(self):
        """Put results above all else, one over the other: each is memory of its own; and devices over each other."""
        edge = 0
        for device in sorted({piece.device for piece in self.pieces}):
            block = [piece for piece in self.pieces if piece.device == device and piece.kind != "output"]
            for piece in block:
                piece.lane = edge + piece.offset
            edge += max((piece.offset + piece.bytes for piece in block), default=0)
            for piece in self.pieces:
                if piece.device == device and piece.kind == "output":
                    piece.lane, edge = edge, edge + piece.bytes
        self.top = edge

    def _sum_up(self):
        """Return the bytes in use at each step."""
        change = [0] * (self.steps + 2)
        for piece in self.pieces:
            change[min(piece.first, self.steps)] += piece.bytes
            change[min(piece.last, self.steps) + 1] -= piece.bytes
        found, total = [], 0
        for step in range(self.steps + 1):
            total += change[step]
            found.append(total)
        return found

    def holders(self):
        """Return the pieces in use at the peak, the largest first."""
        there = [piece for piece in self.pieces if piece.first <= self.peak_step <= piece.last]
        return sorted(there, key=lambda piece: -piece.bytes)

    def summary(self):
        """Return what the picture says in a sentence."""
        return (f"{self.title}: {self.steps} steps; peak {count_bytes(self.peak)} at step {self.peak_step} "
                f"({self._name_of(self.peak_step)}); {count_bytes(self.memory['planned'])} planned, "
                f"{count_bytes(self.memory['naive'])} if each value had its own; inputs and constants "
                f"{count_bytes(self.given)}")

    def _name_of(self, step):
        return self.graph.calls[step].op if step < self.steps else "the end"

    def _holder_rows(self):
        rows = []
        for piece in self.holders()[:_LISTED]:
            op, type_, module, line = piece.describe(self.peak_step)
            rows.append((count_bytes(piece.bytes), f"{piece.bytes / max(self.peak, 1):.0%}", op, type_, module, line))
        return rows

    def holders_table(self):
        """Return who holds the peak, as HTML."""
        rest = len(self.holders()) - _LISTED
        more = f"<p>and {rest} smaller ones</p>" if rest > 0 else ""
        return table(("held at the peak", "share", "operator", "shape", "module", "line"), self._holder_rows(),
                     (0, 1)) + more

    def text(self):
        """Return the part as text: bytes in use over the steps, and who holds the peak."""
        lines = [self.summary()]
        count = min(_COLUMNS, len(self.in_use))
        if self.peak:
            bounds = [len(self.in_use) * place // count for place in range(count + 1)]
            heights = [max(self.in_use[start:end]) for start, end in zip(bounds, bounds[1:])]
            bars = "".join(_BARS[-(-8 * height // self.peak)] for height in heights)
            lines += [f"  in use  |{bars}|", "  held at the peak:"]
        rows = self._holder_rows()
        widths = [max(len(row[place]) for row in rows) for place in range(4)] if rows else []
        for size, share, op, type_, module, line in rows:
            lines.append(f"    {size:>{widths[0]}}  {share:>{widths[1]}}  {op:{widths[2]}}  {type_:{widths[3]}}  "
                         f"{module} {line}".rstrip())
        rest = len(self.holders()) - _LISTED
        return "\n".join(lines + ([f"    and {rest} smaller ones"] if rest > 0 else []))

    def svg(self):
        """Return the part as an SVG document: steps to the right, places upwards, and the bytes in use below."""
        across = (_WIDTH - _LEFT - 12) / max(self.steps + 1, 1)
        up = _HEIGHT / max(self.top, 1)
        total = _HEIGHT + _TOP + _GAP + 70
        parts = []
        for piece in sorted(self.pieces, key=lambda piece: -piece.bytes)[:_DRAWN]:
            last = min(piece.last, self.steps)
            height = piece.bytes * up
            parts.append(
                f'<rect class="piece" x="{_LEFT + piece.first * across:.2f}" '
                f'y="{_TOP + _HEIGHT - (piece.lane + piece.bytes) * up:.2f}" '
                f'width="{(last - piece.first + 1) * across:.2f}" height="{max(height, 0.4):.2f}" '
                f'style="{fill(piece.describe()[0])};stroke:var(--paper);stroke-width:.6"'
                f'{_DASHES if piece.kind == "output" else ""}>'
                f"<title>{escape(piece.tell())}</title></rect>")
        parts += self._draw_axes(across) + self._draw_sums(across)
        return drawing(_WIDTH, total, self.summary(), parts)

    def _draw_axes(self, across):
        parts = []
        for share in range(5):
            y = _TOP + _HEIGHT * (1 - share / 4)
            parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">'
                         f"{escape(count_bytes(self.top * share // 4))}</text>")
        x = _LEFT + (self.peak_step + 0.5) * across
        side = "end" if x > _WIDTH / 2 else "start"
        parts.append(f'<path d="M{x:.1f} {_TOP}V{_TOP + _HEIGHT + _GAP + 60}" style="stroke:var(--mark);'
                     'stroke-dasharray:4 3;fill:none"/>'
                     f'<text x="{x + (-5 if side == "end" else 5):.1f}" y="{_TOP - 3}" text-anchor="{side}">'
                     f"peak {escape(count_bytes(self.peak))}, step {self.peak_step}</text>")
        return parts

    def _draw_sums(self, across):
        """Return the bytes in use as an area below the pieces."""
        base, high = _TOP + _HEIGHT + _GAP + 60, 56
        points = [f"M{_LEFT} {base}"]
        for step, size in enumerate(self.in_use):
            y = base - high * size / max(self.peak, 1)
            points.append(f"L{_LEFT + step * across:.1f} {y:.1f}H{_LEFT + (step + 1) * across:.1f}")
        return [f'<path d="{"".join(points)}V{base}Z" style="fill:var(--mark);opacity:.35"/>',
                f'<text x="{_LEFT - 6}" y="{base - high / 2:.0f}" text-anchor="end">in use</text>',
                f'<text x="{_LEFT}" y="{_TOP + _HEIGHT + 16}">step 0</text>',
                f'<text x="{_WIDTH - 12}" y="{_TOP + _HEIGHT + 16}" text-anchor="end">step {self.steps}</text>']


class _Snapshot:
    """The calls and values of a graph, read once: each look at a graph makes them anew."""

    def __init__(self, calls, values):
        self.calls, self.values = calls, values
