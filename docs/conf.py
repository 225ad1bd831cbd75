"""How the pages are made: guides and tutorials by hand, reference and coverage from the running code."""
import pathlib
import re
import sys

import dragon

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from makers import api_pages, coverage_pages, landing, onnx_pages  # noqa: E402: found by the line above
from makers.files import write_if_new  # noqa: E402: the same

project = "Dragon"
author = "the Dragon authors"
copyright = "the Dragon authors"
release = dragon.__version__

extensions = ["sphinx.ext.viewcode", "sphinx_design", "sphinx_copybutton", "myst_nb", "makers.mathml", "makers.plots",
              "makers.sources", "makers.references"]
# Frontends have classes of the same names; a bare name in a table of bases may mean either.
# A folder of tutorials may be empty.
suppress_warnings = ["ref.python", "toc.empty_glob"]
templates_path = ["_templates"]
exclude_patterns = ["_build", "**/*.inc", "**.ipynb_checkpoints", ".jupyter_cache", "jupyter_execute"]
default_role = "code"
add_module_names = False
toc_object_entries_show_parents = "hide"
viewcode_line_numbers = True

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_inline", "attrs_block"]
myst_heading_anchors = 3
# Tutorials run when the pages are made; what a run showed is kept beside the pages until its text changes.
nb_execution_mode = "cache"
nb_execution_timeout = 900  # seconds a cell, on a machine with busy neighbours
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_execution_show_tb = True
nb_merge_streams = True
nb_ipywidgets_js = {}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "pydata_sphinx_theme"
html_title = "Dragon"
html_static_path = ["_static"]
html_css_files = ["dragon.css"]
html_js_files = ["wide.js", "coverage.js"]
html_favicon = "_static/favicon.svg"
html_use_index = html_domain_indices = False  # the search finds names, and the index is a megabyte
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"image_light": "_static/logo.svg", "image_dark": "_static/logo-dark.svg", "text": "Dragon",
             "alt_text": "Dragon, to the first page"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "show_nav_level": 1,
    "navigation_depth": 2,
    "collapse_navigation": True,
    "show_toc_level": 1,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "primary_sidebar_end": [],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "search_bar_text": "Search names and pages",
    "back_to_top_button": False,
}
html_sidebars = {"index": [], "search": [], "genindex": []}
pygments_style = "a11y-high-contrast-light"

GENERATED = pathlib.Path(__file__).parent / "api" / "generated"


PRECISIONS = {"lower": "in 16 bits", "float32": "in float32", "plain": "as given, with its parts"}
BATCHES = {"apart": "slice by slice", "numbers": "number by number", "rows": "as rows", "samples": "as samples",
           "own": "by a rule of its own"}


def describe_facts(operator):
    """Return what an operator says of itself besides its signature, as a sentence; empty if that is nothing."""
    facts = [f"autocast: {PRECISIONS[operator['autocast']]}" if operator["autocast"] else "",
             "commutes" if operator["commutes"] else "",
             f"writes when {operator['writes_when']}" if operator["writes_when"] else "",
             "a tail of products" if operator["tail"] else "",
             f"batches: {BATCHES[operator['batches']]}" if operator["batches"] else ""]
    found = "; ".join(fact for fact in facts if fact)
    return f" {found[:1].upper()}{found[1:]}." if found else ""


def write_operators(app):
    """Print the registry as one list: the signature, the sentence and the facts of each operator."""
    lines = []
    for name in dragon._C.op_names():
        operator = dragon._C.schema(name)
        sentence = re.sub(r"([*|`_\\])", r"\\\1", operator["doc"] + describe_facts(operator))  # plain text, not markup
        lines += [f".. describe:: {operator['line']}", "", f"   {sentence}", ""]
    write_if_new(GENERATED / "operators.inc", "\n".join(lines))


def write_passes(app):
    """Print the passes of graphs as a table, in the order in which they run."""
    lines = [".. list-table::", "   :header-rows: 1", "", "   * - order", "     - pass", "     - from level",
             "     - what it does"]
    for name, level, order, doc in dragon._C.pass_names():
        lines += [f"   * - {order}", f"     - ``{name}``", f"     - {level}", f"     - {doc}"]
    write_if_new(GENERATED / "passes.inc", "\n".join(lines) + "\n")


def make_static_folder(app):
    """Make the folder that the theme copies pictures into, which a build that fails early would leave as a file."""
    (pathlib.Path(app.outdir) / "_static").mkdir(parents=True, exist_ok=True)


def setup(app):
    """Run before the sources are read."""
    for make in (make_static_folder, write_operators, write_passes, api_pages.write_pages,
                 coverage_pages.write_coverage, onnx_pages.write_coverage, landing.write_parts):
        app.connect("builder-inited", make)
