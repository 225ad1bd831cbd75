"""How functions, methods and operators are written: arguments and results from signatures, schemas and docstrings."""
import inspect
import math
from functools import cache

from stubs import docs, engine, facts, returns
from stubs.kinds import ANY, BUILTIN, Kind, as_argument, as_result, read_kind, union, write
from stubs.places import door_of

LINE = 118
# What a door's functions take for a tensor is told by one class, and anything that can be made into one will do.
LENIENT = ("keras", "tensorflow")
EMPTY = inspect.Parameter.empty


@cache
def signature_of(value):
    """Return what Python knows of a callable's arguments, or None."""
    try:
        return inspect.signature(value)
    except (TypeError, ValueError):
        return None


def default_text(default):
    """Return a default as a stub writes it; `...` for what has no plain form."""
    if default is None or isinstance(default, (bool, int, str)) and type(default) in (bool, int, str):
        return repr(default)
    if type(default) is float and math.isfinite(default):
        return repr(default)
    if type(default) is tuple:
        items = [default_text(item) for item in default]
        return "..." if "..." in items else f"({', '.join(items)}{',' * (len(items) == 1)})"
    return "..."


class Told:
    """What is told of a callable's arguments and result.

    Parameters
    ----------
    value : Callable
        The function or the operator.
    module : str
        Where it stands.
    scope : Scope
        The stub.
    doc : str, optional
        Where it is told; by default its own docstring.

    """

    def __init__(self, value, module, scope, doc=None):
        self.module, self.scope = module, scope
        self.arguments, self.result, self.loose, self.first = {}, None, (), "self"
        if engine.is_operator(value) and engine.face(module):
            self.read_schema(value)
        doc = value.__doc__ if doc is None else doc
        for name, text in docs.read_arguments(doc).items():
            kind = as_argument(read_kind(text, self.find))
            if name in self.arguments:  # what the schema takes besides: numbers for tensors, one size for several
                kind = union(self.arguments[name], kind)
            self.arguments[name] = union(kind, ANY) if door_of(module) in LENIENT else kind
        if self.result is not None:
            return
        said, found = docs.read_result(doc), returns.infer(value, self.find, module)
        if found is not None and found.head == "Self":
            self.result = found
        elif said is not None:
            self.result = as_result(read_kind(said, self.find))
        elif found is not None:
            self.result = scope.places.as_public(as_result(found))

    def find(self, word):
        """Return the class that a docstring means by a word."""
        return self.scope.places.find_class(word, self.module)

    def takes_loose_sizes(self, signature):
        """Return whether a method takes integers behind its tensor, which may come one by one."""
        names = list(signature.parameters)
        return len(names) > 1 and names[1] in self.loose

    def read_schema(self, value):
        """Take what the schema tells; what Python answers where the engine does not may be more."""
        plain = getattr(engine.operators(self.module), value.__name__, value)
        kinds = engine.named_results(self.module)
        line = engine.line_of(plain) or value.schema
        self.arguments, result = engine.read_line(line, self.module, kinds.get(value.__name__.rstrip("_")))
        self.loose = engine.loose_arguments(line)
        wrapped = getattr(value, "__wrapped__", None)
        if wrapped is not None:  # it knows further forms of every argument
            self.arguments = {name: union(kind, ANY) for name, kind in self.arguments.items() if kind != ANY}
            if wrapped.__name__ in facts.SEVERAL_RESULTS:
                result = ANY
        self.result = result


def write_def(name, value, module, scope, method=False, doc=None, told_by=None, decorators=(), show_doc=True):
    """Return the lines of a function's definition.

    Parameters
    ----------
    name : str
        Its name there.
    value : Callable
        The function.
    module : str
        The module that tells it.
    scope : Scope
        The stub.
    method : bool, optional, default=False
        Whether the first argument is the instance.
    doc : str, optional
        The docstring that tells its arguments, where it is not its own.
    told_by : Callable, optional
        Whose signature is meant.
    decorators : Sequence[str], optional
        What stands above it.
    show_doc : bool, optional, default=True
        Whether the docstring is written.

    """
    signature = signature_of(told_by or value)
    told = Told(value, module, scope, doc)
    told.first = "cls" if name == "__new__" or "classmethod" in decorators else "self"
    head = [f"@{decorator}" for decorator in decorators]
    any_ = write(ANY, scope)
    if signature is None:
        first = "self, " if method else ""
        words = [f"{first}*args: {any_}, **kwargs: {any_}"]
    else:
        words = write_arguments(list(signature.parameters.values()), told, method)
    result = facts.RESULTS.get(name) or told.result
    if method and facts.gives_itself(name, module):
        result = Kind("Self")
    if result is None:
        result = read_kind(facts.promised(name, scope.module) or "Any", told.find)
    result = write(result, scope)
    lines = [*head, *fold(f"def {name}(", words, f") -> {result}:")]
    text = write_doc(value.__doc__) if show_doc else []
    if method and signature is not None and engine.is_operator(value) and told.takes_loose_sizes(signature):
        return write_loose(name, words, lines, result, scope, text)
    if not text:
        lines[-1] += " ..."
        return lines
    return lines + ["    " + line if line else "" for line in text]


def write_loose(name, words, lines, result, scope, text):
    """Return the two definitions of a method that takes sizes as one sequence or one by one: `x.reshape(2, 3)`."""
    overload = f"@{scope.name_typing('overload')}"
    number = scope.name_class(int)
    size = words[1].partition(":")[0].lstrip("*")
    if words[1].startswith("*"):  # the docstring tells the loose form alone
        whole = [words[0], f"{size}: {write(Kind('Sequence', (BUILTIN['int'],)), scope)}", *words[2:]]
        lines = fold(f"def {name}(", whole, f") -> {result}:")
    loose = fold(f"def {name}(", [words[0], f"*{size}: {number}", *(word for word in words[2:] if word != "*")],
                 f") -> {result}:")
    return [overload, *lines[:-1], lines[-1] + " ...", overload, *loose[:-1],
            loose[-1] + (" ..." if not text else ""), *("    " + line if line else "" for line in text)]


def fold(head, words, tail):
    """Return a line, or several where one is too long."""
    line = head + ", ".join(words) + tail
    if len(line) <= LINE:
        return [line]
    return [head, *(f"        {word}," for word in words), tail]


def write_doc(doc):
    """Return the lines of a docstring."""
    text = inspect.cleandoc(doc or "").strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if not text:
        return []
    lines = text.split("\n")
    if len(lines) == 1:
        return [f'"""{text}{" " * text.endswith(chr(34))}"""']
    return [f'"""{lines[0]}', *lines[1:], '"""']


def write_arguments(parameters, told, method):
    """Return the arguments of a definition, in their order."""
    words, star, slash, optional = [], False, False, False
    for place, parameter in enumerate(parameters):
        kind = parameter.kind
        if slash and kind != parameter.POSITIONAL_ONLY:
            words.append("/")
            slash = False
        slash = kind == parameter.POSITIONAL_ONLY
        if kind == parameter.KEYWORD_ONLY and not star:
            words.append("*")
            star = True
        if kind == parameter.VAR_POSITIONAL:
            star = True
        if method and not place and kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            words.append(told.first)
            continue
        text = write_argument(parameter, told)
        positional = kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        # A default that is `inspect.Signature.empty` itself looks like none, and yet may be left out.
        words.append(f"{text} = ..." if positional and optional and parameter.default is EMPTY else text)
        optional = optional or (positional and parameter.default is not EMPTY)
    if slash:
        words.append("/")
    return words


def write_argument(parameter, told):
    """Return one argument with its kind and its default."""
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    kind = ANY if stars else told.arguments.get(parameter.name, ANY)
    default = parameter.default
    if not stars and kind == ANY:
        kind = facts.argument(parameter.name, told.module) or ANY
    if default is not EMPTY and kind != ANY:
        known = facts.kind_of_default(default)
        kind = union(kind, known) if known is not None else union(kind, ANY)
    if default is not EMPTY and kind == ANY and isinstance(default, bool):
        kind = union(BUILTIN["bool"], ANY) if door_of(told.module) in LENIENT else BUILTIN["bool"]
    text = f"{stars}{parameter.name}: {write(kind, told.scope)}"
    return text if default is EMPTY else f"{text} = {default_text(default)}"
