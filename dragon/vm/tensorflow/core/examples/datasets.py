"""Datasets of parsed examples."""


def parse_example_dataset(features, num_parallel_calls=1, deterministic=None):
    """Return a function for `dataset.apply` that parses batches of examples; see `tf.io.parse_example`."""
    from dragon.vm.tensorflow.core.examples.parsing import parse_many
    return lambda dataset: dataset.map(lambda records: parse_many(records, features), num_parallel_calls, deterministic)


def make_batched_features_dataset(file_pattern, batch_size, features, reader=None, label_key=None, reader_args=None,
                                  num_epochs=None, shuffle=True, shuffle_buffer_size=10000, shuffle_seed=None,
                                  prefetch_buffer_size=None, reader_num_threads=None, parser_num_threads=None,
                                  sloppy_ordering=False, drop_final_batch=False):
    """Return a dataset of batches of parsed examples of record files.

    Parameters
    ----------
    file_pattern : Union[str, Sequence[str]]
        The files.
    batch_size : int
        How many examples make a batch.
    features : dict
        As for `tf.io.parse_example`.
    reader : Callable, optional
        Gives a dataset for a file; `tf.data.TFRecordDataset` by default.
    label_key : str, optional
        The feature that comes apart from the others.
    reader_args : Sequence, optional
        Further arguments of the reader.
    num_epochs : int, optional
        How often the files are read; for ever by default.
    shuffle : bool, optional, default=True
        Whether examples are shuffled.
    shuffle_buffer_size : int, optional, default=10000
        As for `tf.data.Dataset.shuffle`.
    shuffle_seed : int, optional
        As for `tf.data.Dataset.shuffle`.
    prefetch_buffer_size : int, optional
        How many batches are made ahead; found by measuring by default.
    reader_num_threads : int, optional
        How many files are read at a time.
    parser_num_threads : int, optional
        How many batches are parsed at a time.
    sloppy_ordering : bool, optional, default=False
        Whether the order may differ from run to run.
    drop_final_batch : bool, optional, default=False
        Whether to leave out a last batch that is smaller.

    """
    from dragon.vm.shared.data.readers import TFRecordDataset
    from dragon.vm.shared.data.sources import Files
    from dragon.vm.tensorflow.core.examples.parsing import parse_many
    if label_key is not None and label_key not in features:
        raise ValueError(f"make_batched_features_dataset: label_key must be one of the features. "
                         f"Received: {label_key!r} for {sorted(features)}")
    reader = reader or TFRecordDataset
    dataset = Files(file_pattern, bool(shuffle), shuffle_seed)
    dataset = dataset.interleave(lambda name: reader(name, *(reader_args or ())), cycle_length=reader_num_threads or 1)
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    dataset = dataset.repeat(num_epochs) if num_epochs != 1 else dataset

    def parse(records):
        parsed = parse_many(records, features)
        return (parsed, parsed.pop(label_key)) if label_key is not None else parsed
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    return dataset.map(parse, parser_num_threads).prefetch(-1 if prefetch_buffer_size is None else prefetch_buffer_size)
