"""Models that are pickled, or copied deeply: they go through the bytes of a file."""
import io


def reduce_model(model):
    """Return what `pickle` needs to make a model again: the bytes of its `.keras` file. ..."""
    from dragon.vm.keras.saving.files import write_archive
    file = io.BytesIO()
    write_archive(model, file)
    return revive_model, (file.getvalue(), _classes_of(model))


def revive_model(data, classes=None):
    """Return the model of a file's bytes.

    Parameters
    ----------
    data : bytes
        The bytes.
    classes : Dict[str, type], optional
        The user's own classes by name.

    """
    from dragon.vm.keras.saving.files import read_archive
    return read_archive(io.BytesIO(data), custom_objects=classes, safe_mode=False)


def _classes_of(model):
    """Return the user's own classes in a model by name: a pickle finds them where they are defined."""
    from dragon.vm.keras.saving.public_names import find_inner_module
    kinds = {type(layer) for layer in model._flatten_layers()}
    return {kind.__name__: kind for kind in kinds
            if find_inner_module(kind) is None and not kind.__module__.startswith("dragon.")}
