"""`save_model`, `load_model` and their like for weights: which file it is, its name tells."""
import io
import os

from dragon.core import warnings
from dragon.vm.keras.core.messages import ask_to_proceed_with_overwrite
from dragon.vm.keras.saving import files, orbax
from dragon.vm.keras.saving.once import by_one
from dragon.vm.keras.saving.registration import custom_object_scope


def _may_write(path, overwrite):
    """Return whether a file may be written; asks if there is one and nobody said."""
    if overwrite or not os.path.exists(path):
        return True
    return ask_to_proceed_with_overwrite(path)


@by_one
def save_model(model, filepath, overwrite=True, zipped=None, **kwargs):
    """Write a model into a file: configuration, weights, and the optimizer's state.

    Parameters
    ----------
    filepath : Union[str, io.IOBase]
        The file: `.keras`, or `.h5` for the older format; with `zipped=False`, a folder.
    zipped : bool, optional
        Whether it is one file, which is the default for `.keras`.
    include_optimizer : bool, optional, default=True
        Of `.h5` files: whether the optimizer's state is written.

    """
    include_optimizer = kwargs.pop("include_optimizer", True)
    save_format = kwargs.pop("save_format", None)
    if save_format:
        deprecated = "The `save_format` argument is deprecated in Keras 3. "
        if not str(filepath).endswith((".h5", ".hdf5", ".keras")):
            raise ValueError(f"{deprecated}Please remove this argument and pass a file path with either `.keras` or "
                             f"`.h5` extension. Received: save_format={save_format}")
        warnings.warn(f"{deprecated}We recommend removing this argument as the file path tells the format. "
                      f"Received: save_format={save_format}")
    if kwargs:
        raise ValueError(f"The following argument(s) are not supported: {list(kwargs.keys())}")
    if isinstance(filepath, io.IOBase):
        files.warn_unbuilt(model)
        return files.write_archive(model, filepath)
    path = os.fspath(filepath)
    if path.startswith("hf://") or "://" in path:
        raise NotImplementedError(f"save_model: remote places are not written to. Received: filepath={path}")
    is_h5 = path.endswith((".h5", ".hdf5"))
    if zipped is None:
        zipped = True
    if not zipped and path.endswith(".keras"):
        raise ValueError("When using `zipped=False`, the `filepath` argument should not end in `.keras`. "
                         f"Received: filepath={path}")
    if zipped and not (is_h5 or path.endswith(".keras")):
        raise ValueError("Invalid filepath extension for saving. Please add either a `.keras` extension for the native "
                         f"Keras format (recommended) or a `.h5` extension. Received: filepath={path}.")
    if not _may_write(path, overwrite):
        return None
    if is_h5:
        from dragon.vm.keras.saving import legacy_h5
        return legacy_h5.write_model(model, path, include_optimizer)
    files.warn_unbuilt(model)
    return files.write_archive(model, path) if zipped else files.write_folder(model, path)


def load_model(filepath, custom_objects=None, compile=True, safe_mode=True):
    """Return the model of a file that `save_model`, or genuine Keras, wrote.

    Parameters
    ----------
    filepath : Union[str, io.IOBase]
        The file, or a folder of `OrbaxCheckpoint`.
    compile : bool, optional, default=True
        Whether the model is compiled as it was.
    safe_mode : bool, optional, default=True
        Whether a file that brings code (lambdas) is refused.

    Returns
    -------
    Model
        The model.

    Examples
    --------
    >>> import os, tempfile
    >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.keras")
    ...     model.save(path)
    ...     again = keras.models.load_model(path)
    >>> x = np.ones((1, 2))
    >>> bool((again.predict(x, verbose=0) == model.predict(x, verbose=0)).all())
    True

    """
    if isinstance(filepath, io.IOBase):
        return files.read_archive(filepath, custom_objects, compile, safe_mode)
    path = os.fspath(filepath)
    if not os.path.exists(path) and path.endswith((".keras", ".h5", ".hdf5")):
        raise ValueError(f"File not found: filepath={path}. Please ensure the file is an accessible `.keras` zip file.")
    if path.endswith(".keras") or os.path.isdir(path) and os.path.exists(os.path.join(path, files.CONFIG)):
        return files.read_archive(path, custom_objects, compile, safe_mode)
    if path.endswith((".h5", ".hdf5")):
        from dragon.vm.keras.saving import legacy_h5
        with custom_object_scope(custom_objects or {}):
            return legacy_h5.read_model(path, custom_objects, compile, safe_mode)
    if orbax.is_checkpoint(path):
        return orbax.read_model(path, custom_objects, compile, safe_mode)
    if os.path.isdir(path):
        raise ValueError("File format not supported: Keras 3 only supports V3 `.keras` files and legacy H5 format "
                         f"files (`.h5` extension), no SavedModel folders. Received: filepath={path}")
    raise ValueError(f"File format not supported: expected a `.keras` or `.h5` file. Received: filepath={path}")


@by_one
def save_weights(model, filepath, overwrite=True, max_shard_size=None, **kwargs):
    """Write a model's weights into a `.weights.h5` file, or into several.

    Parameters
    ----------
    max_shard_size : float, optional
        How large a file may be, in units of 1024 ** 3 bytes; the path ends in `.weights.json` then, and names a table
        of the files, which are beside it.

    """
    path, skip = os.fspath(filepath), kwargs.pop("objects_to_skip", None) or ()
    if kwargs:
        raise ValueError(f"Invalid keyword arguments: {kwargs}")
    if _may_write(path, overwrite):
        files.write_weights(model, path, max_shard_size, skip)


def load_weights(model, filepath, skip_mismatch=False, **kwargs):
    """Read a model's weights from a file: `.weights.h5`, `.keras`, a legacy `.h5`, or a folder of `OrbaxCheckpoint`.

    Parameters
    ----------
    skip_mismatch : bool, optional, default=False
        Whether layers whose shapes do not fit are left alone, with a warning.
    by_name : bool, optional, default=False
        Of legacy files: find layers by their names, not by their order.
    objects_to_skip : Sequence[Any], optional
        Objects of the model to leave alone.

    """
    path = os.fspath(filepath)
    by_name, skip = kwargs.pop("by_name", False), kwargs.pop("objects_to_skip", None)
    if kwargs:
        raise ValueError(f"Invalid keyword arguments: {kwargs}")
    is_legacy = path.endswith((".h5", ".hdf5")) and not path.endswith(".weights.h5")
    if by_name and not is_legacy:
        raise ValueError(f"`by_name` only supports loading legacy '.h5' or '.hdf5' files. Received: filepath={path}")
    if skip is not None and not path.endswith((".weights.h5", ".weights.json")):
        raise ValueError(f"`objects_to_skip` only supports loading '.weights.h5' files. Received: filepath={path}")
    if orbax.is_checkpoint(path):
        return orbax.read_weights(model, path)
    if not is_legacy and not path.endswith((".keras", ".weights.h5", ".weights.json")):
        raise ValueError("File format not supported. Keras 3 only supports V3 `.keras` and `.weights.h5` files, or "
                         f"legacy V1/V2 `.h5` files. Received: filepath={path}")
    if not os.path.exists(path):
        raise FileNotFoundError(f"There is no file of weights. Received: filepath={path}")
    if is_legacy:
        from dragon.vm.keras.saving import legacy_h5
        return legacy_h5.read_weights(model, path, by_name, skip_mismatch)
    return files.read_weights(model, path, skip_mismatch, skip)
