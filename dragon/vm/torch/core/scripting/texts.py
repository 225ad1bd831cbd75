"""Scripts that are given as texts: `CompilationUnit`, and methods that a module is given later."""
import ast
import textwrap

from dragon.vm.torch.core.scripting.failures import Source
from dragon.vm.torch.core.scripting.frontend import FrontendError
from dragon.vm.torch.core.scripting.scripts import Function, python_scripts


def read_text(text):
    """Return (source, definitions) of a text."""
    text = textwrap.dedent(text)
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise FrontendError(f"CompilationUnit: got a text that cannot be read ({error}), expected functions") from error
    bad = [part for part in tree.body if not isinstance(part, ast.FunctionDef)]
    if bad:
        raise FrontendError(f"CompilationUnit: got {type(bad[0]).__name__}, expected functions alone")
    return Source(text), tree.body


def names_in(known, around=None):
    """Return a function from names to functions of the text, what stands around it, or what every script may name."""
    def find(name):
        if name in known:
            return known[name]
        if around is not None and name in around:
            return around[name]
        return python_scripts().typing_names(name)
    return find


def names_around(frame):
    """Return {name: value} of what a running function sees."""
    return {**frame.f_globals, **frame.f_locals}


def define_functions(text, known, around=None):
    """Compile the functions of a text, which may name what stands around it, into a dict of them."""
    from dragon.vm.torch.core.scripting.scopes import Called
    source, trees = read_text(text)
    scripts = python_scripts()
    sugars = {name: Called(function) for name, function in known.items()}
    for tree in trees:
        known[tree.name] = Function(scripts, tree.name, f"__torch__.{tree.name}", source, tree,
                                    names_in(sugars, around))
        sugars[tree.name] = Called(known[tree.name])
    for tree in trees:
        known[tree.name].ready()


def define_method(kind, text):
    """Compile the functions of a text as methods of a class."""
    source, trees = read_text(text)
    for tree in trees:
        kind.methods[tree.name] = Function(python_scripts(), tree.name, f"{kind.qualified}.{tree.name}", source, tree,
                                           names_in({}), kind)
    for tree in trees:
        kind.methods[tree.name].ready()
