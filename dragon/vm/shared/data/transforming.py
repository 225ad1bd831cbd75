"""`tf.data.Dataset`: methods that choose or change single elements."""
from dragon.vm.shared.data import kinds


class Transforming:
    """The methods of `tf.data.Dataset` that take elements one by one."""

    def map(self, map_func, num_parallel_calls=None, deterministic=None, synchronous=None,
            use_unbounded_threadpool=False, name=None):
        """Return a dataset of what a function gives for each element.

        Parameters
        ----------
        map_func : Callable
            Called with the components of a tuple, or with the element itself.
        num_parallel_calls : int, optional
            How many elements are computed at a time, in threads; `tf.data.AUTOTUNE` lets measurements decide.
        deterministic : bool, optional
            Whether elements keep their order; they do by default.
        synchronous : bool, optional
            Accepted.
        use_unbounded_threadpool : bool, optional
            Accepted.
        name : str, optional
            Accepted.

        Returns
        -------
        Dataset
            Of what the function returns.

        Examples
        --------
        >>> dataset = tf.data.Dataset.range(4).map(lambda x: x ** 2)
        >>> [int(x) for x in dataset]
        [0, 1, 4, 9]

        """
        return kinds.Map(self, map_func, num_parallel_calls, deterministic, synchronous)

    def filter(self, predicate, name=None):
        """Return a dataset of the elements for which a function gives True."""
        return kinds.Filter(self, predicate)

    def take_while(self, predicate, name=None):
        """Return a dataset that ends before the first element for which a function gives False."""
        return kinds.TakeWhile(self, predicate)

    def flat_map(self, map_func, name=None):
        """Return a dataset of the elements of the datasets that a function gives, one after the other."""
        return kinds.FlatMap(self, map_func)

    def interleave(self, map_func, cycle_length=None, block_length=None, num_parallel_calls=None,
                   deterministic=None, name=None):
        """Return a dataset of the elements of the datasets that a function gives, several in turns.

        Parameters
        ----------
        map_func : Callable
            Gives a dataset for an element.
        cycle_length : int, optional
            How many datasets are read in turns.
        block_length : int, optional, default=1
            How many elements each gives in its turn.
        num_parallel_calls : int, optional
            How many datasets are read at a time.
        deterministic : bool, optional
            Whether the order is always the same; it is by default.

        """
        return kinds.Interleave(self, map_func, cycle_length, block_length, num_parallel_calls, deterministic)

    def scan(self, initial_state, scan_func, name=None):
        """Return a dataset of what a function gives for a state and each element, which also gives the next state."""
        return kinds.Scan(self, initial_state, scan_func)

    def enumerate(self, start=0, name=None):
        """Return a dataset of pairs of a number and an element."""
        return kinds.Enumerate(self, start)

    def unique(self, name=None):
        """Return a dataset of the first of all equal elements."""
        return kinds.Unique(self)

    def take(self, count, name=None):
        """Return a dataset of at most the first `count` elements; -1 takes all.

        Parameters
        ----------
        count : int
            How many.
        name : str, optional
            Accepted.

        Returns
        -------
        Dataset
            A shorter one.

        Examples
        --------
        >>> [int(x) for x in tf.data.Dataset.range(10).take(3)]
        [0, 1, 2]

        """
        return kinds.Take(self, count)

    def skip(self, count, name=None):
        """Return a dataset of all but the first `count` elements; -1 skips all."""
        return kinds.Skip(self, count)

    def shard(self, num_shards, index, name=None):
        """Return a dataset of every `num_shards`-th element from number `index` on."""
        return kinds.Shard(self, num_shards, index)

    def repeat(self, count=None, name=None):
        """Return a dataset of the elements `count` times over; for ever by default."""
        return kinds.Repeat(self, count)

    def concatenate(self, dataset, name=None):
        """Return a dataset of the elements of this one and then those of another."""
        return kinds.Concatenate(self, dataset)

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=True, name=None):
        """Return a dataset that takes each next element at random from a buffer.

        Parameters
        ----------
        buffer_size : int
            How many elements the buffer holds; all, with `ds.cardinality()`, for a perfect shuffle.
        seed : int, optional
            Where the order comes from, together with `tf.random.set_seed`.
        reshuffle_each_iteration : bool, optional, default=True
            Whether each iteration has another order.
        name : str, optional
            Accepted.

        Returns
        -------
        Dataset
            Of the same elements.

        Examples
        --------
        >>> dataset = tf.data.Dataset.range(5).shuffle(5, seed=1)
        >>> sorted(int(x) for x in dataset)
        [0, 1, 2, 3, 4]

        """
        return kinds.Shuffle(self, buffer_size, seed, reshuffle_each_iteration)

    def cache(self, filename="", name=None):
        """Return a dataset that keeps the elements of its first iteration, in memory or in a file."""
        return kinds.Cache(self, filename)

    def prefetch(self, buffer_size, name=None):
        """Return a dataset that makes up to `buffer_size` elements ahead, while others are being used."""
        return kinds.Prefetch(self, buffer_size)

    def ignore_errors(self, log_warning=False, name=None):
        """Return a dataset that leaves out elements whose computation fails."""
        return kinds.IgnoreErrors(self, log_warning)

    def with_options(self, options, name=None):
        """Return the dataset with `tf.data.Options`, which add to those it has."""
        return kinds.WithOptions(self, options)

    def apply(self, transformation_func):
        """Return what a function from datasets to datasets gives for this one."""
        made = transformation_func(self)
        if not isinstance(made, kinds.Dataset):
            raise TypeError(f"apply: the function must return a Dataset. Received: {made!r}")
        return made
