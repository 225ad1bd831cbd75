"""Configurations: what `get_config` says of an object, derived from the arguments of its class's `__init__`."""
from dragon.vm.keras.core.above import above

KINDS = {}  # the registries, each by the first word of its kind, where it enters itself
ROOM = __name__.removesuffix("core.configuration")
REST = "..."  # where, among the arguments that a class puts in order, all its others stand
# Last words of arguments that are objects with a configuration, beside those that a namespace knows.
OBJECTS = frozenset("layer layers cell cells losses map teacher student preprocessor features crosses".split())
WITH_MORE = 0x08  # of a function's `co_flags`: it has `**kwargs`
ALONG = {1: "one axis", 2: "two axes", 3: "three axes"}


def kind_of(name):
    """Return the registry that knows an argument's objects, from the last word of its name, or None."""
    return KINDS.get(name.rpartition("_")[2])


def described(name, value):
    """Return the value of an argument as a configuration holds it."""
    kind = kind_of(name)
    if kind is not None:
        return kind.serialize(value)
    return above("serialize_keras_object")(value) if name.rpartition("_")[2] in OBJECTS else value


def unwritten(method):
    """Mark a `get_config` as one that says nothing yet: derived ones do not ask it."""
    method._is_unwritten = True
    return method


class Configured:
    """What can be made again of its configuration.

    Each of Keras's own classes that has an `__init__` and writes no `get_config` is given one. It says what the classes
    above say, and then the arguments that are new in this class, as the attributes of the same name or of that name
    with an underscore have them. What an `__init__` does not take is not in the configuration. A user's class has
    the `get_config` that it writes or inherits.

    A class whose configuration differs from its signature says how: `_arguments` are words in the order of the
    configuration, "name=attribute" where the attribute has another name, "name?" where None is left out, and "..." for
    all other new ones; `_left_out` are arguments that it does not hold.

    What makes one of Keras's own classes out of the one above may be said in its first line: `class Conv2D(BaseConv,
    rank=2)` has the attribute `rank`.
    """

    def __init_subclass__(cls, **facts):
        own, is_ours = vars(cls), cls.__module__.startswith(ROOM) and not cls.__module__.startswith(ROOM + "src.")
        super().__init_subclass__(**{} if is_ours else facts)
        for name, value in facts.items() if is_ours else ():
            setattr(cls, name, value)
        if "get_config" not in own and is_ours and (
                "_arguments" in own or "_left_out" in own or "__init__" in own and _says_more(cls.__init__)):
            cls.get_config = _derived(cls)

    @classmethod
    def from_config(cls, config):
        """Return the object that `get_config` described. ..."""
        return cls(**config)


def of_ranks(above, name, doc, along=ALONG, **facts):
    """Return classes that differ by how many axes they work along: by their attribute `rank`.

    Parameters
    ----------
    above : type
        The class above them, in whose module they are.
    name, doc : str
        Their names and docstrings: "{}" stands for the rank, and for what the class works along.
    along : Dict[int, str], optional
        What the ranks work along.
    **facts : Any
        Further attributes of all.

    """
    made = []
    for rank, words in along.items():
        title = name.format(rank)
        namespace = {"__module__": above.__module__, "__qualname__": title, "__doc__": doc.format(words)}
        made.append(type(above)(title, (above,), namespace, rank=rank, **facts))
    return made


def _says_more(initialize):
    """Tell whether an `__init__` names arguments, or refuses those of the classes above."""
    return len(parameters(initialize)) > 0 or not initialize.__code__.co_flags & WITH_MORE


def parameters(initialize):
    """Return the names of a function's arguments, without the first one and those that stand for more."""
    signature = getattr(initialize, "__signature__", None)
    if signature is not None:
        return tuple(name for name, parameter in signature.parameters.items()
                     if name != "self" and parameter.kind is not parameter.VAR_KEYWORD)
    code = initialize.__code__
    return code.co_varnames[1:code.co_argcount + code.co_kwonlyargcount]


def _initializers(cls):
    """Return the `__init__` of a class and of those above it, as far as they are written in Python."""
    return [vars(base)["__init__"] for base in cls.__mro__ if hasattr(vars(base).get("__init__"), "__code__")]


def derive(cls):
    """Return what a class adds to a configuration and what of those above it takes.

    Parameters
    ----------
    cls : type
        The class.

    Returns
    -------
    Tuple[List[Tuple[str, str, bool]], Callable]
        Arguments with their attributes and whether None is left out, and whether an inherited one stays.

    """
    own, (first, *higher) = vars(cls), _initializers(cls)
    inherited = {name for initialize in higher for name in parameters(initialize)}
    new = [name for name in parameters(first) if name not in inherited] if "__init__" in own else []
    words = own.get("_arguments", REST).split()
    left_out = own.get("_left_out", "").split()
    told = [word.rstrip("?").partition("=") for word in words]
    named = {name for name, _, _ in told} | set(left_out)
    rows = []
    for word, (name, _, attribute) in zip(words, told):
        if name == REST:
            rows += [(other, other, False) for other in new if other not in named]
        else:
            rows.append((name, attribute or name, word.endswith("?")))
    taken = None if first.__code__.co_flags & WITH_MORE else set(parameters(first))
    return rows, lambda name: name not in left_out and (taken is None or name in taken)


def _derived(cls):
    """Return the `get_config` of a class; its arguments are looked at when it is first asked."""
    found = []

    def get_config(self):
        """Return the arguments that make an equal object."""
        if not found:
            found.append(derive(cls))
        rows, stays = found[0]
        inherit = getattr(super(cls, self), "get_config", None)
        inherited = {} if getattr(inherit, "_is_unwritten", inherit is None) else inherit()
        config = {name: value for name, value in inherited.items() if stays(name)}
        for name, attribute, is_optional in rows:
            value = described(name, _value_of(self, attribute))
            if value is not None or not is_optional:
                config[name] = value
        return config

    get_config.__module__, get_config.__qualname__ = cls.__module__, f"{cls.__qualname__}.get_config"
    return get_config


def _value_of(self, attribute):
    """Return an attribute, whether it is public or not."""
    return getattr(self, attribute if hasattr(self, attribute) else "_" + attribute)
