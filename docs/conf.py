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
exclude_patterns = ["_build", "api/generated/operators.inc"]
html_theme = "alabaster"
html_theme_options = {"description": "One small engine under the frontends people already use", "fixed_sidebar": True}
autosummary_generate = True
autodoc_typehints = "none"
napoleon_numpy_docstring, napoleon_google_docstring = True, False
myst_heading_anchors = 3

GENERATED = pathlib.Path(__file__).parent / "api" / "generated"


def write_operators(app):
    """Print the registry as one list: the signature and the sentence that each operator was declared with."""
    GENERATED.mkdir(parents=True, exist_ok=True)
    lines = []
    for name in dragon._C.op_names():
        operator = dragon._C.schema(name)
        sentence = re.sub(r"([*|`_\\])", r"\\\1", operator["doc"])  # plain text, not markup
        lines += [f".. describe:: {operator['line']}", "", f"   {sentence}", ""]
    (GENERATED / "operators.inc").write_text("\n".join(lines), encoding="utf-8")


def setup(app):
    """Run before the sources are read."""
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    from torch_coverage import write_coverage
    app.connect("builder-inited", write_operators)
    app.connect("builder-inited", write_coverage)
