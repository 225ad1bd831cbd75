"""`tf.Module`: an object that finds the variables and modules among its attributes; names of variables have scopes."""
import functools
import re

from dragon.vm.shared.tensors import variable
from dragon.vm.shared.tensors.tensor import Base, Tensor


class name_scope:
    """Put a name before those of variables made within a `with` block.

    Parameters
    ----------
    name : str
        The name; an empty one begins anew, one that ends in "/" is taken as it is.

    """

    def __init__(self, name):
        if not isinstance(name, str):
            raise ValueError(f"name for name_scope must be a string. Received: {name!r}")
        self._name = name

    name = property(lambda self: self._name, doc="str: the name.")

    def __enter__(self):
        self._scopes = [*getattr(self, "_scopes", ()), variable.open_scope(self._name)]
        return self._scopes[-1].__enter__()

    def __exit__(self, *error):
        if not getattr(self, "_scopes", None):
            raise TypeError("name_scope.__exit__: the scope was not entered")
        return self._scopes.pop().__exit__(*error)


def get_current_name_scope():
    """Return the names of the scopes that are open, joined by "/"."""
    return "/".join(getattr(variable._local, "scopes", ()))


def camel_to_snake(name):
    """Return "my_module" for "MyModule"."""
    return re.sub(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))", r"_\1", name).lower()


class Module:
    """An object that knows the variables and modules among its attributes.

    Parameters
    ----------
    name : str, optional
        A Python identifier; by default the name of the class.

    Examples
    --------
    >>> class Scale(tf.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = tf.Variable(2.0)
    ...     def __call__(self, x):
    ...         return x * self.factor
    >>> scale = Scale()
    >>> scale(3.0).numpy(), len(scale.trainable_variables)
    (np.float32(6.0), 1)

    """

    _TF_MODULE_IGNORED_PROPERTIES = frozenset()

    def __init__(self, name=None):
        if name is None:
            name = camel_to_snake(type(self).__name__)
        elif not (isinstance(name, str) and name.isidentifier()):
            raise ValueError(f"{name!r} is not a valid module name. Module names must be valid Python identifiers "
                             "(e.g. a valid class name).")
        self._name = name
        self._scope_name = self._make_scope()

    def _make_scope(self):
        prefix = get_current_name_scope()
        return f"{prefix}/{self.name}/" if prefix else f"{self.name}/"

    name = property(lambda self: getattr(self, "_name", camel_to_snake(type(self).__name__)), doc="str: the name.")

    @property
    def name_scope(self):
        """name_scope: puts the module's name before those of variables."""
        if not hasattr(self, "_scope_name"):
            self._scope_name = self._make_scope()
        return name_scope(self._scope_name)

    variables = property(lambda self: tuple(self._flatten(predicate=_is_variable)),
                         doc="Tuple[Variable, ...]: all variables of the module and those below it.")

    @property
    def trainable_variables(self):
        """Tuple[Variable, ...]: those that tapes watch by themselves."""
        return tuple(self._flatten(predicate=lambda item: _is_variable(item) and item.trainable))

    @property
    def non_trainable_variables(self):
        """Tuple[Variable, ...]: the others."""
        return tuple(self._flatten(predicate=lambda item: _is_variable(item) and not item.trainable))

    submodules = property(lambda self: tuple(self._flatten(predicate=_is_module)),
                          doc="Tuple[Module, ...]: all modules below this one.")

    @classmethod
    def with_name_scope(cls, method):
        """Return a method that runs within the module's name scope."""
        @functools.wraps(method)
        def scoped(self, *args, **kwargs):
            with self.name_scope:
                return method(self, *args, **kwargs)
        return scoped

    def _flatten(self, recursive=True, predicate=None, with_path=False):
        """Yield everything among the attributes that a predicate takes, attributes in order of their names.

        Parameters
        ----------
        recursive : bool, optional, default=True
            Whether modules among the attributes are asked too.
        predicate : Callable, optional
            What is wanted; everything by default.
        with_path : bool, optional, default=False
            Whether (path, value) is yielded.

        Yields
        ------
        Any
            Each object once.

        """
        seen = {id(self)}
        later = [((), self)]
        while later:
            (path, module), *later = later
            below = []
            for place, value in _attributes(module, path):
                if id(value) in seen:
                    continue
                seen.add(id(value))
                if predicate is None or predicate(value):
                    yield (place, value) if with_path else value
                if recursive and (_is_module(value) or _has_variables(value)):
                    below.append((place, value))
            later = below + later if not below else [*below, *later]


def _is_variable(value):
    return isinstance(value, Base) and not isinstance(value, Tensor) or hasattr(value, "is_string_variable")


def _is_module(value):
    return isinstance(value, Module)


def _has_variables(value):
    """Return whether something like a layer of Keras holds variables of its own."""
    return not isinstance(value, (Base, Module, type)) and hasattr(type(value), "trainable_variables")


def _attributes(module, path):
    """Yield (path, value) of the leaves among a module's attributes."""
    if _has_variables(module):
        for index, found in enumerate(module.variables):
            yield (*path, index), found
        return
    attributes = vars(module)
    ignored = {"_name", "_scope_name", *module._TF_MODULE_IGNORED_PROPERTIES}
    for key in sorted(attributes):
        if key not in ignored:
            yield from _leaves(attributes[key], (*path, key))


def _leaves(value, path):
    """Yield (path, leaf) of nested lists and dictionaries."""
    if isinstance(value, dict):
        try:
            keys = sorted(value)
        except TypeError:
            keys = list(value)
        for key in keys:
            yield from _leaves(value[key], (*path, key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _leaves(item, (*path, index))
    else:
        yield path, value
