"""What every picture has to be: HTML that closes what it opens, SVG that is XML, and nothing from elsewhere."""
import html.parser
import re
import xml.etree.ElementTree

VOID = {"meta", "img", "input", "br", "hr", "link"}
HOSTILE = "<script>alert(1)</script>\"'&\x00\x1b]]>\ud800"
_ELSEWHERE = re.compile(r"""(?:src|href)\s*=\s*["']?\s*(?!data:|#)[a-z/]|url\(|@import|\bfetch\(|XMLHttpRequest""")
_ADDRESS = re.compile(r"https?://(?!www\.w3\.org/)")


class _Checker(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.tags, self.attributes = [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open[-3:])
        self.open.pop()


def check_html(text):
    """Fail unless a text is whole HTML that asks for nothing; return the parser, which knows tags and attributes."""
    checker = _Checker()
    checker.feed(text)
    checker.close()
    assert not checker.open
    assert not _ELSEWHERE.search(text) and not _ADDRESS.search(text)
    assert not [name for name, _ in checker.attributes if name.startswith("on")]
    return checker


def check_svg(text):
    """Fail unless a text is an SVG document that asks for nothing; return its root."""
    assert not _ADDRESS.search(text.replace("http://www.w3.org", ""))
    root = xml.etree.ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not list(root.iter("{http://www.w3.org/2000/svg}script"))
    return root


def check_page(page, scripts):
    """Fail unless a page is whole, has so many scripts of its own, and may stand in a notebook."""
    found = check_html(page.html())
    assert found.tags.count("script") == scripts
    inside = check_html(page._repr_html_())
    assert inside.tags == ["iframe"] and dict(inside.attributes)["sandbox"] == "allow-scripts"
    assert str(page) == page.text and page.text
    return found
