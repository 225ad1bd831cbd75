"""Numbers as the bins they fall into."""

from dragon.vm.keras.core.convert import convert_to_tensor, dense_of, with_values
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.layers.preprocessing.data_layer import DataLayer, as_host, batches_of, check_choice, encode
from dragon.vm.shared.tensors.tensor import ops


class Discretization(DataLayer):
    """Sort numbers into bins, whose boundaries are given or learnt by `adapt`.

    Parameters
    ----------
    bin_boundaries : Optional[Sequence[float]], optional
        The boundaries, each the first number of its bin.
    num_bins : Optional[int], optional
        How many bins `adapt` makes, with about as many numbers in each.
    epsilon : float, optional, default=0.01
        How exact the learnt boundaries are, as a fraction of the numbers.

    Examples
    --------
    >>> layer = keras.layers.Discretization(bin_boundaries=[0.0, 10.0])
    >>> np.asarray(layer(np.array([-1.0, 5.0, 50.0])))
    array([0, 1, 2], dtype=int32)

    """

    def __init__(self, bin_boundaries=None, num_bins=None, epsilon=0.01, output_mode="int", sparse=False, dtype=None,
                 name=None):
        super().__init__(name=name, dtype=dtype)
        if sparse and output_mode == "int":
            raise ValueError("`sparse=True` may only be used if `output_mode` is `'one_hot'`, `'multi_hot'`, or "
                             f"`'count'`. Received: sparse={sparse} and output_mode={output_mode}")
        check_choice(output_mode, ("int", "one_hot", "multi_hot", "count"), type(self).__name__, "output_mode")
        if num_bins is not None and num_bins < 0:
            raise ValueError(f"`num_bins` must be greater than or equal to 0. Received: `num_bins={num_bins}`")
        if (num_bins is None) == (bin_boundaries is None):
            wrong = ("You need to set either `num_bins` or `bin_boundaries`" if num_bins is None else
                     "Both `num_bins` and `bin_boundaries` should not be set")
            raise ValueError(f"{wrong}. Received: `num_bins={num_bins}` and `bin_boundaries={bin_boundaries}`")
        self.bin_boundaries = bin_boundaries
        self.num_bins = num_bins
        self.epsilon = epsilon
        self.output_mode = output_mode
        self.sparse = sparse
        self.summary = None
        if not bin_boundaries:
            self.reset_state()

    @property
    def input_dtype(self):
        """str: the default float."""
        from dragon.vm.keras.core.config import floatx
        return floatx()

    output_dtype = property(lambda self: "int32" if self.output_mode == "int" else self.compute_dtype,
                            doc="str: the dtype of the output.")

    def adapt(self, data, steps=None):
        """Learn the boundaries from data.

        Parameters
        ----------
        data : Union[numpy.ndarray, Tensor, Dataset, Iterable]
            The numbers, or batches of them.

        """
        if self.num_bins is None:
            raise ValueError("Cannot adapt a Discretization layer that has been initialized with `bin_boundaries`, use "
                             f"`num_bins` instead. Received: bin_boundaries={self.bin_boundaries}")
        self.reset_state()
        # A list is a list of batches here, as in Keras.
        batches = data if isinstance(data, (list, tuple)) else batches_of(data, steps)
        for i, batch in enumerate([data] if batches is None else batches):
            if steps is not None and i >= steps:
                break
            self.update_state(batch)
        self.finalize_state()

    def update_state(self, data):
        """Take a batch into the summary."""
        summary = _summary_of(as_host(data).astype("float32"), self.epsilon)
        self.summary = _merged(summary, self.summary, self.epsilon)

    def finalize_state(self):
        """Make the boundaries of the summary."""
        if self.num_bins is not None:
            self.bin_boundaries = _boundaries(self.summary, self.num_bins).tolist()

    def reset_state(self):
        """Forget the summary."""
        import numpy as np
        if self.num_bins is not None:
            self.summary = np.zeros((2, 0), "float32")

    def load_own_variables(self, store):
        """Take the summary that older files keep."""
        if len(store) == 1:
            self.summary = store["0"]

    def compute_output_shape(self, input_shape):
        if self.output_mode == "int":
            return input_shape
        shape = tuple(input_shape)
        depth = self.num_bins if self.bin_boundaries is None else len(self.bin_boundaries) + 1
        if self.output_mode == "one_hot":
            return (shape[:-1] if len(shape) > 1 and shape[-1] == 1 else shape) + (depth,)
        return (shape[0], *shape[2:], depth) if len(shape) >= 2 else (depth,)

    def compute_output_spec(self, inputs):
        return KerasTensor(self.compute_output_shape(inputs.shape), dtype=self.output_dtype)

    def call(self, inputs):
        """Return for each number its bin."""
        if self.bin_boundaries is None:
            raise ValueError("You need to either pass the `bin_boundaries` argument at construction time or call "
                             "`adapt(dataset)` before you can start using the `Discretization` layer. "
                             f"Received: bin_boundaries={self.bin_boundaries}")
        boundaries = convert_to_tensor(list(self.bin_boundaries), dtype="float32")

        def bins(values):
            return ops.bucketize(ops.cast(convert_to_tensor(values), "float32"), boundaries, out_int32=True, right=True)
        indices = with_values(inputs, bins) if hasattr(inputs, "with_flat_values") else bins(dense_of(inputs))
        return encode(indices, self.output_mode, len(self.bin_boundaries) + 1, self.output_dtype, sparse=self.sparse)

    def get_config(self):
        names = ("bin_boundaries", "num_bins", "epsilon", "output_mode", "sparse", "name", "dtype")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """Return a layer made from its configuration, with the boundaries that it has learnt."""
        config = dict(config)
        if config.get("bin_boundaries") is None or config.get("num_bins") is None:
            return cls(**config)
        boundaries = config.pop("bin_boundaries")
        layer = cls(**config)
        layer.bin_boundaries = boundaries
        return layer


def _summary_of(values, epsilon):
    """Return every so many of the sorted numbers, and how many each stands for."""
    import numpy as np
    values = np.sort(values, axis=None)
    step = max(values.size * epsilon, 1)
    chosen = values[int(step - 1)::int(step)]
    return np.stack([chosen, np.full_like(chosen, step)])


def _merged(first, second, epsilon):
    """Return two summaries as one, no longer than it needs to be."""
    import numpy as np
    both = np.concatenate((first, second), axis=1)
    both = both[:, np.argsort(both[0])]
    if both.shape[1] * epsilon < 1:
        return both
    parts = epsilon + np.arange(0.0, 1.0, epsilon)
    running = both[1].cumsum()
    fractions = running / running[-1]
    values = np.interp(parts, fractions, both[0])
    weights = np.diff(np.interp(parts, fractions, running), prepend=0)
    return np.stack((values, weights)).astype("float32")


def _boundaries(summary, count):
    """Return the boundaries of bins that hold equally many numbers."""
    import numpy as np
    return _merged(summary, np.zeros((2, 0), "float32"), 1.0 / count)[0, :-1]
