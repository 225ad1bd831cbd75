"""The settings of Keras: the default float, the fuzz factor, the place of an image's channels."""
from dragon.vm.keras.core import global_state

_settings = {"floatx": "float32", "epsilon": 1e-7, "image_data_format": "channels_last",
             "max_epochs": None, "max_steps_per_epoch": None, "unsafe": False, "flash_attention": None}


def backend():
    """Return the name of the backend whose dialect is spoken: always "tensorflow"."""
    return "tensorflow"


def set_backend(backend):
    """Refuse another backend than the one there is."""
    if backend != "tensorflow":
        raise ValueError(f"Cannot change the backend; expected 'tensorflow'. Received: backend={backend}")


def floatx():
    """Return the name of the default float dtype."""
    return _settings["floatx"]


def set_floatx(value):
    """Set the default float dtype: "bfloat16", "float16", "float32" or "float64"."""
    accepted = {"bfloat16", "float16", "float32", "float64"}
    if value not in accepted:
        raise ValueError(f"Unknown `floatx` value: {value}. Expected one of {accepted}")
    _settings["floatx"] = str(value)
    global_state.set_global_attribute("dtype_policy", None)


def epsilon():
    """Return the small number that keeps divisions and logarithms finite."""
    return _settings["epsilon"]


def set_epsilon(value):
    """Set the small number that keeps divisions and logarithms finite."""
    _settings["epsilon"] = value


def image_data_format():
    """Return where images have their channels: "channels_last" or "channels_first"."""
    return _settings["image_data_format"]


def set_image_data_format(data_format):
    """Set where images have their channels: "channels_last" or "channels_first"."""
    _settings["image_data_format"] = standardize_data_format(str(data_format))


def standardize_data_format(data_format):
    """Return a data format in small letters, or the default for None."""
    if data_format is None:
        return image_data_format()
    lowered = str(data_format).lower()
    if lowered not in ("channels_first", "channels_last"):
        raise ValueError("The `data_format` argument must be one of ('channels_first', 'channels_last'). "
                         f"Received: data_format={data_format}")
    return lowered


def enable_flash_attention():
    """Have attention computed block by block."""
    _settings["flash_attention"] = True


def disable_flash_attention():
    """Have attention computed with all scores in memory."""
    _settings["flash_attention"] = False


def is_flash_attention_enabled():
    """Tell whether flash attention was turned on or off; None if it was left to the engine."""
    return _settings["flash_attention"]


def is_nnx_enabled():
    """Tell whether layers are Flax modules: never."""
    return False


def enable_unsafe_deserialization():
    """Let files bring code (lambdas) from now on."""
    _settings["unsafe"] = True


def is_unsafe_deserialization_enabled():
    """Tell whether files may bring code (lambdas)."""
    return _settings["unsafe"]


def set_max_epochs(max_epochs):
    """Limit the epochs of every `fit`; None for no limit."""
    _settings["max_epochs"] = max_epochs


def max_epochs():
    """Return the limit to the epochs of every `fit`, or None."""
    return _settings["max_epochs"]


def set_max_steps_per_epoch(max_steps_per_epoch):
    """Limit the steps of every epoch; None for no limit."""
    _settings["max_steps_per_epoch"] = max_steps_per_epoch


def max_steps_per_epoch():
    """Return the limit to the steps of every epoch, or None."""
    return _settings["max_steps_per_epoch"]
