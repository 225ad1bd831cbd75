"""Data sets of the texts in a directory."""
from dragon.vm.keras.utils.directories import check_arguments, make_datasets


def text_dataset_from_directory(directory, labels="inferred", label_mode="int", class_names=None, batch_size=32,
                                max_length=None, shuffle=True, seed=None, validation_split=None, subset=None,
                                follow_links=False, format="tf", verbose=True):
    """Return a `tf.data.Dataset` of the `.txt` files in a directory, or one of the package `grain`.

    Parameters
    ----------
    max_length : int, optional
        How many bytes of a text count; characters, in a data set of `grain`.

    """
    labels, label_mode = check_arguments(labels, label_mode, class_names, format, validation_split, subset, shuffle,
                                         seed)

    def load(path):
        from dragon.vm.shared.tensors.convert import convert_to_tensor
        name = path.numpy() if hasattr(path, "numpy") else path
        with open(name, "rb") as file:
            return convert_to_tensor(file.read() if max_length is None else file.read(max_length))

    def load_characters(path):
        with open(path, encoding="utf-8") as file:
            return file.read() if max_length is None else file.read(max_length)
    return make_datasets(directory, labels, label_mode, class_names, batch_size, shuffle, seed, validation_split,
                         subset, follow_links, verbose, (".txt",), load_characters if format == "grain" else load,
                         what="text files", format=format)
