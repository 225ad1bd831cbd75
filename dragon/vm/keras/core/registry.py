"""Things that are known by name: what `get`, `serialize` and `deserialize` of each namespace do."""
import inspect

from dragon.vm.keras.core.configuration import KINDS
from dragon.vm.keras.core.naming import to_snake_case


class Registry:
    """The things of a namespace, each by its name; a namespace's `get`, `serialize` and `deserialize` are the methods.

    Parameters
    ----------
    kind : str
        What the things are, to tell in errors.
    things : Sequence[Union[type, Callable]]
        What is known by its own name.
    snake_case : bool, optional, default=True
        Whether classes are known in small letters with underscores, too.
    **spellings
        Things under further names.

    """

    def __init__(self, kind, things, snake_case=True, **spellings):
        self.kind, self.things = kind, tuple(things)
        self.table = {thing.__name__: thing for thing in self.things}
        if snake_case:
            self.table.update({to_snake_case(thing.__name__): thing for thing in self.things})
        self.table.update(spellings)
        KINDS[kind.partition(" ")[0]] = self

    def serialize(self, thing):
        """Return the configuration of a thing.

        Parameters
        ----------
        thing : Any
            One of the namespace's things, or a user's own.

        """
        return serialize(thing)

    def deserialize(self, config, custom_objects=None):
        """Return what a configuration describes.

        Parameters
        ----------
        config : Union[str, dict]
            What `serialize` returned.
        custom_objects : Dict[str, Any], optional
            More things that are known by name.

        """
        from dragon.vm.keras.saving.serialization import deserialize_keras_object

        return deserialize_keras_object(config, module_objects=self.table, custom_objects=custom_objects)

    def get(self, identifier):
        """Return a thing by its name, configuration, class, or as it is; None for None.

        Parameters
        ----------
        identifier : Optional[Union[str, dict, type, Callable]]
            What to look for.

        """
        if identifier is None:
            return None
        found = identifier
        if isinstance(identifier, dict):
            found = self.deserialize(identifier)
        elif isinstance(identifier, str):
            found = self.table.get(identifier)
        if not callable(found):
            raise self.unknown(identifier)
        return found() if inspect.isclass(found) else found

    def unknown(self, identifier):
        """Return the error for what nothing is known by."""
        return ValueError(f"Could not interpret {self.kind} identifier: {identifier}")


def serialize(thing):
    """Return the configuration of a thing."""
    from dragon.vm.keras.saving.serialization import serialize_keras_object

    return serialize_keras_object(thing)


def deserialize(config, custom_objects=None):
    """Return the thing that a configuration describes."""
    from dragon.vm.keras.saving.serialization import deserialize_keras_object

    return deserialize_keras_object(config, custom_objects=custom_objects)


def with_objects(config, names, custom_objects=None):
    """Return a configuration in which some arguments, unless they are None, are the objects that they describe.

    Parameters
    ----------
    names : str
        Which of them are descriptions, with blanks between.

    """
    return {**config, **{name: deserialize(config[name], custom_objects)
                         for name in names.split() if config[name] is not None}}
