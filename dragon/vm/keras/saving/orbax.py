"""Checkpoints of the package Orbax: folders of steps, each with the state of a training, as genuine Keras has them."""
import os
import tempfile

import numpy as np

from dragon.vm.keras.core import tree
from dragon.vm.keras.core.lazy_modules import ocp
from dragon.vm.keras.saving import files
from dragon.vm.keras.saving.state import Reader, Writer
from dragon.vm.keras.saving.stores import AssetsStore

MARKS = frozenset(("orbax.checkpoint", "pytree.orbax-checkpoint", "checkpoint_metadata"))
UNFINISHED = ".orbax-checkpoint-tmp"
WEIGHTS = ("trainable_variables", "non_trainable_variables")


def is_checkpoint(path):
    """Return whether a path is a folder that Orbax wrote: of steps, or of one of them."""
    if not os.path.isdir(path):
        return False
    names = os.listdir(path)
    return not MARKS.isdisjoint(names) or bool(_steps_in(path)) or any(UNFINISHED in name for name in names)


def _steps_in(folder):
    return [int(name) for name in os.listdir(folder) if name.isdigit() and os.path.isdir(os.path.join(folder, name))]


def describe(model, weights_only=False):
    """Return what a checkpoint has of a model: its state, its configuration, and files of layers.

    Parameters
    ----------
    model : Model
        The model.
    weights_only : bool, optional, default=False
        Whether it is weights alone.

    Returns
    -------
    Dict[str, dict]
        By the names that Orbax keeps them under.

    """
    state = model.get_state_tree(value_format="numpy_array")
    # Orbax takes arrays, and single numbers as Python has them.
    state = tree.map_structure(lambda value: value.item() if np.ndim(value) == 0 else value, state)
    if weights_only:
        return {"pytree": {kind: state[kind] for kind in WEIGHTS}}
    told = {"pytree": state, "model_config": {"config": files.describe(model)[0]}}
    assets = _assets_of(model)
    return {**told, "assets": assets} if assets else told


def _assets_of(model):
    """Return the files of a model's layers as arrays of bytes, in dictionaries for folders."""
    assets = {}
    with tempfile.TemporaryDirectory() as root:
        Writer(None, AssetsStore(folder=root, mode="w")).write(model)
        for folder, _, names in os.walk(root):
            for name in names:
                place = assets
                below = os.path.relpath(folder, root)
                for part in [] if below == os.curdir else below.split(os.sep):
                    place = place.setdefault(part, {})
                place[name] = np.fromfile(os.path.join(folder, name), "uint8")
    return assets


def _give_assets(model, assets):
    with tempfile.TemporaryDirectory() as root:
        store = AssetsStore(folder=root)
        _write_assets(store, assets, "")
        reader = Reader(None, store)
        reader.read(model)
        reader.tell()


def _write_assets(store, assets, path):
    for name, value in assets.items():
        below = os.path.join(path, name)
        if isinstance(value, dict):
            _write_assets(store, value, below)
            continue
        place = store.make(path)
        if os.path.basename(name) != name or name in (os.curdir, os.pardir):
            raise ValueError(f"Invalid asset path, it leads out of the folder of assets. Received: {below!r}")
        np.asarray(value, "uint8").tofile(os.path.join(place, name))


def read_model(path, custom_objects=None, compile=True, safe_mode=True):
    """Return the model of the latest step in a folder, with all of its state."""
    step = _latest_in(path)
    with ocp.training.Checkpointer(directory=path) as checkpointer:
        kept = set(checkpointer.checkpointables_metadata(step).metadata)
        if "model_config" not in kept:
            raise ValueError("Checkpoint does not contain model configuration. This checkpoint may have been saved "
                             f"with save_weights_only=True. Received: filepath={path}")
        told = checkpointer.load_checkpointables(step, {"model_config": None})["model_config"]["config"]
        model = files.build(told, custom_objects, compile, safe_mode)
        loaded = checkpointer.load_checkpointables(step, {name: None for name in ("pytree", "assets") if name in kept})
    _set_state(model, loaded["pytree"])
    if loaded.get("assets"):
        _give_assets(model, loaded["assets"])
    return model


def read_weights(model, path):
    """Give a model the state of a step, or of the latest one in a folder."""
    step = os.path.join(path, str(_latest_in(path))) if _steps_in(path) else path
    _set_state(model, ocp.load_checkpointables(step, {"pytree": None})["pytree"])


def _latest_in(folder):
    ocp.initialize()
    steps = _steps_in(folder)
    if not steps:
        raise ValueError(f"No valid checkpoints found in {folder}, expected folders named by steps")
    return max(steps)


def _set_state(model, state):
    """Give a model a state, and raise if a weight is not in it.

    Variables of a `Sequential` that is made of its configuration have paths without its name.
    """
    found = {kind: _flat(values) for kind, values in state.items()}
    for values in found.values():
        values.update({path.removeprefix(f"{model.name}/").replace(f"/{model.name}_", "/"): value
                       for path, value in values.items()})
    for kind in WEIGHTS:
        missing = [weight.path for weight in getattr(model, kind) if weight.path not in found.get(kind, {})]
        if missing:
            raise ValueError(f"The checkpoint has no values of {kind} {missing} of model '{model.name}'. It has those "
                             f"of {sorted(found.get(kind, {}))}")
    model.set_state_tree(found)


def _flat(values, prefix=""):
    """Return {path: array} of nested dictionaries."""
    flat = {}
    for name, value in values.items():
        flat.update(_flat(value, f"{prefix}{name}/") if isinstance(value, dict) else {prefix + name: np.asarray(value)})
    return flat
