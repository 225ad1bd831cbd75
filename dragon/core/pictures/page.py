"""What all pictures stand in: one page without anything from elsewhere, its colours, and ways to keep and show it."""
import html
import json
import os
import pathlib
import re
import zlib

from dragon.core import files
from dragon.core.pictures import opening

_ROOM = pathlib.Path(__file__).parent
_UNKNOWN_TO_XML = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_LONGEST_NAME = 200  # letters of a name in a picture; names come from anywhere


def escape(text):
    """Return a text as it may stand in HTML, XML and their attributes; what XML does not know becomes a space.

    Parameters
    ----------
    text : object
        The text, or what becomes one.

    Returns
    -------
    str
        The escaped text.

    """
    return html.escape(_UNKNOWN_TO_XML.sub(" ", str(text)))


def shorten(text, longest=_LONGEST_NAME):
    """Return a text of at most so many letters."""
    text = str(text)
    return text if len(text) <= longest else text[:longest - 1] + "…"


def embed(data):
    """Return data as JSON that may stand within a script of a page."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def hue(name):
    """Return the angle of a name's colour: the same in every picture."""
    return zlib.crc32(str(name).encode("utf-8", "replace")) % 360


def fill(name):
    """Return the style of a shape in its name's colour, in light and in dark."""
    return f"fill:hsl({hue(name)} var(--vivid) var(--shade))"


def read(name):
    """Return a file of this room: a style sheet or a script."""
    return (_ROOM / name).read_text(encoding="utf-8")


def drawing(width, height, title, parts):
    """Return an SVG document as wide as its place, in the house's colours.

    Parameters
    ----------
    width, height : float
        The size that places are told in.
    title : str
        What it shows, for those who cannot see it.
    parts : Iterable[str]
        Its shapes.

    Returns
    -------
    str
        The document.

    """
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="100%" role="img" '
            f'font-family="monospace" font-size="11"><title>{escape(title)}</title>'
            f"<style>{read('colours.css')}svg text {{ fill: var(--ink); }}</style>{''.join(parts)}</svg>")


def table(head, rows, numbers=()):
    """Return a table as HTML.

    Parameters
    ----------
    head : Sequence[str]
        The titles of the columns.
    rows : Iterable[Sequence[object]]
        The cells.
    numbers : Container[int], optional
        The columns that stand to the right.

    Returns
    -------
    str
        The table; it scrolls where it is wider than its page.

    """
    def cells(tag, row):
        return "".join(f'<{tag}{" class=number" if place in numbers else ""}>{escape(cell)}</{tag}>'
                       for place, cell in enumerate(row))
    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return (f'<div class="scroll" tabindex="0"><table><thead><tr>{cells("th", head)}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>")


class Page:
    """A picture: a page complete by itself, and the same as text.

    Parameters
    ----------
    title : str
        What it shows.
    body : str
        HTML, escaped where it has to be.
    text : str
        What a terminal gets.
    scripts : Sequence[str], optional
        Files of this room that run in the page.
    svg : str, optional
        The picture as an SVG document, where it is one.
    height : int, optional, default=520
        How high a notebook shows it, in pixels.

    """

    def __init__(self, title, body, text, scripts=(), svg=None, height=520):
        self.title, self.text, self.height = shorten(title), text, height
        self._body, self._scripts, self._svg = body, tuple(scripts), svg

    def html(self):
        """Return the page as an HTML document.

        Returns
        -------
        str
            The document; it asks the network for nothing.

        """
        scripts = "".join(f"<script>\n{read(name)}</script>\n" for name in self._scripts)
        return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
                '<meta name="viewport" content="width=device-width, initial-scale=1">'
                f"<title>{escape(self.title)}</title>\n"
                f"<style>\n{read('colours.css')}{read('page.css')}</style></head>\n"
                f"<body><main>{self._body}</main>\n{scripts}</body></html>\n")

    def svg(self):
        """Return the picture as an SVG document.

        Returns
        -------
        str
            The document, or a ValueError where the picture is a page with more than one drawing.

        """
        if self._svg is None:
            raise ValueError(f"svg: got {self.title!r}, which is a page of HTML, expected a picture that is one "
                             "drawing; html() returns it")
        return self._svg

    def save(self, path):
        """Write the picture to a file.

        Parameters
        ----------
        path : Union[str, os.PathLike]
            A file whose name ends in .html, .svg or .txt; one that is there is replaced.

        """
        kind = os.path.splitext(os.fspath(path))[1].lower()
        ways = {".html": self.html, ".htm": self.html, ".svg": self.svg, ".txt": lambda: self.text + "\n"}
        if kind not in ways:
            raise ValueError(f"save: got {os.fspath(path)!r}, expected a name that ends in .html, .svg or .txt")
        files.write(path, ways[kind]().encode("utf-8"))

    def show(self):
        """Show the picture: in the notebook, else in a browser, else as text where there is no screen."""
        opening.show(self)

    def _repr_html_(self):
        return (f'<iframe title="{escape(self.title)}" sandbox="allow-scripts" '
                f'style="width:100%;height:{self.height}px;border:0" srcdoc="{html.escape(self.html())}"></iframe>')

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"<dragon picture {self.title!r}: show(), save(path), html()>"
