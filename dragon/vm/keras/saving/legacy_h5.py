"""The older `.h5` files: a configuration in an attribute, weights by layer, in the order of layers."""
import json
import os

from dragon.core import warnings
from dragon.core import files
from dragon.vm.keras.saving.files import VERSION
from dragon.vm.keras.saving.heaps import check_heaps
from dragon.vm.keras.saving.public_names import find_thing
from dragon.vm.keras.saving.serialization import SafeModeScope, deserialize_keras_object, serialize_keras_object
from dragon.vm.keras.saving.stores import as_array, find_group, from_bfloat16, import_h5py, read_dataset

ATTRIBUTE_LIMIT = 64512  # bytes that one attribute of HDF5 may have
TOP = "top_level_model_weights"
MODELS = {"Model": "keras", "Sequential": "keras", "Functional": "keras.src.models.functional"}
LAMBDA_REMAINS = ("module", "function_type", "output_shape_type", "output_shape_module")


# --- writing

def write_model(model, path, include_optimizer=True):
    """Write a model into an `.h5` file."""
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    h5py = import_h5py()
    with files.replacing(path) as place, h5py.File(place, "w") as file:
        for name, value in _describe(model, include_optimizer).items():
            file.attrs[name] = json.dumps(value).encode() if isinstance(value, dict) else value
        _write_layers(file.create_group("model_weights"), model)
        optimizer = getattr(model, "optimizer", None)
        if include_optimizer and optimizer is not None and optimizer.variables:
            _write_list(file.create_group("optimizer_weights"), optimizer.variables)


def _describe(model, include_optimizer):
    """Return the attributes of a file."""
    config = {"class_name": type(model).__name__, "config": serialize_keras_object(model.get_config())}
    found = {"keras_version": VERSION, "backend": "tensorflow", "model_config": config}
    if include_optimizer and getattr(model, "compiled", False) and getattr(model, "optimizer", None) is not None:
        training = {name: value for name, value in model.get_compile_config().items() if name != "optimizer"}
        training["optimizer_config"] = {"class_name": type(model.optimizer).__name__,
                                        "config": serialize_keras_object(model.optimizer.get_config())}
        found["training_config"] = serialize_keras_object(training)
    return found


def _write_layers(group, model):
    _write_names(group, "layer_names", [layer.name for layer in model.layers])
    group.attrs["backend"], group.attrs["keras_version"] = b"tensorflow", VERSION.encode()
    # In the order of names, so that none is a prefix of one that comes later.
    for layer in sorted(model.layers, key=lambda layer: layer.name):
        _write_list(group.create_group(layer.name), _weights_of(layer))
    _write_list(group.create_group(TOP), _top_weights_of(model))


def _write_list(group, variables):
    names = [variable.path for variable in variables]
    _write_names(group, "weight_names", names)
    for name, variable in zip(names, variables):
        array, is_bfloat16 = as_array(variable)
        # This format has no word for bfloat16; as float32 every reader finds the same numbers.
        group.create_dataset(name, data=from_bfloat16(array) if is_bfloat16 else array)


def _write_names(group, attribute, names):
    """Write a list of names, into several attributes if they are too long for one."""
    import numpy
    encoded = [name.encode() for name in names]
    array, pieces = numpy.asarray(encoded), 1
    while any(part.nbytes > ATTRIBUTE_LIMIT for part in numpy.array_split(array, pieces)):
        if pieces > len(encoded):
            raise RuntimeError(f"An H5 attribute holds at most {ATTRIBUTE_LIMIT} bytes. Received: a longer name among "
                               f"{attribute}")
        pieces += 1
    if pieces == 1:
        group.attrs[attribute] = encoded
    else:
        for number, part in enumerate(numpy.array_split(array, pieces)):
            group.attrs[f"{attribute}{number}"] = part


def _weights_of(layer):
    return layer.trainable_weights + layer.non_trainable_weights


def _top_weights_of(model):
    known = {id(variable) for variable in model.weights}
    return [variable for variable in model._trainable_variables + model._non_trainable_variables
            if id(variable) in known]


# --- reading

def read_model(path, custom_objects=None, compile=True, safe_mode=True):
    """Return the model of an `.h5` file."""
    with _open(path) as file:
        config = _read_json(file, "model_config")
        if config is None:
            raise ValueError(f"No model config found in the file at {path}.")
        with SafeModeScope(safe_mode):
            model = model_from_config(config, custom_objects)
        _read_layers(find_group(file, "model_weights"), model)
        if compile:
            _compile(model, file, custom_objects)
    return model


def read_weights(model, path, by_name=False, skip_mismatch=False):
    """Read a model's weights from an `.h5` file of a model or of weights."""
    with _open(path) as file:
        group = file if "layer_names" in file.attrs or "layer_names0" in file.attrs else find_group(
            file, "model_weights")
        (_read_layers_by_name if by_name else _read_layers)(group, model, skip_mismatch)


def model_from_config(config, custom_objects=None):
    """Return the model that a file's configuration describes, also in the words of older versions."""
    if not isinstance(config, dict) or "config" not in config:
        raise ValueError("The provided configuration is not a valid Keras configuration. Expected a dictionary "
                         f"containing a 'config' key. Received: config={config}")
    found = deserialize_keras_object(_modernise(config), custom_objects, module_objects=_Classes())
    if isinstance(found, str):
        raise ValueError(f"Unknown model or layer: '{found}'. Please ensure you are using a `keras.utils."
                         "custom_object_scope` and that this object is included in the scope.")
    return found


class _Classes(dict):
    """Models and layers by name, loaded when they are asked for."""

    def __missing__(self, name):
        from dragon.vm.keras import layers
        found = find_thing(MODELS[name], name) if name in MODELS else getattr(layers, str(name), None)
        if not isinstance(found, type):
            raise KeyError(name)
        self[name] = found
        return found

    def __contains__(self, name):
        try:
            return self[name] is not None
        except KeyError:
            return False


def _modernise(config):
    """Return a configuration with the words of today: of inputs' shapes, of axes, of lambdas."""
    if isinstance(config, list):
        return [_modernise(item) for item in config]
    if not isinstance(config, dict):
        return config
    if config.get("class_name") == "__tuple__" and "items" in config:
        return [_modernise(item) for item in config["items"]]
    config = {key: _modernise(value) for key, value in config.items()}
    inner = config.get("config")
    if "class_name" not in config or not isinstance(inner, dict) or "name" not in inner:
        return config
    shape = inner.pop("batch_input_shape", None)
    if shape is not None:
        inner["batch_shape" if config["class_name"] == "InputLayer" else "input_shape"] = (
            shape if config["class_name"] == "InputLayer" else shape[1:])
    axis = inner.get("axis")
    if isinstance(axis, list) and len(axis) == 1:
        inner["axis"] = int(axis[0])
    if config["class_name"] == "Lambda":
        for name in LAMBDA_REMAINS:
            inner.pop(name, None)
    return config


def _open(path):
    h5py = import_h5py()
    try:
        check_heaps(path)
        return h5py.File(path, "r")
    except OSError as error:
        raise ValueError(f"The file is no readable HDF5 file ({error}). Received: filepath={path}") from error


def _read_json(file, attribute):
    text = file.attrs.get(attribute)
    if text is None:
        return None
    text = text.decode() if hasattr(text, "decode") else text
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"The file's attribute '{attribute}' is no JSON ({error}). Received: "
                         f"{text[:200]!r}") from error


def _read_names(group, attribute):
    parts = [attribute] if attribute in group.attrs else []
    while not parts or parts[-1] != attribute:
        name = f"{attribute}{len(parts)}"
        if name not in group.attrs:
            break
        parts.append(name)
    return [name.decode() if hasattr(name, "decode") else str(name) for part in parts for name in group.attrs[part]]


def _read_list(group):
    return [read_dataset(group, name) for name in _read_names(group, "weight_names")]


def _read_layers(group, model, skip_mismatch=False):
    """Read weights in the order of layers."""
    layers = [layer for layer in model.layers if _weights_of(layer)]
    names = [name for name in _read_names(group, "layer_names")
             if _read_names(find_group(group, name), "weight_names")]
    if len(names) != len(layers):
        raise ValueError("Layer count mismatch when loading weights from file. Model expected "
                         f"{len(layers)} layers, found {len(names)} saved layers.")
    for number, (name, layer) in enumerate(zip(names, layers)):
        weights, values = _weights_of(layer), _read_list(find_group(group, name))
        if len(values) != len(weights):
            raise ValueError(f"Weight count mismatch for layer #{number} (named {layer.name} in the current model, "
                             f"{name} in the save file). Layer expects {len(weights)} weight(s). Received "
                             f"{len(values)} saved weight(s)")
        _assign(weights, values, f"layer #{number} (named {layer.name})", skip_mismatch)
        _settle(layer)
    _read_top(group, model, skip_mismatch)


def _read_layers_by_name(group, model, skip_mismatch=False):
    """Read the weights of layers that the file knows by name; others stay as they are."""
    for number, name in enumerate(_read_names(group, "layer_names")):
        values = _read_list(find_group(group, name))
        for layer in model.layers:
            if layer.name != name:
                continue
            weights = _weights_of(layer)
            what = f"layer #{number} (named {name})"
            if len(values) == len(weights):
                _assign(weights, values, what, skip_mismatch)
                _settle(layer)
                continue
            message = (f"Weight count mismatch for {what}. Layer expects {len(weights)} weight(s). Received "
                       f"{len(values)} saved weight(s)")
            if not skip_mismatch:
                raise ValueError(message)
            warnings.warn(message)
    _read_top(group, model, skip_mismatch)


def _settle(layer):
    """Have layers that compute with numbers made of their weights, as `Normalization` does, make them anew."""
    for part in layer._flatten_layers():
        if part.built and part.weights and hasattr(part, "finalize_state"):
            part.finalize_state()


def _read_top(group, model, skip_mismatch):
    if TOP not in group:
        return
    weights, values = _top_weights_of(model), _read_list(find_group(group, TOP))
    if len(values) != len(weights):
        raise ValueError("Weight count mismatch for top-level weights when loading weights from file. Model expects "
                         f"{len(weights)} top-level weight(s). Received {len(values)} saved top-level weight(s)")
    _assign(weights, values, "top-level model", skip_mismatch)


def _assign(weights, values, what, skip_mismatch):
    for variable, value in zip(weights, values):
        if tuple(variable.shape) == tuple(value.shape):
            variable.assign(value)
            continue
        message = (f"Shape mismatch in {what} for weight {variable.path}. Weight expects shape "
                   f"{tuple(variable.shape)}. Received saved weight with shape {tuple(value.shape)}")
        if not skip_mismatch:
            raise ValueError(message)
        warnings.warn(message)


def _compile(model, file, custom_objects):
    """Compile a model as the file says, and give its optimizer the state there is."""
    training = _read_json(file, "training_config")
    if training is None:
        warnings.warn("No training configuration found in the save file, so the model was *not* compiled. Compile it "
                      "manually.")
        return
    from dragon.vm.keras import losses, metrics, optimizers
    found = {name: training.get(name) for name in ("loss", "loss_weights", "metrics", "weighted_metrics")}
    found["loss"] = _each(found["loss"], losses.deserialize)
    for name in ("metrics", "weighted_metrics"):
        found[name] = _each(found[name], lambda config: config if isinstance(config, str) else metrics.deserialize(
            config))
    model.compile(optimizer=optimizers.deserialize(training["optimizer_config"], custom_objects), **found)
    if "optimizer_weights" in file and model.built:
        model.optimizer.build(model.trainable_variables)
        values = _read_list(find_group(file, "optimizer_weights"))
        if len(values) == len(model.optimizer.variables):
            _assign(model.optimizer.variables, values, "the optimizer", False)
        else:
            warnings.warn(f"The optimizer has {len(model.optimizer.variables)} variables, the save file {len(values)}: "
                          "it starts anew.")


def _each(config, deserialize):
    """Return a structure of configurations as objects."""
    if config is None or isinstance(config, str) or isinstance(config, dict) and "class_name" in config:
        return config if config is None else deserialize(config)
    if isinstance(config, dict):
        return {key: _each(value, deserialize) for key, value in config.items()}
    if isinstance(config, (list, tuple)):
        return [_each(value, deserialize) for value in config]
    raise ValueError("Saved configuration not understood. Configuration should be a dictionary, string, tuple or list. "
                     f"Received: config={config}.")
