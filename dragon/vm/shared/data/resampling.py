"""Datasets whose classes come as often as is wished: elements of too frequent classes are thrown away."""
from dragon.io.stages import weighing
from dragon.vm.shared.data.dataset import Dataset, UNKNOWN
from dragon.vm.shared.data.seeds import Seeded
from dragon.vm.shared.data.specs import TensorSpec
from dragon.vm.shared.data.structure import call
from dragon.vm.shared.tensors.convert import convert_to_tensor


class Resampled(Seeded, Dataset):
    """Pairs of a class and an element, of which some are thrown away."""

    def __init__(self, source, class_function, target, initial, seed):
        super().__init__(source)
        self._class = class_function
        self._set_seeds(seed, anew=False)
        self._target = convert_to_tensor(target, dtype_hint="float32").numpy().astype("float64")
        self._initial = None if initial is None else convert_to_tensor(initial).numpy().astype("float64")
        self._spec = ((TensorSpec([], convert_to_tensor(0).dtype), source.element_spec),)

    def _iterate(self):
        pairs = ((convert_to_tensor(call(self._class, element)), element) for element in self._sources[0]._open())
        return weighing.resampled(pairs, self._number_of, self._target, self._initial, self._draws().share)

    def _number_of(self, pair):
        number = int(pair[0])
        if not 0 <= number < len(self._target):
            raise ValueError(f"rejection_resample: class_func must give numbers below {len(self._target)}, the length "
                             f"of target_dist. Received: {number}")
        return number

    def _count(self):
        return UNKNOWN


def rejection_resample(dataset, class_function, target, initial, seed):
    """Return a dataset of (class, element) whose classes follow a distribution."""
    return Resampled(dataset, class_function, target, initial, seed)
