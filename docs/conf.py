"""How the pages are made: guides by hand, reference from the docstrings and the operator registry."""
import pathlib
import re
import sys

import dragon

project = "Dragon"
author = "the Dragon authors"
release = dragon.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon", "sphinx.ext.mathjax",
              "myst_parser"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
# Frontends have classes of the same names; a bare name in a table of bases may mean either.
suppress_warnings = ["ref.python"]
templates_path = ["_templates"]
exclude_patterns = ["_build", "api/generated/operators.inc", "api/generated/passes.inc"]
html_theme = "alabaster"
html_theme_options = {"description": "One small engine under the frontends people already use", "fixed_sidebar": True}
autosummary_generate = True
autodoc_typehints = "none"
napoleon_numpy_docstring, napoleon_google_docstring = True, False
myst_heading_anchors = 3

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
    GENERATED.mkdir(parents=True, exist_ok=True)
    lines = []
    for name in dragon._C.op_names():
        operator = dragon._C.schema(name)
        sentence = re.sub(r"([*|`_\\])", r"\\\1", operator["doc"] + describe_facts(operator))  # plain text, not markup
        lines += [f".. describe:: {operator['line']}", "", f"   {sentence}", ""]
    (GENERATED / "operators.inc").write_text("\n".join(lines), encoding="utf-8")


def write_passes(app):
    """Print the passes of graphs as a table, in the order in which they run."""
    GENERATED.mkdir(parents=True, exist_ok=True)
    lines = [".. list-table::", "   :header-rows: 1", "", "   * - order", "     - pass", "     - from level",
             "     - what it does"]
    for name, level, order, doc in dragon._C.pass_names():
        lines += [f"   * - {order}", f"     - ``{name}``", f"     - {level}", f"     - {doc}"]
    (GENERATED / "passes.inc").write_text("\n".join(lines) + "\n", encoding="utf-8")


def escape_bars(app, what, name, obj, options, lines):
    """Keep |x| in a docstring from being read as a substitution."""
    lines[:] = [line.replace("|", r"\|") if "::" not in line and ">>>" not in line else line for line in lines]


def setup(app):
    """Run before the sources are read."""
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    import onnx_coverage
    from guest_coverage import write_coverage
    app.connect("autodoc-process-docstring", escape_bars)
    app.connect("builder-inited", write_operators)
    app.connect("builder-inited", write_passes)
    app.connect("builder-inited", write_coverage)
    app.connect("builder-inited", onnx_coverage.write_coverage)
