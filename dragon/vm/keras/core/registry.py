"""Things that are known by name: what `get`, `serialize` and `deserialize` of each namespace do."""
import inspect


def resolve(kind, identifier, table, deserialize=None):
    """Return what an identifier stands for.

    Parameters
    ----------
    kind : str
        What is looked for, to tell in errors.
    identifier : Any
        A name, a configuration, a class, or the thing itself.
    table : Dict[str, Any]
        What is known by name.
    deserialize : Callable, optional
        What makes the thing of a configuration.

    """
    if isinstance(identifier, dict) and deserialize is not None:
        found = deserialize(identifier)
    elif isinstance(identifier, str):
        found = table.get(identifier)
    else:
        found = identifier
    if not callable(found):
        raise ValueError(f"Could not interpret {kind} identifier: {identifier}")
    return found() if inspect.isclass(found) else found


def serialize(thing):
    """Return the configuration of a thing."""
    from dragon.vm.keras.saving.serialization import serialize_keras_object

    return serialize_keras_object(thing)


def deserialize(config, table, custom_objects=None):
    """Return what a configuration describes, known by name in `table`."""
    from dragon.vm.keras.saving.serialization import deserialize_keras_object

    return deserialize_keras_object(config, module_objects=table, custom_objects=custom_objects)
