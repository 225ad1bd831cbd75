"""`tf.data.Dataset`: where datasets come from."""
from dragon.vm.shared.data import kinds


class Making:
    """The static methods of `tf.data.Dataset` that make one."""

    @staticmethod
    def from_tensor_slices(tensors, name=None):
        """Return a dataset of the slices of tensors along their first axis.

        Parameters
        ----------
        tensors : Any
            Tensors of one length, in a structure.
        name : str, optional
            Accepted.

        Returns
        -------
        Dataset
            As many elements as the first axis is long.

        Examples
        --------
        >>> dataset = tf.data.Dataset.from_tensor_slices(([1, 2, 3], [10, 20, 30]))
        >>> [(int(x), int(y)) for x, y in dataset]
        [(1, 10), (2, 20), (3, 30)]

        """
        return kinds.TensorSlices(tensors)

    @staticmethod
    def from_tensors(tensors, name=None):
        """Return a dataset of one element."""
        return kinds.OneElement(tensors)

    @staticmethod
    def from_generator(generator, output_types=None, output_shapes=None, args=None, output_signature=None, name=None):
        """Return a dataset of what a generator function yields.

        Parameters
        ----------
        generator : Callable
            Returns an iterable; called anew for each iteration.
        output_types : Any, optional
            The structure of dtypes of the elements; `output_signature` is the better way.
        output_shapes : Any, optional
            The structure of shapes that goes with `output_types`.
        args : tuple, optional
            Tensors that the function is called with, as NumPy arrays.
        output_signature : Any, optional
            The structure of `tf.TypeSpec`s of the elements.

        """
        return kinds.FromGenerator(generator, output_types, output_shapes, args, output_signature)

    @staticmethod
    def range(*args, **kwargs):
        """Return a dataset of evenly spaced integers; the arguments are those of Python's `range`.

        Parameters
        ----------
        *args : int
            Stop; start and stop; or start, stop and step.
        **kwargs : Any
            `output_type`, `tf.int64` by default, and `name`.

        Returns
        -------
        Dataset
            Of single numbers.

        Examples
        --------
        >>> list(tf.data.Dataset.range(5).as_numpy_iterator())
        [np.int64(0), np.int64(1), np.int64(2), np.int64(3), np.int64(4)]

        """
        return kinds.Range(*args, **kwargs)

    @staticmethod
    def counter(start=0, step=1, dtype="int64", name=None):
        """Return an infinite dataset that counts."""
        return kinds.Counter(start, step, dtype)

    @staticmethod
    def random(seed=None, rerandomize_each_iteration=None, name=None):
        """Return an infinite dataset of random int64 numbers below 2 ** 32."""
        return kinds.RandomNumbers(seed, rerandomize_each_iteration)

    @staticmethod
    def list_files(file_pattern, shuffle=None, seed=None, name=None):
        """Return a dataset of the names of the files that match patterns, shuffled unless `shuffle=False`."""
        return kinds.Files(file_pattern, shuffle, seed)

    @staticmethod
    def zip(*args, datasets=None, name=None):
        """Return a dataset of tuples, or another structure, of the elements of several datasets.

        Parameters
        ----------
        *args : Dataset
            The datasets, or one structure of them.
        datasets : Any, optional
            The structure, by name.
        name : str, optional
            Accepted.

        Returns
        -------
        Dataset
            As long as the shortest.

        Examples
        --------
        >>> a, b = tf.data.Dataset.range(3), tf.data.Dataset.range(10, 13)
        >>> [(int(x), int(y)) for x, y in tf.data.Dataset.zip(a, b)]
        [(0, 10), (1, 11), (2, 12)]

        """
        return kinds.Zip(*args, datasets=datasets)

    @staticmethod
    def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True):
        """Return a dataset that takes each element from the dataset whose number a further dataset tells."""
        return kinds.Choose(datasets, choice_dataset, stop_on_empty_dataset)

    @staticmethod
    def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False,
                             rerandomize_each_iteration=None):
        """Return a dataset that takes each element from one of several datasets at random."""
        return kinds.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset, rerandomize_each_iteration)

    @staticmethod
    def load(path, element_spec=None, compression=None, reader_func=None, wait=False):
        """Return a dataset that `save` wrote."""
        return kinds.Saved(path, element_spec, compression, reader_func, wait)
