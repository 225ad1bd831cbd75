"""Files in folders whose names are classes: what the data sets made of directories have in common."""
import os

from dragon.vm.keras.core.messages import print_msg
from dragon.vm.keras.utils import grain_datasets
from dragon.vm.keras.utils.grain_datasets import check_format

LABEL_MODES = ("int", "categorical", "binary", None)


def check_arguments(labels, label_mode, class_names, format, validation_split, subset, shuffle, seed):
    """Refuse arguments that do not go together; return the labels and their mode."""
    if labels not in ("inferred", None):
        if not isinstance(labels, (list, tuple)):
            raise ValueError("`labels` argument should be a list/tuple of integer labels, one for each file, "
                             f"\"inferred\" or None. Received: labels={labels}")
        if class_names:
            raise ValueError("You can only pass `class_names` if `labels=\"inferred\"`. "
                             f"Received: labels={labels}, and class_names={class_names}")
    if label_mode not in LABEL_MODES:
        raise ValueError("`label_mode` argument must be one of \"int\", \"categorical\", \"binary\", or None. "
                         f"Received: label_mode={label_mode}")
    check_format(format)
    if validation_split and not 0 < validation_split < 1:
        raise ValueError(f"`validation_split` must be between 0 and 1. Received: {validation_split}")
    if bool(validation_split) != bool(subset):
        raise ValueError("If `subset` is set, `validation_split` must be set, and inversely. "
                         f"Received: validation_split={validation_split}, subset={subset}")
    if subset not in ("training", "validation", "both", None):
        raise ValueError(f"`subset` must be either \"training\", \"validation\" or \"both\". Received: {subset}")
    if validation_split and shuffle and seed is None:
        raise ValueError("If using `validation_split` and shuffling the data, you must provide a `seed` argument, so "
                         "that the training and validation subsets do not overlap. Received: seed=None")
    return (None, None) if labels is None or label_mode is None else (labels, label_mode)


def _files_in(folder, follow_links, formats):
    for root, _, names in sorted(os.walk(folder, followlinks=follow_links), key=lambda item: item[0]):
        for name in sorted(names):
            if name.lower().endswith(formats):
                yield os.path.join(root, name)


def index_directory(directory, labels, formats, class_names=None, shuffle=True, seed=None, follow_links=False,
                    verbose=True):
    """Return the files of a directory, their labels, and the names of the classes.

    Parameters
    ----------
    labels : Union[str, Sequence[int], None]
        "inferred", one for each file, or None.
    formats : Tuple[str, ...]
        Endings of the files that count.
    follow_links, verbose : bool, optional
        Whether links are followed, and whether the counts are told.

    Returns
    -------
    Tuple[List[str], Sequence[int], List[str]]
        Files, labels and names.

    """
    import numpy as np
    if labels == "inferred":
        folders = [name for name in sorted(os.listdir(directory))
                   if os.path.isdir(os.path.join(directory, name)) and not name.startswith(".")]
        if class_names is not None:
            if not set(class_names) <= set(folders):
                raise ValueError("The `class_names` passed did not match the names of the subdirectories of the target "
                                 f"directory. Expected: {folders} (or a subset of it). "
                                 f"Received: class_names={class_names}")
            folders = list(class_names)
    elif class_names is not None:
        raise ValueError(f"`class_names` can only be specified with inferred labels. Received: labels={labels}, "
                         f"class_names={class_names}")
    else:
        folders = [""]
    found = [list(_files_in(os.path.join(directory, folder), follow_links, formats)) for folder in folders]
    paths = [path for group in found for path in group]
    if labels == "inferred":
        class_names = folders
        labels = np.repeat(np.arange(len(folders), dtype="int32"), [len(group) for group in found])
    elif labels is not None:
        if len(labels) != len(paths):
            raise ValueError("Expected the lengths of `labels` to match the number of files in the target directory. "
                             f"Received: {len(labels)} labels for {len(paths)} files in directory {directory}.")
        class_names = [str(label) for label in sorted(set(labels))]
    if verbose:
        print_msg(f"Found {len(paths)} files." if labels is None else
                  f"Found {len(paths)} files belonging to {len(class_names)} classes.")
    if shuffle:
        for values in (paths, labels):
            if values is not None:
                np.random.RandomState(seed).shuffle(values)
    return paths, labels, class_names


def take_subset(paths, labels, validation_split, subset):
    """Return the files and labels of a subset; the last ones are for validation."""
    if not validation_split:
        return paths, labels
    count = int(validation_split * len(paths))
    if subset == "training":
        print_msg(f"Using {len(paths) - count} files for training.")
        part = slice(None, -count)
    else:
        print_msg(f"Using {count} files for validation.")
        part = slice(-count, None)
    return paths[part], None if labels is None else labels[part]


def make_datasets(directory, labels, label_mode, class_names, batch_size, shuffle, seed, validation_split, subset,
                  follow_links, verbose, formats, load, batch=None, what="files", format="tf"):
    """Return one data set of a directory, or two for both subsets; `load` makes an element of a path.

    `batch` makes batches of a data set, where its own are not wanted; `what` the files hold, for errors.
    """
    import numpy as np
    seed = np.random.randint(int(1e6)) if seed is None else seed
    paths, labels, names = index_directory(directory, labels, formats, class_names, shuffle, seed, follow_links,
                                           verbose)
    if label_mode == "binary" and len(names) != 2:
        raise ValueError("When passing `label_mode=\"binary\"`, there must be exactly 2 class_names. "
                         f"Received: class_names={names}")
    made = []
    for part in ("training", "validation") if subset == "both" else (subset,):
        files, numbers = take_subset(paths, labels, validation_split, part)
        if not len(files):
            wanted = f"{part} {what}" if subset == "both" else what
            raise ValueError(f"No {wanted} found in directory {directory}. Allowed formats: {formats}. "
                             f"Received: directory={directory}")
        mixed = shuffle and not (subset == "both" and part == "validation")
        targets = _targets_of(numbers, label_mode, len(names or ()))
        if format == "grain":
            dataset = grain_datasets.make_batches(
                grain_datasets.make_elements(files, targets, mixed, seed, load), batch_size)
        else:
            dataset = _dataset_of(files, targets, load, mixed, batch_size, seed, batch)
        dataset.class_names, dataset.file_paths = names, files
        made.append(dataset)
    return made if subset == "both" else made[0]


def _targets_of(labels, label_mode, classes):
    """Return labels as a mode has them, or None without one."""
    import numpy as np

    from dragon.vm.keras.ops.nn.encoding import one_hot
    if not label_mode:
        return None
    numbers = np.asarray(labels)
    if label_mode == "binary":
        return numbers.astype("float32")[:, None]
    return one_hot(numbers, classes).numpy() if label_mode == "categorical" else numbers


def _dataset_of(paths, targets, load, shuffle, batch_size, seed, batch):
    from dragon.vm.shared.data import AUTOTUNE
    from dragon.vm.shared.data.dataset import Dataset
    dataset = Dataset.from_tensor_slices(paths)
    if targets is not None:
        dataset = Dataset.zip((dataset, Dataset.from_tensor_slices(targets)))
    if shuffle:
        dataset = dataset.shuffle(buffer_size=8 * batch_size if batch_size else 1024, seed=seed)
    dataset = dataset.map(load if targets is None else (lambda path, label: (load(path), label)),
                          num_parallel_calls=AUTOTUNE)
    if batch_size is not None:
        dataset = dataset.batch(batch_size) if batch is None else batch(dataset, batch_size)
    return dataset.prefetch(AUTOTUNE)
