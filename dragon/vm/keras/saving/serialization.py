"""Objects as plain data, and plain data as objects: the configurations that Keras's files are made of."""
import types

from dragon.core import warnings
from dragon import _C
from dragon.core.scopes import contextmanager
from dragon.vm.keras.core import config as settings, global_state
from dragon.vm.keras.core.dtypes import standardize_dtype
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.saving import public_names, registration

PLAIN_TYPES = (str, int, float, bool)


class SerializableDict:
    """Arguments that an object was made with, as plain data.

    Parameters
    ----------
    **config : Any
        The arguments.

    """

    def __init__(self, **config):
        self.config = serialize_keras_object(config)

    def serialize(self):
        """Return the data."""
        return self.config


@contextmanager
def _remembered(**values):
    """Set thread's attributes within a block."""
    before = {name: global_state.get_global_attribute(name) for name in values}
    for name, value in values.items():
        global_state.set_global_attribute(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            global_state.set_global_attribute(name, value)


def SafeModeScope(safe_mode=True):
    """Say for a `with` block whether files may bring code."""
    return _remembered(safe_mode_saving=safe_mode)


def in_safe_mode():
    """Tell whether files may not bring code; None if nothing was said."""
    if settings.is_unsafe_deserialization_enabled():
        return False
    return global_state.get_global_attribute("safe_mode_saving")


def ObjectSharingScope():
    """Have objects that occur several times written, and read, as one within a `with` block."""
    return _remembered(shared_objects={}, shared_configs={})


def serialize_dict(mapping):
    """Return a dict whose values are plain data."""
    return {key: serialize_keras_object(value) for key, value in mapping.items()}


def serialize_keras_object(obj):
    """Return an object as plain data, which can be written as JSON.

    Parameters
    ----------
    obj : Any
        A layer, a model, an optimizer, a function, a tensor, a dtype, or lists and dicts of such.

    """
    if obj is None or isinstance(obj, PLAIN_TYPES):
        return obj
    if hasattr(obj, "as_list") and isinstance(obj, tuple):  # TensorShape
        return obj.as_list()
    if isinstance(obj, (list, tuple)):
        values = [serialize_keras_object(value) for value in obj]
        return tuple(values) if isinstance(obj, tuple) else values
    if isinstance(obj, dict):
        return serialize_dict(obj)
    special = _serialize_special(obj)
    if special is not None:
        return special
    return _serialize_object(obj)


def _serialize_special(obj):
    """Return what has a form of its own as plain data, or None."""
    if isinstance(obj, bytes):
        return {"class_name": "__bytes__", "config": {"value": obj.decode("utf-8")}}
    if isinstance(obj, slice):
        return {"class_name": "__slice__", "config": {
            name: serialize_keras_object(getattr(obj, name)) for name in ("start", "stop", "step")}}
    if obj is Ellipsis:
        return {"class_name": "__ellipsis__", "config": {}}
    if isinstance(obj, KerasTensor):
        history = getattr(obj, "_keras_history", None)
        return {"class_name": "__keras_tensor__", "config": {
            "shape": obj.shape, "dtype": obj.dtype,
            "keras_history": [history[0].name, *history[1:]] if history else None}}
    if isinstance(obj, _C.dtype):
        return obj.name
    if isinstance(obj, _C.Tensor):
        return {"class_name": "__tensor__", "config": {
            "value": obj.numpy().tolist(), "dtype": standardize_dtype(obj.dtype)}}
    if type(obj).__module__ == "numpy":
        if getattr(obj, "ndim", 0) > 0:
            return {"class_name": "__numpy__", "config": {
                "value": obj.tolist(), "dtype": standardize_dtype(obj.dtype)}}
        return obj.item() if hasattr(obj, "item") else None
    if isinstance(obj, types.FunctionType) and obj.__name__ == "<lambda>":
        from dragon.vm.keras.saving.code import dump_function
        warnings.warn("The object being serialized includes a `lambda`. This is unsafe. In order to reload the object, "
                      "you will have to pass `safe_mode=False` to the loading function. Please avoid using `lambda` in "
                      f"the future, and use named Python functions instead. Received: {obj}")
        return {"class_name": "__lambda__", "config": {"value": dump_function(obj)}}
    return None


def _serialize_object(obj):
    inner = _inner_config(obj)
    is_function = isinstance(obj, types.FunctionType)
    public = None if is_function else public_names.find_public_name(type(obj))
    if public is not None:
        config = {"module": public[0], "class_name": public[1], "config": inner, "registered_name": None}
    else:
        kind = obj if is_function else type(obj)
        module = public_names.find_source_name(kind)
        if is_function and (found := public_names.find_public_name(obj)):
            module = "builtins" if found[0] in ("keras.activations",) else found[0]
        registered = None if module == "builtins" and not is_function else registration.get_registered_name(kind)
        config = {"module": module, "class_name": type(obj).__name__, "config": inner, "registered_name": registered}
        if is_function:
            config["module"] = "builtins" if public_names.find_inner_module(obj) is None else module
            config["module"] = obj.__module__ if config["module"] == "builtins" and not module.startswith("keras") \
                and module != "builtins" else config["module"]
    for word in ("build", "compile"):
        method = getattr(obj, f"get_{word}_config", None)
        if method is not None and (extra := method()) is not None:
            config[f"{word}_config"] = serialize_dict(extra)
    _note_written(obj, config)
    return config


def _note_written(obj, config):
    if config["module"] == "__main__":
        config["module"] = None
    written = global_state.get_global_attribute("shared_configs")
    if written is None:
        return
    first = written.setdefault(id(obj), config)
    if first is not config:
        config["shared_object_id"] = first["shared_object_id"] = id(obj)


def _inner_config(obj):
    if isinstance(obj, types.FunctionType):
        return registration.get_registered_name(obj)
    if hasattr(obj, "get_config"):
        config = obj.get_config()
        if not isinstance(config, dict):
            raise TypeError(f"The `get_config()` method of {obj} should return a dict. It returned: {config}")
        return serialize_dict(config)
    if hasattr(obj, "__name__"):
        return registration.get_registered_name(obj)
    raise TypeError(f"Cannot serialize object {obj} of type {type(obj)}. To be serializable, a class must implement "
                    "the `get_config()` method.")


def deserialize_keras_object(config, custom_objects=None, safe_mode=True, **kwargs):
    """Return the object of plain data.

    Parameters
    ----------
    config : Any
        What `serialize_keras_object` returned, here or in Keras.
    safe_mode : bool, optional, default=True
        Whether data may bring no code (lambdas).
    module_objects : Dict[str, Any], optional
        Classes and functions that may be named alone.

    """
    said = in_safe_mode()
    safe_mode = safe_mode if said is None else said
    module_objects = kwargs.pop("module_objects", None)
    if kwargs:
        raise TypeError(f"deserialize_keras_object: got unexpected keyword arguments. Received: {sorted(kwargs)}")
    custom = {**(custom_objects or {}), **(global_state.get_global_attribute("custom_objects_scope_dict") or {}),
              **registration.get_custom_objects()}
    if config is None:
        return None
    if isinstance(config, str) and custom.get(config) is not None:
        return custom[config]
    if isinstance(config, (list, tuple)):
        return [deserialize_keras_object(value, custom_objects, safe_mode) for value in config]
    if module_objects is not None:
        return _deserialize_among(config, module_objects, custom_objects, custom, safe_mode)
    if isinstance(config, PLAIN_TYPES):
        return config
    if not isinstance(config, dict):
        raise TypeError(f"Could not parse config: {config}")
    if "class_name" not in config or "config" not in config:
        return {key: deserialize_keras_object(value, custom_objects, safe_mode) for key, value in config.items()}
    found, value = _deserialize_special(config, custom_objects, safe_mode)
    return value if found else _deserialize_object(config, custom, safe_mode)


def _deserialize_among(config, module_objects, custom_objects, custom, safe_mode):
    """Return an object whose class or function may be named alone."""
    name, inner = config, None
    if isinstance(config, dict):
        if "class_name" not in config:
            raise ValueError(f"Unknown `config` as a `dict`, config={config}")
        inner, name = config.get("config"), config["class_name"]
        if name in custom or config.get("registered_name") in custom or isinstance(inner, str) and inner in custom:
            return deserialize_keras_object(config, custom_objects, safe_mode)
        if name == "function":
            name = inner if config["module"] == "builtins" else config["registered_name"]
        elif config.get("module", "_") is None:
            raise TypeError(f"Cannot deserialize object of type `{name}`. If `{name}` is a custom class, please "
                            "register it using the `@keras.saving.register_keras_serializable()` decorator. "
                            f"Received: config={config}")
    if name not in module_objects:
        if isinstance(inner, dict) and config.get("module"):  # another kind of thing, as a layer for an activation
            return deserialize_keras_object(config, custom_objects, safe_mode)
        return name  # whoever asked says what is wrong with it
    thing = module_objects[name]
    if isinstance(thing, types.FunctionType):
        return thing
    with registration.CustomObjectScope(custom):
        return thing.from_config(inner or {}) if hasattr(thing, "from_config") else thing


def _deserialize_special(config, custom_objects, safe_mode):
    """Return whether data has a form of its own, and its object."""
    inner = config["config"]
    name = config["class_name"]
    if name == "__keras_tensor__":
        x = KerasTensor(inner["shape"], dtype=inner["dtype"])
        x._written_history = inner["keras_history"]
        return True, x
    if name == "__tensor__":
        from dragon.vm.keras.core.convert import convert_to_tensor
        return True, convert_to_tensor(inner["value"], dtype=inner["dtype"])
    if name == "__numpy__":
        import numpy as np
        return True, np.array(inner["value"], dtype=inner["dtype"])
    if name == "__bytes__":
        return True, inner["value"].encode("utf-8")
    if name == "__ellipsis__":
        return True, Ellipsis
    if name == "__slice__":
        return True, slice(*(deserialize_keras_object(inner[word], custom_objects, safe_mode)
                             for word in ("start", "stop", "step")))
    if name == "__lambda__":
        if safe_mode:
            raise ValueError("Requested the deserialization of a Python lambda. This carries a potential risk of "
                             "arbitrary code execution and thus it is disallowed by default. If you trust the source "
                             "of the artifact, you can override this error by passing `safe_mode=False` to the loading "
                             "function, or calling `keras.config.enable_unsafe_deserialization()`.")
        from dragon.vm.keras.saving.code import load_function
        return True, load_function(inner["value"])
    if name == "__typespec__":
        from dragon.vm.shared.tensors.type_spec import TensorSpec
        if not isinstance(inner, (list, tuple)):
            raise TypeError("Invalid configuration of a type spec. Expected 'config' to be a list or a tuple. "
                            f"Received: config={inner!r}")
        if config.get("spec_name") != "TensorSpec":
            raise NotImplementedError(f"Could not deserialize a type spec: expected TensorSpec. Received: {config}")
        return True, TensorSpec(*inner)
    return False, None


def _deserialize_object(config, custom, safe_mode):
    """Return an object of a class, or a function."""
    name, inner = config["class_name"], config["config"] if config["config"] is not None else {}
    if name == "function":
        if not isinstance(inner, str):
            raise TypeError(f"Expected 'config' to be a non-null str for a function classname,\ninstead got "
                            f"{type(inner)}\nFull config: {config}")
        return _retrieve(inner, inner, config, "function", custom, safe_mode)
    if not isinstance(inner, dict):
        raise TypeError(f"Expected 'config' to be a dict for {name},\ninstead got {type(inner)}\nFull config: {config}")
    shared = global_state.get_global_attribute("shared_objects")
    number = config.get("shared_object_id")
    if number is not None and shared is not None and number in shared:
        return shared[number]
    cls = _retrieve(name, config.get("registered_name", name), config, "class", custom, safe_mode)
    if isinstance(cls, types.FunctionType):
        return cls
    if not hasattr(cls, "from_config"):
        raise TypeError(f"Unable to reconstruct an instance of '{name}' because the class is missing a `from_config()` "
                        f"method. Full object config: {config}")
    with registration.CustomObjectScope(custom), SafeModeScope(safe_mode):
        try:
            made = cls.from_config(dict(inner))
        except TypeError as error:
            raise TypeError(f"{cls} could not be deserialized properly. Please ensure that components that are Python "
                            "object instances (layers, models, etc.) returned by `get_config()` are explicitly "
                            f"deserialized in the model's `from_config()` method.\n\nconfig={config}.\n\n"
                            f"Exception encountered: {error}") from error
        if config.get("build_config") and not made.built:
            made.build_from_config(config["build_config"])
            made.built = True
        if config.get("compile_config"):
            made.compile_from_config(config["compile_config"])
            made.compiled = True
    if number is not None and shared is not None:
        shared[number] = made
    return made


def _retrieve(name, registered, config, kind, custom, safe_mode):
    """Return the class or function that data names."""
    found = registration.get_registered_object(name if kind == "function" else registered, custom_objects=custom)
    if found is not None:
        return found
    module = config.get("module")
    if module and module.split(".")[0] in public_names.PACKAGES:
        found = public_names.find_thing(module, name) if module.split(".")[0] == "keras" else None
        found = public_names.find_held(module, name) if found is None else found
        if found is not None and safe_mode and not public_names.may_be_named(found):
            raise ValueError(f"Requested the deserialization of '{module}.{name}', which is no layer, operation, loss, "
                             "metric or the like and could reach files and networks, so that it is disallowed by "
                             "default. If you trust the source of the artifact, you can override this error by passing "
                             "`safe_mode=False` to the loading function, or calling "
                             "`keras.config.enable_unsafe_deserialization()`.")
        if found is not None:
            return found
        raise ValueError(f"Could not deserialize '{module}.{name}' because there is no such layer, operation, loss, "
                         f"metric or function. Full object config: {config}")
    if module == "builtins" and kind == "function":
        for family in public_names.BUILTINS:
            found = public_names.find_thing(f"keras.{family}", name)
            if found is not None:
                return found
        for full, thing in custom.items():
            if full.endswith(f">{name}"):
                return thing
    raise TypeError(f"Could not locate {kind} '{name}'. Make sure custom classes and functions are decorated with "
                    "`@keras.saving.register_keras_serializable()`. If they are already decorated, make sure they are "
                    "all imported so that the decorator is run before trying to load them. Full object config: "
                    f"{config}")
