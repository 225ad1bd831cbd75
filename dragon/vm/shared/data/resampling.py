"""Datasets whose classes come as often as is wished: elements of too frequent classes are thrown away."""
from dragon.vm.shared.data.dataset import Dataset, UNKNOWN
from dragon.vm.shared.data.seeds import Draws, get_seeds
from dragon.vm.shared.data.specs import TensorSpec
from dragon.vm.shared.data.structure import call
from dragon.vm.shared.tensors.convert import convert_to_tensor

LEARNING_STEPS = 5  # after how many elements an unknown distribution begins to be believed
SCALE = 2.0 ** 32


class Resampled(Dataset):
    """Pairs of a class and an element, of which some are thrown away."""

    def __init__(self, source, class_function, target, initial, seed):
        super().__init__(source)
        self._class, self._seed = class_function, seed
        self._target = convert_to_tensor(target, dtype_hint="float32").numpy().astype("float64")
        self._initial = None if initial is None else convert_to_tensor(initial).numpy().astype("float64")
        self._spec = ((TensorSpec([], convert_to_tensor(0).dtype), source.element_spec),)

    def _iterate(self):
        import numpy as np
        draws, counts, seen = Draws(*get_seeds(self._seed)), np.full(len(self._target), 1e-8), 0
        for element in self._sources[0]._iterate():
            label = call(self._class, element)
            number = int(label)
            if not 0 <= number < len(self._target):
                raise ValueError(f"rejection_resample: class_func must give numbers below {len(self._target)}, the "
                                 f"length of target_dist. Received: {number}")
            counts[number] += 1
            seen += 1
            known = counts / counts.sum() if self._initial is None else self._initial
            keep = self._target / np.maximum(known, 1e-16)
            if self._initial is None and seen < LEARNING_STEPS or (
                    draws.next() / SCALE < keep[number] / keep.max()):
                yield convert_to_tensor(label), element

    def _count(self):
        return UNKNOWN


def rejection_resample(dataset, class_function, target, initial, seed):
    """Return a dataset of (class, element) whose classes follow a distribution."""
    return Resampled(dataset, class_function, target, initial, seed)
