"""Batches of images whose files and answers are columns of a table of pandas's."""
import os

from dragon.core import warnings
from dragon.vm.keras.core.messages import print_msg
from dragon.vm.keras.legacy.preprocessing.image.files import BatchFromFilesMixin
from dragon.vm.keras.legacy.preprocessing.image.iterators import Iterator

WITHOUT_CLASSES = ("input", "multi_output", "raw", None)


def validate_filename(filename, white_list_formats):
    """Return whether a file exists, and ends in one of some ways."""
    return filename.lower().endswith(white_list_formats) and os.path.isfile(filename)


class DataFrameIterator(BatchFromFilesMixin, Iterator):
    """Batches of images whose files and answers are columns of a table.

    Parameters
    ----------
    dataframe : pandas.DataFrame
        The table.
    directory : str, optional
        What paths in it begin from.
    image_data_generator : ImageDataGenerator, optional
        What changes images.
    x_col : str, optional, default="filename"
        The column of files.
    y_col : Union[str, List[str]], optional, default="class"
        The column, or columns, of answers.
    weight_col : str, optional
        The column of weights.
    target_size : Tuple[int, int], optional, default=(256, 256)
        Height and width.
    color_mode : str, optional, default="rgb"
        "rgb", "rgba" or "grayscale".
    classes : List[str], optional
        The classes that are kept; by default all.
    class_mode : str, optional, default="categorical"
        As of `DirectoryIterator`, or "raw" for the column as it is, "multi_output" for several columns.
    batch_size, shuffle, seed : optional
        As of `Iterator`.
    data_format, save_to_dir, save_prefix, save_format, subset, interpolation, keep_aspect_ratio : optional
        As of `BatchFromFilesMixin.set_processing_attrs`.
    dtype : str, optional, default="float32"
        Of the batches.
    validate_filenames : bool, optional, default=True
        Leave out rows whose files do not exist.

    """

    allowed_class_modes = {"binary", "categorical", "input", "multi_output", "raw", "sparse", None}

    def __init__(self, dataframe, directory=None, image_data_generator=None, x_col="filename", y_col="class",
                 weight_col=None, target_size=(256, 256), color_mode="rgb", classes=None, class_mode="categorical",
                 batch_size=32, shuffle=True, seed=None, data_format="channels_last", save_to_dir=None, save_prefix="",
                 save_format="png", subset=None, interpolation="nearest", keep_aspect_ratio=False, dtype="float32",
                 validate_filenames=True):
        import numpy
        self.set_processing_attrs(image_data_generator, target_size, color_mode, data_format, save_to_dir, save_prefix,
                                  save_format, subset, interpolation, keep_aspect_ratio)
        self.directory, self.class_mode, self.dtype = directory or "", class_mode, dtype
        frame = dataframe.copy()
        self._check_params(frame, x_col, y_col, weight_col, classes)
        if validate_filenames:
            frame = self._with_files(frame, x_col)
        if class_mode not in WITHOUT_CLASSES:
            frame, names = _with_classes(frame, y_col, classes)
            self.class_indices = {name: number for number, name in enumerate(names)}
        if self.split:
            frame = frame.iloc[int(self.split[0] * len(frame)):int(self.split[1] * len(frame)), :]
        if class_mode not in WITHOUT_CLASSES:
            self.classes = self.get_classes(frame, y_col)
        self.filenames = frame[x_col].tolist()
        self._sample_weight = frame[weight_col].values if weight_col else None
        if class_mode == "multi_output":
            self._targets = [numpy.array(frame[column].tolist()) for column in y_col]
        elif class_mode == "raw":
            self._targets = frame[y_col].values
        self.samples = len(self.filenames)
        of_classes = "" if class_mode in WITHOUT_CLASSES else f" belonging to {len(self.class_indices)} classes"
        print_msg(f"Found {self.samples} {'' if validate_filenames else 'non-'}validated image filenames{of_classes}.")
        self._filepaths = [os.path.join(self.directory, name) for name in self.filenames]
        Iterator.__init__(self, self.samples, batch_size, shuffle, seed)

    def _check_params(self, frame, x_col, y_col, weight_col, classes):
        import numpy
        mode = self.class_mode
        if mode not in self.allowed_class_modes:
            raise ValueError(f"Invalid class_mode: {mode}; expected one of: {self.allowed_class_modes}")
        if mode == "multi_output" and not isinstance(y_col, list):
            raise TypeError(f'If class_mode="{mode}", y_col must be a list. Received {type(y_col).__name__}.')
        if not _all_are(frame[x_col], str):
            raise TypeError(f"All values in column x_col={x_col} must be strings.")
        if mode in ("binary", "sparse") and not _all_are(frame[y_col], str):
            raise TypeError(f'If class_mode="{mode}", y_col="{y_col}" column values must be strings.')
        if mode == "categorical" and not _all_are(frame[y_col], (str, list, tuple)):
            raise TypeError(f'If class_mode="{mode}", y_col="{y_col}" column values must be type string, list or '
                            "tuple.")
        if mode == "binary":
            count = len(set(classes)) if classes else frame[y_col].nunique()
            if count != 2:
                raise ValueError('If class_mode="binary" there must be 2 classes. '
                                 + (f"{count} class/es were given." if classes else f"Found {count} classes."))
        if classes and mode in WITHOUT_CLASSES:
            warnings.warn(f'`classes` will be ignored given the class_mode="{mode}"')
        if weight_col and not issubclass(frame[weight_col].dtype.type, numpy.number):
            raise TypeError(f"Column weight_col={weight_col} must be numeric.")

    def _with_files(self, frame, x_col):
        """Return the rows whose files exist."""
        kept = [validate_filename(os.path.join(self.directory, name), self.white_list_formats)
                for name in frame[x_col]]
        if not all(kept):
            warnings.warn(f'Found {kept.count(False)} invalid image filename(s) in x_col="{x_col}". These filename(s) '
                          "will be ignored.")
        return frame[kept]

    def get_classes(self, df, y_col):
        """Return the number of each row's class, or the numbers where it has several."""
        return [[self.class_indices[name] for name in label] if isinstance(label, (list, tuple))
                else self.class_indices[label] for label in df[y_col]]

    filepaths = property(lambda self: self._filepaths, doc="List[str]: the files.")
    labels = property(lambda self: self._targets if self.class_mode in ("multi_output", "raw") else self.classes,
                      doc="Sequence: what each file's answer is.")
    sample_weight = property(lambda self: self._sample_weight, doc="Optional[numpy.ndarray]: how much each counts.")


def _all_are(column, kinds):
    return all(isinstance(value, kinds) for value in column)


def _with_classes(frame, y_col, classes):
    """Return the rows that are of a class, and the classes: those that were named, or all there are in order."""
    if not classes:
        found = {name for label in frame[y_col] for name in (label if isinstance(label, (list, tuple)) else [label])}
        return frame.dropna(subset=[y_col]), sorted(found)
    classes = list(dict.fromkeys(classes))
    kept = []
    for label in frame[y_col]:
        if isinstance(label, (list, tuple)):
            kept.append([name for name in label if name in classes] or None)
        else:
            kept.append(label if label in classes else None)
    frame = frame.copy()
    frame[y_col] = kept
    return frame.dropna(subset=[y_col]), classes
