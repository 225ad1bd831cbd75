"""Docstrings told once: what arguments of one name mean in a family, and methods that do what the one above does.

A docstring says what is its own. What else the signature names and the family's words know (a table of each guest's)
is put in when the module has been read, in the order of the signature, with the defaults that the signature has; so is
the result.
This is done where there is a section of parameters already, or where the docstring ends with " ...": and so on.
What no word tells of a class's arguments, the docstrings of the classes above it do.
A method without a docstring has that of the method which it overrides, less what is said there to subclasses.
"""
import inspect
import json
import re
from enum import Enum
from types import FunctionType

from dragon.vm.guest import name_of

REST = " ..."
SECTION = re.compile(r"\n\n(?=\w+\n-{4,}\n)")
ENTRY = re.compile(r"\n(?! )")
HEAD = "Parameters\n----------\n"
TO_SUBCLASSES = re.compile(r"; subclasses [^.]*")
RESULT = "return"
KINDS = (classmethod, staticmethod)


class Word:
    """The meaning of an argument, or of several that are told together: a line `name, name : type : what it is`.

    Parameters
    ----------
    line : str
        The line.

    """

    __slots__ = ("names", "kind", "text")

    def __init__(self, line):
        told, self.kind, self.text = line.split(" : ", 2)
        self.names = told.split(", ")

    def entry(self, defaults):
        """Return the lines of a docstring, with the default that a signature has."""
        head = ", ".join(self.names) + (f" : {self.kind}" if self.kind else "")
        if self.names[0] in defaults and self.kind not in ("", "optional"):
            default = defaults[self.names[0]]
            said = (json.dumps(default, ensure_ascii=False) if isinstance(default, str)
                    else str(default) if isinstance(default, Enum) else repr(default))
            head += ", optional" if default is None else f", optional, default={said}"
        return f"{head}\n    {self.text}"


class Words:
    """The words of a guest; those of a package hold in all below it, unless they have their own.

    Parameters
    ----------
    guest : str
        The guest's name.
    table : str
        A line for each word, below the names of packages and modules: `[torch.optim]`.
    examples : str, optional
        Examples of what is made by rows and has no docstring to hold them, each below its name, and that below its
        module's.

    """

    def __init__(self, guest, table, examples=""):
        self.guest, self.families, self.found = guest, {}, {}
        self.examples = read_examples(examples)
        for line in table.strip().splitlines():
            if line.startswith("["):
                words = self.families.setdefault(line[1:-1].removeprefix(guest).removeprefix("."), [])
            else:
                words.append(Word(line))

    def of(self, module):
        """Return the words that hold in a module, by the first of their names: its own before its family's."""
        if module not in self.found:
            words = dict(self.of(module.rpartition(".")[0])) if module else {}
            self.found[module] = {**words, **{word.names[0]: word for word in self.families.get(module, ())}}
        return self.found[module]

    def finish(self, module):
        """Complete the docstrings of what a module defines; where no words hold they are left as they are."""
        self.complete(module)
        for name, example in self.examples.get(name_of(module.__name__), {}).items():
            thing = vars(module)[name]
            thing.__doc__ = f"{inspect.cleandoc(thing.__doc__)}\n\nExamples\n--------\n{example}"

    def complete(self, module):
        """Put in what the words know."""
        words = self.of(name_of(module.__name__).removeprefix(self.guest).removeprefix("."))
        for name, value in list(vars(module).items()) if words else ():
            if getattr(value, "__module__", None) != module.__name__:
                continue
            if isinstance(value, type):
                tell_methods(value, words)  # objects of classes without a public name are met, too
            if name.startswith("_"):
                continue
            if isinstance(value, type):
                if isinstance(value.__init__, FunctionType) and value.__doc__:
                    tell(value, value.__init__, words, value.__mro__[1:])
            elif isinstance(value, FunctionType) and value.__doc__:
                tell(value, value, words)


def read_examples(table):
    """Return the examples of a table, by module and name."""
    found, names, name = {}, {}, ""
    for line in table.strip().splitlines():
        if line.startswith("[") and line.endswith("]") and "." in line and " " not in line:
            names = found[line[1:-1]] = {}
        elif line.isidentifier():
            name = line
        else:
            names[name] = names.get(name, "") + line + "\n"
    return found


def complete(doc, parameters, defaults, words):
    """Return a docstring with what the words know and it does not say.

    Parameters
    ----------
    doc : str
        The docstring, without indentation.
    parameters : Sequence[str]
        The arguments in their order.
    defaults : Dict[str, Any]
        The defaults of those that have one.
    words : Dict[str, Word]
        The meanings.

    """
    head, *sections = SECTION.split(doc)
    lines = [section for section in sections if section.startswith(HEAD)]
    if not lines and not head.endswith(REST):
        return doc
    entries = ENTRY.split(lines[0][len(HEAD):]) if lines else []
    told = {name: entry for entry in entries for name in entry.partition(" : ")[0].split("\n")[0].split(", ")}
    known = {}
    for name in parameters:
        word = words.get(name)
        if name not in told and name not in known and word is not None and set(word.names) <= set(parameters):
            known.update(dict.fromkeys(word.names, word.entry(defaults)))
    if not known:
        return doc
    told = {**known, **told}
    own = [entry for entry in entries if entry.partition(" : ")[0].split(", ")[0] not in parameters]
    ordered = dict.fromkeys([told[name] for name in parameters if name in told] + own)
    rest = [section for section in sections if not section.startswith(HEAD)]
    if RESULT in words and not any(section.startswith("Returns") for section in rest):
        rest.insert(0, f"Returns\n-------\n{words[RESULT].kind}\n    {words[RESULT].text}")
    return "\n\n".join([head.removesuffix(REST), HEAD + "\n".join(ordered), *rest])


def read_signature(function):
    """Return the names of a function's arguments, with stars as docstrings have them, and the defaults."""
    function = inspect.unwrap(function)
    code = function.__code__
    plain, count = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    names = list(code.co_varnames[:count])
    more = list(code.co_varnames[count:])
    values = function.__defaults__ or ()
    defaults = dict(zip(names[plain - len(values):plain], values), **function.__kwdefaults__ or {})
    if code.co_flags & inspect.CO_VARARGS:
        names.insert(plain, "*" + more.pop(0))
    if code.co_flags & inspect.CO_VARKEYWORDS:
        names.append("**" + more.pop(0))
    return names, defaults


def tell(thing, function, words, above=()):
    """Complete the docstring of a function, or of a class whose `__init__` is given, with the classes above it."""
    if HEAD[:10] in thing.__doc__ or REST in thing.__doc__:
        parameters, defaults = read_signature(function)
        if above:
            words = {**words_above(above, set(parameters)), **words}
        if not words.keys().isdisjoint(parameters):
            thing.__doc__ = complete(inspect.cleandoc(thing.__doc__), parameters, defaults, words)


def words_above(classes, parameters):
    """Return what the docstrings of classes tell of arguments; the first class goes before the others."""
    found = {}
    for cls in reversed(classes):
        for section in SECTION.split(inspect.cleandoc(cls.__doc__ or "")):
            for entry in ENTRY.split(section[len(HEAD):]) if section.startswith(HEAD) else ():
                head, _, text = entry.partition("\n")
                names, _, kind = head.partition(" : ")
                if parameters.issuperset(names.split(", ")):
                    text = " ".join(line.strip() for line in text.split("\n"))
                    word = Word(f"{names} : {kind.partition(', optional')[0]} : {text}")
                    found[word.names[0]] = word
    return found


def tell_methods(cls, words):
    """Complete the docstrings of a class's methods; those that have none inherit one, as properties do."""
    for name, method in vars(cls).items():
        method = _bare(method)
        if isinstance(method, (FunctionType, property)) and (name == "__call__" or not name.startswith("_")):
            if method.__doc__ is None:
                above = next((_bare(vars(base)[name]) for base in cls.__mro__[1:] if name in vars(base)), method)
                method.__doc__ = TO_SUBCLASSES.sub("", above.__doc__ or "", 1) or None
            elif isinstance(method, FunctionType):
                tell(method, method, words)


def _bare(method):
    """Return the function of a class method, whose own docstring is a copy of the function's first one."""
    return method.__func__ if isinstance(method, KINDS) else method
