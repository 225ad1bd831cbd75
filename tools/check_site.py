"""Look at the site in a real browser, at the width of a phone and of a desk, in the light and in the dark.

    python tools/check_site.py [docs/_build] [--pictures FOLDER] [--axe axe.min.js]

Needs Chromium and the package `playwright`; says so and ends with 0 where one is missing. No page may be wider than
the screen, no script may fail, nothing may be fetched from elsewhere, and with axe-core (the file of its npm package)
no page may have a serious barrier. The coverage page's box and the search must find names. Prints what is wrong; the
status is 1 if anything is.
"""
import argparse
import functools
import http.server
import pathlib
import shutil
import sys
import threading

WIDTHS = {"phone": 390, "desk": 1440}
THEMES = ("light", "dark")
PAGES = ["index.html", "start/index.html", "start/install.html", "start/pytorch.html", "start/coming_from.html",
         "guide/index.html", "guide/graphs.html", "tutorials/index.html", "api/index.html", "api/torch.html",
         "api/generated/torch/torch.nn.html", "api/generated/keras/keras.losses.html", "api/operators.html",
         "coverage/index.html", "torch/coverage.html", "keras/differences.html", "onnx_coverage.html",
         "benchmarks/index.html", "benchmarks/gemm.html", "benchmarks/torch.html", "benchmarks/convolution.html",
         "contributing/index.html", "contributing/plan.html", "design/0000-the-house.html", "changelog.html",
         "search.html"]
# One page of each kind is looked at by axe-core as well.
AXED = ("index.html", "start/pytorch.html", "api/generated/keras/keras.losses.html", "keras/differences.html",
        "onnx_coverage.html", "benchmarks/gemm.html", "contributing/plan.html")
WIDER = """() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  return [...document.querySelectorAll("body *")].filter((element) => {
    const box = element.getBoundingClientRect();
    return box.right > width + 1 && box.width > 0;
  }).slice(0, 4).map((element) => `${element.tagName.toLowerCase()}.${element.className} ends at `
    + Math.round(element.getBoundingClientRect().right));
}"""
AXE = """() => axe.run(document, {resultTypes: ["violations"]}).then((found) => found.violations
  .filter((each) => ["serious", "critical"].includes(each.impact))
  .map((each) => `${each.id} (${each.nodes.length}): ${each.nodes[0].target} ${each.nodes[0].html.slice(0, 120)} `
    + `${each.nodes[0].any.map((any) => any.message).join("; ").slice(0, 200)}`))"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves a folder and says nothing."""

    def log_message(self, *words):
        """Say nothing."""


def serve(root):
    """Return a server of a folder on a port of its own, running."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(root)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def find_tutorials(root):
    """Return the pages of tutorials that were made."""
    return sorted(f"tutorials/{path.name}" for path in (root / "tutorials").glob("*.html") if path.stem != "index")


def look(tab, base, page, args, view):
    """Yield what is wrong with a page as it stands in a tab."""
    said = []
    tab.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("request", lambda request: None if request.url.startswith((base, "data:")) else said.append(
        f"fetches {request.url}"))
    answer = tab.goto(f"{base}/{page}", wait_until="load")
    if answer.status != 200:
        yield f"status {answer.status}"
        return
    yield from (f"wider than the screen: {element}" for element in tab.evaluate(WIDER))
    if args.axe and page in (*AXED, *args.tutorials[:1]):
        tab.add_script_tag(path=args.axe)
        yield from (f"axe: {line}" for line in tab.evaluate(AXE))
    if args.pictures:
        name = f"{page.removesuffix('.html').replace('/', '-')}-{view}.png"
        tab.screenshot(path=str(pathlib.Path(args.pictures) / name), full_page=False)
    yield from said


def check_box(tab, base):
    """Yield what is wrong with the box that finds names."""
    tab.goto(f"{base}/torch/coverage.html")
    tab.fill("form.filter input[name=text]", "nn.conv2d")
    shown = tab.evaluate("() => [...document.querySelectorAll('table.names tbody tr:not([hidden])')]"
                         ".map((row) => row.cells[0].textContent)")
    if "torch.nn.Conv2d" not in shown or len(shown) > 20:
        yield f"torch/coverage.html: the box shows {len(shown)} names for 'nn.conv2d', expected a few"
    tab.goto(f"{base}/search.html?q=torch.nn.Conv2d")
    tab.wait_for_selector("#search-results li a", timeout=20000)
    first = tab.evaluate("() => [...document.querySelectorAll('#search-results li a')].map((link) => link.href)")
    if not any(link.endswith("torch.nn.html#torch.nn.Conv2d") for link in first):
        yield f"search.html: torch.nn.Conv2d is not found, but {first[:3]}"


def check(browser, base, args):
    """Yield what is wrong with the site."""
    for name, width in WIDTHS.items():
        for theme in THEMES:
            context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
            context.add_init_script(f"for (const key of ['mode', 'theme']) localStorage.setItem(key, '{theme}')")
            for page in PAGES + args.tutorials:
                tab, view = context.new_page(), f"{name}-{theme}"
                yield from (f"{page}, {view}: {line}" for line in look(tab, base, page, args, view))
                tab.close()
            context.close()
    tab = browser.new_page()
    yield from check_box(tab, base)


def read_arguments():
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", default="docs/_build")
    parser.add_argument("--pictures", help="a folder for pictures of every page looked at")
    parser.add_argument("--axe", help="axe.min.js of npm's package axe-core; without it barriers are not looked for")
    args = parser.parse_args()
    args.tutorials = find_tutorials(pathlib.Path(args.root))
    return args


def main():
    """Check, print, and return the exit status."""
    args = read_arguments()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        sync_playwright = None
    if not chromium or not sync_playwright:
        print(f"check_site: not looked at, since {'playwright' if chromium else 'Chromium'} is missing on this machine")
        return 0
    server = serve(pathlib.Path(args.root))
    if args.pictures:
        pathlib.Path(args.pictures).mkdir(parents=True, exist_ok=True)
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        wrong = list(check(browser, f"http://127.0.0.1:{server.server_address[1]}", args))
        browser.close()
    server.shutdown()
    looked = f"{len(PAGES) + len(args.tutorials)} pages, {' and '.join(map(str, WIDTHS.values()))} pixels, both themes"
    print("\n".join(wrong) or f"{looked}: {'no barrier found by axe-core, ' if args.axe else ''}nothing is wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
