"""Hold every link inside of the site to a place that exists, and every page to loading nothing from elsewhere.

    python tools/check_links.py [docs/_build]

Reads the HTML that `make docs` wrote, without a browser. Prints what is wrong, a line each; the status is 1 if
anything is.
"""
import pathlib
import sys
import urllib.parse
from html.parser import HTMLParser

# Bytes of a page, so that it opens at once. The largest is torch's: a thousand functions, 0.1 MB packed.
LARGEST = 1_500_000
SKIPPED = ("_modules",)  # sources are as large as their files
# Tags that fetch something, and the attribute that says what.
FETCHING = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "video": "src"}
NOT_FETCHED = ("canonical", "alternate", "author", "license")


class Page(HTMLParser):
    """What a page links to, what it fetches, and the places in it that links can lead to.

    Parameters
    ----------
    text : str
        Its HTML.

    """

    def __init__(self, text):
        super().__init__()
        self.links, self.fetched, self.places, self.headings = [], [], {""}, 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Remember a tag."""
        attrs = dict(attrs)
        self.places |= {attrs[name] for name in ("id", "name") if attrs.get(name)}
        self.headings += tag == "h1"
        if tag == "a" and attrs.get("href"):
            self.links.append(attrs["href"])
        if tag in FETCHING and attrs.get(FETCHING[tag]) and attrs.get("rel") not in NOT_FETCHED:
            self.fetched.append(attrs[FETCHING[tag]])


def read_site(root):
    """Return {path: Page} of a folder of HTML; the theme keeps templates among its static files, which are no pages."""
    return {path.relative_to(root).as_posix(): Page(path.read_text(encoding="utf-8"))
            for path in sorted(root.rglob("*.html")) if path.relative_to(root).parts[0] != "_static"}


def resolve(page, link):
    """Return (path, anchor) of a link inside of the site; None for one that leads out of it."""
    found = urllib.parse.urlsplit(link)
    if found.scheme or found.netloc:
        return None
    path = urllib.parse.unquote(found.path)
    if not path:
        return page, urllib.parse.unquote(found.fragment)
    parts = pathlib.PurePosixPath(page).parent.joinpath(path).parts
    stack = []
    for part in parts:
        stack = stack[:-1] if part == ".." else [*stack, part]
    return "/".join(stack), urllib.parse.unquote(found.fragment)


def check_links(root, site):
    """Yield what is wrong with the links of a site."""
    for page, parsed in site.items():
        for link in parsed.links:
            target = resolve(page, link)
            if target is None or target[0].startswith("_sources"):
                continue
            path, anchor = target
            if path in site:
                if anchor not in site[path].places:
                    yield f"{page}: {link} leads to no place of {path}"
            elif not (root / path).exists():
                yield f"{page}: {link} leads to no page"


def check_fetched(root, site):
    """Yield what pages fetch from other hosts, or that is not there."""
    for page, parsed in site.items():
        for link in parsed.fetched:
            target = resolve(page, link)
            if target is None:
                if not link.startswith("data:"):
                    yield f"{page}: fetches {link} from elsewhere"
            elif not (root / target[0]).exists():
                yield f"{page}: fetches {link}, which is not there"


def check_pages(root, site):
    """Yield pages that are too large to open at once, or have not one heading of the first order."""
    for page, parsed in site.items():
        if page.startswith(SKIPPED):
            continue
        size = (root / page).stat().st_size
        if size > LARGEST:
            yield f"{page}: {size:,} bytes, expected at most {LARGEST:,}"
        if parsed.headings != 1:
            yield f"{page}: {parsed.headings} headings of the first order, expected 1"


def main(words):
    """Check the site in a folder; return the exit status."""
    root = pathlib.Path(words[0] if words else "docs/_build")
    site = read_site(root)
    if not site:
        raise SystemExit(f"check_links: got no page in {root}, expected those that `make docs` writes")
    wrong = [line for check in (check_links, check_fetched, check_pages) for line in check(root, site)]
    print("\n".join(wrong) or f"{len(site)} pages: every link leads somewhere, nothing comes from elsewhere")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
