"""keras.preprocessing.sequence: sequences filled to one length."""
from dragon.vm.keras.utils.sequence import pad_sequences  # noqa: F401
