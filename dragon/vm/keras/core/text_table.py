"""Tables of text in boxes: what `model.summary()` prints."""
import math
import re

ELLIPSIS = "…"


class Styled:
    """Text whose characters have styles: pieces of text, each with the number of a colour, "bold", or nothing.

    Parameters
    ----------
    *pieces : Union[str, Tuple[str, Any]]
        Text, or pairs of text and style.

    """

    def __init__(self, *pieces):
        self.characters = []
        for piece in pieces:
            text, style = (piece, None) if isinstance(piece, str) else piece
            self.characters += [(character, style) for character in text]

    def __len__(self):
        return len(self.characters)

    plain = property(lambda self: "".join(character for character, _ in self.characters), doc="The text alone.")

    def cut(self, start, stop):
        """Return a part."""
        part = Styled()
        part.characters = self.characters[start:stop]
        return part

    def fit(self, width, justify="left"):
        """Return the text in exactly that many characters: padded, or ended by an ellipsis."""
        part = self.cut(0, len(self.plain.rstrip()))
        if len(part) > width:
            part.characters = [*part.characters[:width - 1], (ELLIPSIS, part.characters[width - 1][1])]
        room = width - len(part)
        left = {"left": 0, "right": room, "center": room // 2}[justify]
        blank = (" ", None)
        part.characters = [blank] * left + part.characters + [blank] * (room - left)
        return part

    def wrap(self, width):
        """Return lines of at most that many characters, broken between words."""
        breaks, used = [0], 0
        for match in re.finditer(r"\s*\S+\s*", self.plain):
            word = match.group()
            if width - used >= len(word.rstrip()):
                used += len(word)
            else:
                breaks += [match.start()] if match.start() else []
                used = len(word)
        return [self.cut(start, stop) for start, stop in zip(breaks, [*breaks[1:], len(self)])]

    def render(self, is_colored):
        """Return the text, with a terminal's codes if it is to be colored."""
        if not is_colored:
            return self.plain
        parts, last = [], None
        for character, style in self.characters:
            if style != last:
                parts.append(("\x1b[0m" if last is not None else "") + _code(style))
                last = style
            parts.append(character)
        return "".join(parts) + ("\x1b[0m" if last is not None else "")


def _code(style):
    if style is None:
        return ""
    if isinstance(style, tuple):
        return f"\x1b[1;38;5;{style[1]}m"
    return "\x1b[1m" if style == "bold" else f"\x1b[38;5;{style}m"


def _fit_widths(widths, total):
    """Return widths of columns, padding included, that fill a number of characters."""
    excess = sum(widths) - total
    fitted, left = [], len(widths)
    if excess < 0:
        ratios, missing, rest = list(widths), -excess, sum(widths)
        for width in ratios:
            more = math.ceil(width * missing / rest) if rest else missing
            fitted.append(width + more)
            rest, missing = rest - width, missing - more
        return fitted
    for width in widths:
        less = min(width, round(excess / left))
        fitted.append(width - less)
        excess, left = excess - less, left - 1
    return fitted


def draw_table(header, rows, widths, alignment, line_length):
    """Return the lines of a table as `Styled`.

    Parameters
    ----------
    header : Sequence[str]
        The columns' names.
    rows : Sequence[Sequence[Styled]]
        The cells.
    widths : Sequence[int]
        The columns' widths without padding; made to fit.
    alignment : Sequence[str]
        "left", "right" or "center" for each column.
    line_length : int
        The width of the table.

    """
    widths = _fit_widths([width + 2 for width in widths], line_length - len(widths) - 1)

    def rule(left, line, cross, right):
        return Styled(left + cross.join(line * width for width in widths) + right)

    def lines_of(cells, bar, at_bottom=False):
        wrapped = [cell.wrap(width - 2) for cell, width in zip(cells, widths)]
        height = max(map(len, wrapped))
        if at_bottom:
            wrapped = [[Styled()] * (height - len(lines)) + lines for lines in wrapped]
        for number in range(height):
            line = Styled(bar)
            for lines, width, justify in zip(wrapped, widths, alignment):
                cell = lines[number] if number < len(lines) else Styled()
                line.characters += [(" ", None), *cell.fit(width - 2, justify).characters, (" ", None), (bar, None)]
            yield line
    made = [rule("┏", "━", "┳", "┓"), *lines_of([Styled((name, "bold")) for name in header], "┃", at_bottom=True),
            rule("┡", "━", "╇", "┩")]
    for number, row in enumerate(rows):
        made += [rule("├", "─", "┼", "┤")] if number else []
        made += lines_of(row, "│")
    made.append(rule("└", "─", "┴", "┘"))
    return made
