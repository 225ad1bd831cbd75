"""keras.preprocessing.sequence: sequences filled to one length, windows, and pairs of words."""
from dragon.vm.guest import lookup
from dragon.vm.keras.utils.sequence import pad_sequences  # noqa: F401

__getattr__, __dir__ = lookup(globals(), {
    "legacy.preprocessing.sequence": "TimeseriesGenerator make_sampling_table skipgrams",
})
