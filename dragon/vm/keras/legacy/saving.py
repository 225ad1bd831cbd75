"""keras.legacy.saving: objects as `{"class_name": ..., "config": ...}`, the older form."""
import inspect

from dragon.vm.keras.saving.registration import CustomObjectScope, get_registered_name, get_registered_object

_PASSIVE = "__passive_serialization__"


def serialize_keras_object(instance):
    """Return an object in the older form.

    Parameters
    ----------
    instance : Any
        An object with `get_config`, a function, a class, or None.

    Returns
    -------
    Union[Dict[str, Any], str, None]
        A name and a configuration, or the name of a function.

    """
    if instance is None:
        return None
    instance = inspect.unwrap(instance) if callable(instance) else instance
    if not hasattr(instance, "get_config") or inspect.isclass(instance):
        if hasattr(instance, "__name__"):
            return get_registered_name(instance)
        raise ValueError(f"Cannot serialize an object that doesn't implement `get_config()`. Received: {instance}")
    config = {}
    for key, item in instance.get_config().items():
        try:
            written = item if isinstance(item, str) else serialize_keras_object(item)
        except ValueError:
            written = item
        if isinstance(written, dict) and not isinstance(item, dict):
            written[_PASSIVE] = True
        config[key] = written
    return {"class_name": get_registered_name(type(instance)), "config": config}


def _find(name, custom_objects, module_objects, what):
    found = get_registered_object(name, custom_objects, module_objects)
    if found is None:
        raise ValueError(f"Unknown {what}: '{name}'. Please ensure you are using a `keras.utils.custom_object_scope` "
                         f"and that this object is included in the scope. Received: {name}")
    return found


def deserialize_keras_object(identifier, module_objects=None, custom_objects=None, printable_module_name="object"):
    """Return an object of its older form.

    Parameters
    ----------
    identifier : Union[Dict[str, Any], str, Callable, None]
        What `serialize_keras_object` returned.
    module_objects : Dict[str, Any], optional
        Where names are looked up.
    custom_objects : Dict[str, Any], optional
        Where they are looked up first.
    printable_module_name : str, optional, default="object"
        What errors call it.

    Returns
    -------
    Any
        The object.

    """
    if identifier is None or inspect.isfunction(identifier):
        return identifier
    if isinstance(identifier, str):
        found = _find(identifier, custom_objects, module_objects or {}, printable_module_name)
        return found() if inspect.isclass(found) else found
    if not isinstance(identifier, dict) or not {"class_name", "config"} <= set(identifier):
        raise ValueError(f"Improper config format: expected a dict with `class_name` and `config`. "
                         f"Received: {identifier}")
    cls = _find(identifier["class_name"], custom_objects, module_objects, printable_module_name)
    config = identifier["config"]
    if isinstance(config, dict):
        config = {key: _item(key, item, module_objects, custom_objects) for key, item in config.items()}
    if not hasattr(cls, "from_config"):
        with CustomObjectScope(custom_objects or {}):
            return cls(**config)
    if "custom_objects" in inspect.signature(cls.from_config).parameters:
        return cls.from_config(config, custom_objects=custom_objects or {})
    with CustomObjectScope(custom_objects or {}):
        return cls.from_config(config)


def _item(key, item, module_objects, custom_objects):
    if key == "name":
        return item
    if isinstance(item, dict) and _PASSIVE in item:
        item = {name: value for name, value in item.items() if name != _PASSIVE}
        return deserialize_keras_object(item, module_objects, custom_objects, "config_item")
    if isinstance(item, str):
        found = get_registered_object(item, custom_objects, module_objects)
        return found if inspect.isfunction(found) else item
    return item
