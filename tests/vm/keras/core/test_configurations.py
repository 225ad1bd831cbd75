"""Configurations: derived from the arguments of an `__init__`, as genuine Keras writes them by hand."""
import inspect

import pytest

from dragon.vm import keras
from dragon.vm.keras.core import configuration
from harness import genuine
from harness.subresults import each

NAMESPACES = ("layers", "losses", "metrics", "optimizers", "optimizers.schedules", "initializers", "regularizers",
              "constraints", "quantizers", "dtype_policies", "random", "distillation")
WORDS = {"units": 3, "filters": 3, "kernel_size": 2, "pool_size": 2, "output_size": 2, "rate": 0.5, "stddev": 0.5,
         "n": 2, "dims": (2, 1), "target_shape": (2, 3), "axes": 1, "scale": 0.5, "height": 3, "width": 4,
         "factor": 0.2, "height_factor": 0.2, "width_factor": 0.2, "num_bins": 3, "num_heads": 2, "key_dim": 3,
         "head_dim": 3, "num_query_heads": 4, "num_key_value_heads": 2, "input_dim": 5, "output_dim": 2,
         "activation": "relu", "num_classes": 3, "target_class_ids": [0, 1], "specificity": 0.5, "sensitivity": 0.5,
         "recall": 0.5, "precision": 0.5, "learning_rate": 0.1, "initial_learning_rate": 0.1, "decay_steps": 5,
         "decay_rate": 0.5, "first_decay_steps": 5, "boundaries": [1, 2], "values": [1.0, 2.0, 3.0], "mode": "int8",
         "max_number": 4, "equation": "ab,bc->ac", "output_shape": 3}


def below(cls):
    """Return all of Keras's own classes below a class."""
    found = [other for sub in cls.__subclasses__() for other in (sub, *below(sub))]
    return [other for other in dict.fromkeys(found) if other.__module__.startswith(configuration.ROOM)]


def public_classes():
    """Return the public classes that have configurations, each with the namespace and the name."""
    found = []
    for space in NAMESPACES:
        module = inspect.getmodule(keras)
        for part in space.split("."):
            module = getattr(module, part)
        found += [(space, name) for name in sorted(vars(module))
                  if inspect.isclass(vars(module)[name]) and issubclass(vars(module)[name], configuration.Configured)]
    return found


def make(root, space, name):
    """Return an object of a class with arguments that fit; None where there are none that do."""
    cls = root
    for part in (*space.split("."), name):
        cls = getattr(cls, part)
    parameters = inspect.signature(cls).parameters.values()
    wanted = [each.name for each in parameters if each.default is each.empty
              and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
    if not set(wanted) <= set(WORDS):
        return None
    given = {"mode": "float8"} if name == "QuantizedFloat8DTypePolicy" else {}
    try:
        return cls(**{**{word: WORDS[word] for word in wanted}, **given})
    except (ValueError, TypeError):
        return None


def shown(config):
    """Return a configuration with its keys in order, functions by their names."""
    if isinstance(config, dict):
        return [(key, shown(value)) for key, value in config.items()]
    if isinstance(config, (list, tuple)):
        return [shown(value) for value in config]
    return config if config is None or isinstance(config, (str, bool, int, float)) else getattr(config, "__name__", "?")


@each("space, name", public_classes(), ids=map(".".join, public_classes()))
def test_what_a_configuration_makes_has_the_same_one(space, name):
    thing = make(keras, space, name)
    if thing is None or not hasattr(thing, "get_config"):
        pytest.skip("an abstract class, or one that takes objects")
    try:
        config = thing.get_config()
    except NotImplementedError:
        return
    assert shown(type(thing).from_config(config).get_config()) == shown(config)
    theirs = make(genuine.keras, space, name)
    if theirs is not None and not name.endswith("IoU"):  # of which genuine files have the name elsewhere
        assert list(config) == list(theirs.get_config())


def test_what_is_told_is_more_than_would_be_derived():
    for cls in below(configuration.Configured):
        if "_arguments" not in vars(cls):
            continue
        told, _ = configuration.derive(cls)
        plain, _ = configuration.derive(type(cls.__name__, (cls,), {
            "__module__": "tests", "__init__": cls.__init__, **{
                name: value for name, value in vars(cls).items() if name == "_left_out"}}))
        assert told != plain or "__init__" not in vars(cls), f"{cls.__name__}._arguments says what the signature does"


@each("space, name", public_classes(), ids=map(".".join, public_classes()))
def test_no_method_repeats_what_would_be_derived(space, name):
    thing = make(keras, space, name)
    cls = type(thing)
    method = vars(cls).get("get_config")
    if method is None or "__init__" not in vars(cls) or method.__code__.co_filename == configuration.__file__:
        return
    if configuration.Configured in cls.__bases__ or cls is keras.initializers.Constant:
        return  # the first of a family begins; constants may be arrays, which is not seen here
    try:
        derived = configuration._derived(cls)(thing)
    except AttributeError:
        return
    assert shown(derived) != shown(method(thing)), f"{name}.get_config says what would be derived"


class Plain(keras.layers.Layer):
    """A layer of a user that says nothing."""

    def __init__(self, size, scale=2.0, **kwargs):
        super().__init__(**kwargs)
        self.size, self.scale = size, scale


class Wide(keras.layers.Dense):
    """A layer of a user below one of Keras's, that says nothing of its own argument."""

    def __init__(self, units=3, extra=1, **kwargs):
        super().__init__(units, **kwargs)
        self.extra = extra


class Told(Wide):
    """One that does."""

    def get_config(self):
        return {**super().get_config(), "extra": self.extra}


def test_classes_of_users_have_what_they_write():
    config = Plain(4, name="p").get_config()
    assert {**config, "dtype": None} == {"name": "p", "size": 4, "scale": 2.0, "trainable": True, "dtype": None}
    assert "extra" not in Wide(extra=5).get_config()
    assert Told.from_config(Told(units=4, extra=5).get_config()).extra == 5
    assert "get_config" not in vars(Wide)
    with pytest.raises(NotImplementedError, match="must override `get_config"):
        Plain(keras.layers.Dense(1)).get_config()
