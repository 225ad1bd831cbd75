"""Data sets of the texts in a directory."""
from dragon.vm.keras.utils.directories import check_arguments, make_datasets


def text_dataset_from_directory(directory, labels="inferred", label_mode="int", class_names=None, batch_size=32,
                                max_length=None, shuffle=True, seed=None, validation_split=None, subset=None,
                                follow_links=False, format="tf", verbose=True):
    """Return a `tf.data.Dataset` of the `.txt` files in a directory.

    Parameters
    ----------
    directory : str
        The directory, of which each folder is a class if labels are inferred.
    labels : Union[str, Sequence[int]], optional, default="inferred"
        "inferred", one for each file, or None.
    label_mode : str, optional, default="int"
        Labels are numbers ("int"), vectors ("categorical"), 0.0 or 1.0 ("binary"), or not there (None).
    class_names : Sequence[str], optional
        Which folders, in which order.
    batch_size : int, optional, default=32
        Texts in a batch; None for single ones.
    max_length : int, optional
        How many bytes of a text count.
    shuffle : bool, optional, default=True
        Bring the texts in random order.
    seed : int, optional
        Decides the order.
    validation_split : float, optional
        The share of texts that is for validation.
    subset : str, optional
        "training", "validation" or "both".
    follow_links : bool, optional, default=False
        Whether links are followed.
    format : str, optional, default="tf"
        "tf".
    verbose : bool, optional, default=True
        Tell how many files there are.

    Returns
    -------
    Union[Dataset, List[Dataset]]
        Two for both subsets. They have `class_names`.

    """
    labels, label_mode = check_arguments(labels, label_mode, class_names, format, validation_split, subset, shuffle,
                                         seed)

    def load(path):
        from dragon.vm.shared.tensors.convert import convert_to_tensor
        name = path.numpy() if hasattr(path, "numpy") else path
        with open(name, "rb") as file:
            return convert_to_tensor(file.read() if max_length is None else file.read(max_length))
    return make_datasets(directory, labels, label_mode, class_names, batch_size, shuffle, seed, validation_split,
                         subset, follow_links, verbose, (".txt",), load)
