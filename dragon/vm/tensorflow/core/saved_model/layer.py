"""`keras.layers.TFSMLayer`: a program that was saved as a layer, whose weights are the program's variables."""
from dragon.vm.keras.layers.core.module_wrapper import adopt_variable
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.keras.saving.serialization import in_safe_mode
from dragon.vm.shared.naming import known_as
from dragon.vm.tensorflow.core.saved_model.loading import load


@known_as("keras.layers")
class TFSMLayer(Layer):
    """A model that was written by `model.export(path)` or `tf.saved_model.save`, as a layer.

    Parameters
    ----------
    filepath : str
        The folder.
    call_endpoint : str, optional, default="serve"
        The function that is called, an attribute of what was saved or one of its signatures.
    call_training_endpoint : str, optional
        The function that is called in training instead.
    trainable : bool, optional, default=True
        Whether the variables that were trainable are.
    name : str, optional
        The layer's name.
    dtype : Union[str, DTypePolicy], optional
        What the inputs are cast to.

    """

    def __init__(self, filepath, call_endpoint="serve", call_training_endpoint=None, trainable=True, name=None,
                 dtype=None):
        super().__init__(trainable=trainable, name=name, dtype=dtype)
        reloaded = load(filepath)
        self.filepath = filepath
        self.call_endpoint, self.call_training_endpoint = call_endpoint, call_training_endpoint
        self.__dict__["call_endpoint_fn"] = _find(reloaded, call_endpoint)
        self.__dict__["call_training_endpoint_fn"] = (
            _find(reloaded, call_training_endpoint) if call_training_endpoint else None)
        self.__dict__["_reloaded_obj"] = reloaded
        known = {}
        for function in (self.call_endpoint_fn, self.call_training_endpoint_fn):
            known.update((id(variable), variable) for variable in getattr(function, "variables", ()))
        for variable in known.values():
            self._note(variable, variable.trainable)
        self.built = True

    def _note(self, variable, trainable):
        path = f"{self.name}/{variable._name.replace('/', '_')}"
        self._tracker.add_to_store("trainable_variables" if trainable else "non_trainable_variables",
                                   adopt_variable(variable, path, trainable))

    def call(self, inputs, training=False, **kwargs):
        """Return what the program makes of inputs."""
        if training and self.call_training_endpoint_fn is not None:
            return self.call_training_endpoint_fn(inputs, **kwargs)
        return self.call_endpoint_fn(inputs, **kwargs)

    def get_config(self):
        """Return the configuration; the program stays in its folder."""
        return {**super().get_config(), "filepath": self.filepath, "call_endpoint": self.call_endpoint,
                "call_training_endpoint": self.call_training_endpoint}

    @classmethod
    def from_config(cls, config, custom_objects=None, safe_mode=None):
        """Make a layer from its configuration, where files may name programs.

        Parameters
        ----------
        config : dict
            What `get_config` returned.
        custom_objects : dict, optional
            Not used: a program has no classes.
        safe_mode : bool, optional
            False says that the program may be read.

        Returns
        -------
        TFSMLayer
            The layer.

        """
        if (in_safe_mode() if safe_mode is None else safe_mode) is not False:
            raise ValueError("Requested the deserialization of a `TFSMLayer`, which reads a program from a folder: "
                             "files that name one are refused unless they are trusted. Pass `safe_mode=False`, or call "
                             f"keras.config.enable_unsafe_deserialization(). Received: config={config}")
        return cls(**config)


def _find(reloaded, name):
    """Return a function of a program by its name."""
    found = getattr(reloaded, name, None)
    if callable(found):
        return found
    signatures = getattr(reloaded, "signatures", {})
    if name in signatures:
        return signatures[name]
    raise ValueError(f"The endpoint '{name}' is neither an attribute of the reloaded SavedModel, nor an entry in the "
                     "`signatures` field of the reloaded SavedModel. Select another endpoint. Available endpoints for "
                     f"this SavedModel: {list(signatures)}")
