"""Sources of the methods that `dataclass` writes: Python keeps none of them."""
import dataclasses
import inspect

ORDERS = {"__lt__": ("<", False), "__le__": ("<", True), "__gt__": (">", False), "__ge__": (">", True)}


def is_generated(found):
    """Return whether a function was written by Python, so that no file has it."""
    return inspect.isfunction(found) and inspect.unwrap(found).__code__.co_filename == "<string>"


def sources_of(cls):
    """Return ({name: text} of the methods that were written for a dataclass, {name: object} that the texts name)."""
    names, texts = {"_class": cls}, {}
    fields = cls.__dataclass_fields__.values()
    compared = [field.name for field in dataclasses.fields(cls) if field.compare]
    if any(field.default_factory is not dataclasses.MISSING for field in fields):
        raise NotImplementedError(f"Default factory initializers are not supported in TorchScript dataclasses: got "
                                  f"{cls.__name__}, expected defaults that are constants")
    for name, found in vars(cls).items():
        if not is_generated(found):
            continue
        if name == "__init__":
            texts[name] = init_text(cls, fields, names)
        elif name == "__eq__":
            texts[name] = equality_text(compared)
        elif name in ORDERS:
            texts[name] = order_text(name, compared)
        elif name == "__repr__":
            shown = [field.name for field in dataclasses.fields(cls) if field.repr]
            told = repr(f"{cls.__qualname__.rpartition('.')[2]}({', '.join(each + '={}' for each in shown)})")
            texts[name] = text_of(name, "", (), f"{told}.format({', '.join('self.' + each for each in shown)})", "str")
    return texts, names


def text_of(name, arguments, lines, result, kind):
    """Return a method's text."""
    head = f"def {name}(self{', ' + arguments if arguments else ''}) -> {kind}:"
    return "\n".join([head, *lines, f"    return {result}", ""])


def both(field):
    """Return the lines that take two objects' values of a field, and ask whether both are there."""
    return [f"    {field}, _{field} = self.{field}, other.{field}",
            f"    if {field} is not None and _{field} is not None:"]


def equality_text(compared):
    """Return the text of `__eq__`."""
    lines = []
    for field in compared:
        lines += [*both(field), f"        if {field} != _{field}:", "            return False",
                  f"    elif ({field} is None) != (_{field} is None):", "        return False"]
    return text_of("__eq__", "other: _class", lines, "True", "bool")


def order_text(name, compared):
    """Return the text of a comparison, which the first fields decide that differ."""
    sign, result = ORDERS[name]
    lines = []
    for field in compared:
        lines += [*both(field), f"        if {field} {sign} _{field}:", "            return True",
                  f"        elif _{field} {sign} {field}:", "            return False"]
    return text_of(name, "other: _class", lines, str(result), "bool")


def init_text(cls, fields, names):
    """Return the text of `__init__`, whose defaults are those of the function."""
    arguments, lines, passed = [], [], []
    for field in fields:
        kind, role = field.type, field._field_type.name
        if role == "_FIELD_CLASSVAR":
            continue
        if role == "_FIELD_INITVAR":
            kind = getattr(kind, "type", kind)
            passed.append(field.name)
        if field.init:
            names[f"_type_{field.name}"] = kind
            told = kind if isinstance(kind, str) else f"_type_{field.name}"
            arguments.append(f"{field.name}: {told}")
        if role == "_FIELD" and (field.init or field.default is not dataclasses.MISSING):
            value = field.name
            if not field.init:
                value = f"_default_{field.name}"
                names[value] = field.default
            lines.append(f"    self.{field.name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append(f"    self.__post_init__({', '.join(passed)})")
    return text_of("__init__", ", ".join(arguments), lines, "None", "None")
