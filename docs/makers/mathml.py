"""Formulas as MathML, which browsers show by themselves: no script, no font, nothing from elsewhere."""
import html

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def translate(node, is_block):
    """Return a formula's MathML; what cannot be translated is shown as it was written, and named in a warning."""
    from sphinx.util import logging

    try:
        return tex2mathml(node.astext(), as_block=is_block)
    except SyntaxError as error:
        logging.getLogger(__name__).warning("a formula that is not understood: %s", error, location=node)
        return f"<code>{html.escape(node.astext())}</code>"


def visit_inline(self, node):
    """Write a formula in a line."""
    self.body.append(translate(node, is_block=False))
    raise nodes.SkipNode


def visit_block(self, node):
    """Write a formula of its own."""
    self.body.append(f'<div class="formula">{translate(node, is_block=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    """Make this the way of formulas."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
