"""How the names of `dragon._C` are written: from the signatures that its docstrings begin with."""
import inspect
import re

from stubs import members
from stubs.callables import write_def, write_doc
from stubs.classes import PRIVATE
from stubs.kinds import ANY, BUILTIN, NONE, write

SIGNATURE = re.compile(r"^(?:\d+\. )?(\w+)\((.*)\) -> (.+)$", re.MULTILINE)
ARGUMENT = re.compile(r"^\s*(\*{0,2}\w+|\*|/)(?:: (.*?))?(?: = (.*))?$", re.DOTALL)
PLAIN = {"int", "float", "bool", "str", "bytes", "None", "object"}
DUNDERS = {"__init__", "__len__", "__getitem__", "__setitem__", "__iter__", "__next__", "__enter__", "__exit__",
           "__call__", "__eq__", "__hash__", "__bool__", "__contains__"}


def write_function(name, value, scope):
    """Return the lines of a function."""
    return write_signatures(name, value.__doc__, scope, method=False)


def write_signatures(name, doc, scope, method):
    """Return the definitions that a docstring begins with; one that takes anything where it begins with none."""
    any_ = write(ANY, scope)
    doc = doc or ""
    found = [match for match in SIGNATURE.finditer(doc) if match[1] == name]
    rest = SIGNATURE.sub("", doc).replace("Overloaded function.", "").strip()
    rest = re.sub(rf"^{name}\(.*\)\s*\n", "", rest).strip()
    texts = []
    for match in found:
        words = complete([write_argument(word, scope) for word in split(match[2])] if match[2] else [])
        texts.append((words, write_type(match[3], scope)))
    if not found:
        texts = [([*["self"] * method, f"*args: {any_}", f"**kwargs: {any_}"], "None" if name == "__init__" else any_)]
    lines = []
    for words, result in texts:
        lines += [f"@{scope.name_typing('overload')}"] * (len(texts) > 1)
        lines += [f"def {name}({', '.join(words)}) -> {result}:"]
        lines += ["    " + line if line else "" for line in write_doc(rest)] or ["    ..."]
    return lines


def complete(words):
    """Return arguments, of which those behind one with a default have one, too, as Python wants it."""
    seen, done = False, []
    for word in words:
        seen = (seen or " = " in word) and word != "*"
        done.append(f"{word} = ..." if seen and " = " not in word and word[0] not in "*/" else word)
    return done


def split(text):
    """Return the arguments of a signature: pieces between commas that stand in no bracket."""
    pieces, depth, quoted = [""], 0, False
    for letter in text:
        quoted ^= letter == "'"
        depth += 0 if quoted else (letter in "[({<") - (letter in "])}>")
        if letter == "," and not depth and not quoted:
            pieces.append("")
        else:
            pieces[-1] += letter
    return pieces


def write_argument(text, scope):
    """Return an argument as a stub writes it."""
    match = ARGUMENT.match(text.replace("->", ""))
    if match is None or match[1] in ("*", "/", "self"):
        return text.strip() if match is None else match[1]
    kind = write_type(match[2] or "object", scope, given=True)
    return f"{match[1]}: {kind}" + (" = ..." if match[3] else "")


def write_type(text, scope, given=False):
    """Return a kind that pybind11 has written, as a stub says it."""
    text = text.strip()
    if text.startswith("typing.Supports"):
        text = "float" if "SupportsFloat" in text else "int"
    optional = text.endswith(" | None")
    base = text.removesuffix(" | None")
    if base.startswith("dragon._C."):
        base = base.removeprefix("dragon._C.")
        known = base if base in scope.places.modules["dragon._C"] else write(ANY, scope)
        known = known if not scope.is_hidden(base) or len(scope.hidden) == 1 else write(ANY, scope)
    elif base in PLAIN and base != "object":
        known = write(BUILTIN.get(base, NONE), scope)
    else:
        known = write(ANY, scope)
    return f"{known} | None" if optional else known


def write_class(name, value, scope):
    """Return the lines of a class."""
    body = write_doc(value.__doc__)
    extra = members.compiled_lines(value, scope)
    told = members.names(extra)
    own = {item: member for item, member in vars(value).items()
           if item not in PRIVATE and (not item.startswith("__") or item in DUNDERS) and item not in told}
    scope.hidden.append(set(own))
    for item, member in own.items():
        if isinstance(member, property):
            kind = property_kind(member, scope)
            body += ["@property", f"def {item}(self) -> {kind}:", *indent(write_doc(member.__doc__) or ["..."])]
            if member.fset:
                body += [f"@{item}.setter", f"def {item}(self, value: {write(ANY, scope)}) -> None: ..."]
        elif inspect.isgetsetdescriptor(member) or inspect.ismemberdescriptor(member):
            body.append(f"{item}: {write(ANY, scope)}")
        elif isinstance(member, staticmethod):
            body += ["@staticmethod", *write_signatures(item, member.__func__.__doc__, scope, method=False)]
        elif getattr(member, "__text_signature__", None) and inspect.ismethoddescriptor(member):
            body += write_def(item, member, scope.module, scope, method=True)  # it tells its arguments by itself
        elif callable(member):
            body += write_signatures(item, getattr(member, "__doc__", ""), scope, method=True)
    scope.hidden.pop()
    body += extra
    bases = [scope.name_class(base) for base in value.__bases__ if base is not object]
    bases = [base for base in bases if not base.endswith("Any")]
    head = f"class {name}({', '.join(bases)}):" if bases else f"class {name}:"
    return [head, *indent(body)] if body else [head + " ..."]


def property_kind(member, scope):
    """Return the kind of a property, as its getter's docstring tells."""
    match = re.search(r"-> (.+)$", (member.fget.__doc__ or "").split("\n")[0]) if member.fget else None
    return write_type(match[1], scope) if match else write(ANY, scope)


def indent(lines):
    """Return lines one step to the right."""
    return ["    " + line if line else "" for line in lines]
