"""Lead the links of `sphinx.ext.viewcode` from a face's name to the file in the package that defines it."""
import inspect
import re

from makers.doors import find, look_up

# viewcode imports the module that it is told; for what is not written in Python it must find none by the guest's name.
NOWHERE = "dragon.written_in_another_language"


def locate(app, module, attribute):
    """Return the module in whose file a name is written."""
    path = f"{module}.{attribute}"
    value = look_up(path) if module.split(".")[0] == "dragon" else find(path)
    value = inspect.unwrap(value) if callable(value) else value
    home = getattr(value, "__module__", None)
    return home if isinstance(home, str) and home.startswith("dragon.") else NOWHERE


BACK = re.compile(r'<a class="viewcode-back" href="[^"#]*#([^"]+)">[^<]*</a>')
WRAPPED = re.compile(r'<span class="(?:pre|n)">([^<]*)</span>')


def finish(app, page, template, context, doctree):
    """Leave links out that lead from a source to a name under which no page has it, and idle marks in long pages."""
    if page.startswith("_modules/"):
        known = app.env.domains["py"].objects
        context["body"] = BACK.sub(lambda found: found[0] if is_shown(found, known) else "", context["body"])
    if page.startswith("api/generated/"):
        context["body"] = WRAPPED.sub(r"\1", WRAPPED.sub(r"\1", context["body"]))


def is_shown(found, known):
    """Return whether a link to a name leads to the page that has it."""
    entry = known.get(found[1])
    return entry is not None and f"{entry.docname}.html#" in found[0]


def forget(app, env):
    """Leave modules without a source out of viewcode's list of all of them, which would lead nowhere."""
    modules = getattr(env, "_viewcode_modules", {})
    for name in [name for name, entry in modules.items() if not entry]:
        del modules[name]
    return []


def setup(app):
    """Listen to viewcode, and to pages as they are written."""
    app.connect("html-page-context", finish)
    app.connect("env-updated", forget)
    app.connect("viewcode-follow-imported", locate)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
