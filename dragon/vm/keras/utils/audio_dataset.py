"""Data sets of the sounds in a directory."""
from dragon.vm.keras.utils.directories import check_arguments, make_datasets


def audio_dataset_from_directory(directory, labels="inferred", label_mode="int", class_names=None, batch_size=32,
                                 sampling_rate=None, output_sequence_length=None, ragged=False, shuffle=True, seed=None,
                                 validation_split=None, subset=None, follow_links=False, verbose=True):
    """Return a `tf.data.Dataset` of the `.wav` files in a directory.

    Parameters
    ----------
    sampling_rate : int, optional
        Not there: sounds keep their rate.
    output_sequence_length : int, optional
        To how many samples sounds are cut or filled; by default to the longest of a batch.
    ragged : bool, optional, default=False
        Whether sounds keep their lengths, in ragged tensors.

    """
    labels, label_mode = check_arguments(labels, label_mode, class_names, "tf", validation_split, subset, shuffle,
                                         seed)
    if ragged and output_sequence_length is not None:
        raise ValueError("Cannot set both `ragged` and `output_sequence_length`. "
                         f"Received: ragged={ragged}, output_sequence_length={output_sequence_length}")
    if sampling_rate is not None:
        if not isinstance(sampling_rate, int):
            raise ValueError(f"`sampling_rate` should have an integer value. Received: sampling_rate={sampling_rate}")
        if sampling_rate <= 0:
            raise ValueError(f"`sampling_rate` should be higher than 0. Received: sampling_rate={sampling_rate}")
        raise NotImplementedError("audio_dataset_from_directory: sounds are not resampled. To use the argument "
                                  "`sampling_rate` genuine Keras needs tensorflow_io, which Dragon does not run. "
                                  f"Received: sampling_rate={sampling_rate}")
    padded = output_sequence_length is None and not ragged
    return make_datasets(directory, labels, label_mode, class_names, batch_size, shuffle, seed, validation_split,
                         subset, follow_links, verbose, (".wav",), _loader(output_sequence_length, ragged),
                         _pad if padded else None, what="audio files")


def _loader(length, ragged):
    def load(path):
        from dragon.vm.shared.files.audio import decode_wav
        with open(path.numpy() if hasattr(path, "numpy") else path, "rb") as file:
            sound, _ = decode_wav(file.read(), desired_samples=-1 if length is None else length)
        if not ragged:
            return sound
        from dragon.vm.shared.ragged.tensor import RaggedTensor
        return RaggedTensor.from_tensor(sound)
    return load


def _pad(dataset, size):
    """Return batches in which sounds are filled to the longest."""
    return dataset.padded_batch(size)
