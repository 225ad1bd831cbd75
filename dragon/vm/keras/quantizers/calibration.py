"""A model is run on data, block by block, and each block's weights are rounded by what they meet."""
import math
import zlib

import numpy as np

from dragon.core.scopes import contextmanager
from dragon.vm.keras.core.convert import convert_to_numpy, convert_to_tensor
from dragon.vm.keras.quantizers.awq import AWQ
from dragon.vm.keras.quantizers.gptq import GPTQ
from dragon.vm.keras.utils.progbar import Progbar
from dragon.vm.shared.tensors.tensor import ops

ROUNDERS = {"gptq": GPTQ, "awq": AWQ}


def get_dataloader(tokenizer, sequence_length, dataset, num_samples=128, *, strategy="strided", seed=42, stride=None,
                   eos_id=None):
    """Return windows of a dataset's tokens, laid end to end: an array of (samples, 1, sequence_length).

    Parameters
    ----------
    tokenizer : Any
        Whose `tokenize` makes numbers of a string.
    sequence_length : int
        How long a window is.
    dataset : Iterable
        Strings, or numbers.
    num_samples : int, optional, default=128
        How many windows.
    strategy : str, optional, default="strided"
        "strided" for windows at one distance, "linspace" for them from the first to the last, "random" for any.
    seed : int, optional, default=42
        Of "random", and of where "strided" begins.
    stride : int, optional
        The distance of "strided".
    eos_id : int, optional
        What stands between two strings.

    """
    if not hasattr(dataset, "__iter__") or isinstance(dataset, (str, bytes)):
        raise TypeError("The `dataset` argument must be an iterable (e.g., a list of strings, a generator, or a NumPy "
                        f"array). Got type: {type(dataset).__name__}. Please pass the loaded dataset directly.")
    tokens = _tokens(list(dataset), tokenizer, eos_id)
    wanted = num_samples * sequence_length
    if tokens.size < wanted:
        tokens = np.tile(tokens, math.ceil(wanted / max(1, tokens.size)))
    last = tokens.size - sequence_length
    if last < 0:
        raise ValueError(f"Not enough tokens to form one sample of length {sequence_length} (have {tokens.size}).")
    if strategy == "random":
        starts = np.random.default_rng(seed).integers(0, last + 1, size=num_samples)
    elif strategy == "linspace":
        starts = np.linspace(0, last, num_samples, dtype=np.int64)
    elif strategy == "strided":
        stride = max(1, (last + 1) // num_samples) if stride is None else stride
        starts = (zlib.crc32(f"gptq-calib {seed}".encode()) + np.arange(num_samples) * stride) % (last + 1)
    else:
        raise ValueError(f"Unknown strategy: {strategy}, expected 'strided', 'linspace' or 'random'")
    windows = np.lib.stride_tricks.sliding_window_view(tokens, sequence_length)
    return windows[starts].astype(np.int32)[:, None, :]


def _tokens(items, tokenizer, eos_id):
    if not items:
        raise ValueError("Provided dataset is empty.")
    if not isinstance(items[0], str):
        return np.concatenate([convert_to_numpy(item).reshape(-1) for item in items]).astype(np.int32)
    pieces = [np.asarray(convert_to_numpy(tokenizer.tokenize(text))).reshape(-1) for text in items]
    if eos_id is not None:
        pieces = [part for piece in pieces for part in (piece, [eos_id])][:-1]
    return np.concatenate(pieces).astype(np.int32)


def require_structure(of_what, structure):
    """Raise where nothing says how the model is cut into blocks."""
    if structure is None:
        raise ValueError(f"For {of_what}, a valid quantization structure must be provided either via "
                         "`config.quantization_layer_structure` or by overriding "
                         "`model.get_quantization_layer_structure(mode)`. The structure should be a dictionary with "
                         "keys 'pre_block_layers' and 'sequential_blocks'.")


def find_layers_in_block(block):
    """Return {path: layer} of the layers in a block whose weights can be rounded by data."""
    return {layer.path: layer for layer in block._flatten_layers()
            if hasattr(layer, "take_integers") and len(layer._flatten_layers()) == 1}


@contextmanager
def watching(rounders):
    """Show rounders what their layers are called with."""
    for rounder in rounders:
        rounder.layer.__dict__["watcher"] = rounder.watch
    try:
        yield
    finally:
        for rounder in rounders:
            rounder.layer.__dict__.pop("watcher", None)


def _run(block, samples):
    """Yield what a block makes of samples, a batch of one each."""
    for sample in samples:
        yield block(ops.unsqueeze(sample, 0) if len(sample.shape) == 2 else sample)


def calibrate(config, quantization_layer_structure, is_meant=None):
    """Round the weights of a model's blocks by data.

    Parameters
    ----------
    config : Union[GPTQConfig, AWQConfig]
        How, with the data.
    quantization_layer_structure : Optional[dict]
        "pre_block_layers", which make the first block's inputs, and "sequential_blocks".
    is_meant : Callable, optional
        Whether a layer of a block is to be rounded; all by default.

    """
    mode, structure = config.mode, quantization_layer_structure
    if config.dataset is None or config.tokenizer is None:
        raise ValueError(f"{mode.upper()} quantization requires a dataset and a tokenizer. Please provide them in the "
                         f"`{type(config).__name__}`.")
    require_structure(f"'{mode}' mode", structure)
    blocks = structure.get("sequential_blocks") or []
    if not blocks:
        raise ValueError("No sequential blocks found in the provided structure to quantize.")
    samples = []
    for tokens in get_dataloader(config.tokenizer, config.sequence_length, config.dataset, config.num_samples):
        made = convert_to_tensor(tokens, dtype="int32")
        for layer in structure.get("pre_block_layers") or []:
            made = layer(made)
        samples.append(made)
    progress = Progbar(target=len(blocks))
    for done, block in enumerate(blocks, start=1):
        rounders = [ROUNDERS[mode](layer, config) for layer in find_layers_in_block(block).values()
                    if layer.quantization_mode == mode and (is_meant is None or is_meant(layer))]
        if rounders:
            with watching(rounders):
                for _ in _run(block, samples):
                    pass
        for rounder in rounders:
            rounder.finish()
            rounder.free()
        if done < len(blocks):
            samples = [made[0] for made in _run(block, samples)]
        progress.update(done)
