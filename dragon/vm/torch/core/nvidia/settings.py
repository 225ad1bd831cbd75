"""What programs wish of the allocator of devices, in the words of PYTORCH_ALLOC_CONF."""
import os

from dragon.core import accelerator, warnings

VARIABLES = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF")
# Wishes that change how much memory is kept, and no result: the engine's rules are its own.
_OTHERS = ("backend", "max_split_size_mb", "max_non_split_rounding_mb", "garbage_collection_threshold",
           "roundup_power2_divisions", "roundup_bypass_threshold_mb", "release_lock_on_cudamalloc",
           "release_lock_on_hipmalloc", "pinned_use_cuda_host_register", "pinned_use_hip_host_register",
           "pinned_num_register_threads", "pinned_use_background_threads", "pinned_reserve_segment_size_mb",
           "pinned_max_register_threads", "graph_capture_record_stream_reuse", "large_segment_size_mb",
           "throw_on_cudamalloc_oom", "per_process_memory_fraction", "pinned_max_round_threshold_mb",
           "pinned_max_cached_size_mb")


def apply(text):
    """Do what is wished for, and warn of what is not done.

    Parameters
    ----------
    text : str
        Words and values, "expandable_segments:True,max_split_size_mb:64".

    """
    wishes = []
    for part in _parts(text):
        key, colon, value = part.partition(":")
        if not colon or not value:
            raise ValueError(f"allocator settings: got {part!r}, expected a word, a colon and a value")
        if key == "expandable_segments" and value not in ("True", "False"):
            raise ValueError(f"allocator settings: Expected 'True' or 'False' for {key} but got '{value}'")
        if key != "expandable_segments" and key not in _OTHERS:
            raise ValueError(f"Unrecognized key '{key}' in allocator settings: expected expandable_segments, or one of "
                             f"{', '.join(_OTHERS)}")
        wishes.append((key, value))
    for key, value in wishes:
        if key == "expandable_segments":
            accelerator.set_expands_segments(value == "True")
        elif (key, value) != ("backend", "native"):
            warnings.warn(f"allocator settings: got {key}:{value}, which is not done: the engine's allocator has rules "
                          "of its own")


def _parts(text):
    """Return what stands between commas, but for those within brackets."""
    parts, depth, start = [], 0, 0
    text = "".join(text.split())
    for at, letter in enumerate(text + ","):
        depth += {"[": 1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    if depth:
        raise ValueError(f"allocator settings: got {text!r}, expected a ] for each [")
    return [part for part in parts if part]


def apply_environment():
    """Do what the environment wishes for."""
    for name in VARIABLES:
        if os.environ.get(name):
            return apply(os.environ[name])
