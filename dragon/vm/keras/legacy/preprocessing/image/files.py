"""Batches of images that are files: in a folder for each class, or wherever a table says."""
import os

from dragon.core import warnings
from dragon.vm.keras.core.config import floatx, image_data_format
from dragon.vm.keras.core.messages import print_msg
from dragon.vm.keras.legacy.preprocessing.image.iterators import Iterator, check_subset
from dragon.vm.keras.utils.image import img_to_array, load_img

CHANNELS = {"rgb": 3, "rgba": 4, "grayscale": 1}


class BatchFromFilesMixin:
    """What iterators over files share: `filepaths`, `labels` and `sample_weight` are theirs."""

    def set_processing_attrs(self, image_data_generator, target_size, color_mode, data_format, save_to_dir, save_prefix,
                             save_format, subset, interpolation, keep_aspect_ratio):
        """Keep how files are read.

        Parameters
        ----------
        image_data_generator : Optional[ImageDataGenerator]
            What changes images.
        target_size : Tuple[int, int]
            Height and width.
        color_mode : str
            "rgb", "rgba" or "grayscale".
        data_format : str
            "channels_last" or "channels_first".
        save_to_dir, save_prefix, save_format : Optional[str]
            Where changed images are written to, and how.
        subset : Optional[str]
            "training" or "validation", where the generator splits.
        interpolation : str
            As of `keras.utils.load_img`.
        keep_aspect_ratio : bool
            Cut to the new proportions first.

        """
        if color_mode not in CHANNELS:
            raise ValueError(f'Invalid color mode: {color_mode}; expected "rgb", "rgba", or "grayscale".')
        self.image_data_generator, self.target_size = image_data_generator, tuple(target_size)
        self.color_mode, self.data_format = color_mode, data_format
        self.interpolation, self.keep_aspect_ratio = interpolation, keep_aspect_ratio
        self.save_to_dir, self.save_prefix, self.save_format = save_to_dir, save_prefix, save_format
        channels = (CHANNELS[color_mode],)
        self.image_shape = (self.target_size + channels if data_format == "channels_last"
                            else channels + self.target_size)
        self.subset, self.split = subset, None
        if subset is not None:
            check_subset(subset)
            cut = image_data_generator._validation_split
            self.split = (0, cut) if subset == "validation" else (cut, 1)

    def _read(self, path):
        image = load_img(path, color_mode=self.color_mode, target_size=self.target_size,
                         interpolation=self.interpolation, keep_aspect_ratio=self.keep_aspect_ratio)
        x, generator = img_to_array(image, data_format=self.data_format), self.image_data_generator
        if not generator:
            return x
        return generator.standardize(generator.apply_transform(x, generator.get_random_transform(x.shape)))

    def _get_batches_of_transformed_samples(self, index_array):
        import numpy
        batch = numpy.zeros((len(index_array), *self.image_shape), dtype=self.dtype)
        for place, index in enumerate(index_array):
            batch[place] = self._read(self.filepaths[index])
        self._save(batch, index_array, 10_000_000)
        if self.class_mode is None:
            return batch
        answers = self._answers(batch, index_array)
        weights = () if self.sample_weight is None else (self.sample_weight[index_array],)
        return (batch, answers, *weights)

    def _answers(self, batch, index_array):
        import numpy
        if self.class_mode == "input":
            return batch.copy()
        if self.class_mode in ("binary", "sparse"):
            return numpy.array([self.classes[index] for index in index_array], dtype=self.dtype)
        if self.class_mode == "multi_output":
            return [output[index_array] for output in self.labels]
        if self.class_mode == "raw":
            return self.labels[index_array]
        made = numpy.zeros((len(batch), len(self.class_indices)), dtype=self.dtype)
        for place, index in enumerate(index_array):
            made[place, self.classes[index]] = 1.0
        return made

    def _lacking(name, doc):
        def get(self):
            raise NotImplementedError(f"`{name}` property method has not been implemented in {type(self).__name__}.")
        return property(get, doc=doc)

    filepaths = _lacking("filepaths", "List[str]: the files.")
    labels = _lacking("labels", "Sequence: what each file's answer is.")
    sample_weight = _lacking("sample_weight", "Optional[numpy.ndarray]: how much each file counts.")


def list_files(folder, formats, follow_links):
    """Return the files below a folder that end in one of some ways, in order."""
    found = []
    for root, _, names in sorted(os.walk(folder, followlinks=follow_links)):
        for name in sorted(names):
            if name.lower().endswith(".tiff"):
                warnings.warn('Using ".tiff" files with multiple bands will cause distortion. Please verify your '
                              "output.")
            if name.lower().endswith(formats):
                found.append(os.path.join(root, name))
    return found


class DirectoryIterator(BatchFromFilesMixin, Iterator):
    """Batches of the images in a folder, which has a folder for each class.

    Parameters
    ----------
    directory : str
        The folder.
    image_data_generator : Optional[ImageDataGenerator]
        What changes images.
    target_size : Tuple[int, int], optional, default=(256, 256)
        Height and width.
    color_mode : str, optional, default="rgb"
        "rgb", "rgba" or "grayscale".
    classes : List[str], optional
        The folders that are classes; by default all, by name.
    class_mode : str, optional, default="categorical"
        "categorical", "binary", "sparse", "input" for the images themselves, None for no answers.
    batch_size, shuffle, seed : optional
        As of `Iterator`.
    data_format, save_to_dir, save_prefix, save_format, subset, interpolation, keep_aspect_ratio : optional
        As of `BatchFromFilesMixin.set_processing_attrs`.
    follow_links : bool, optional, default=False
        Look behind links to folders.
    dtype : str, optional
        Of the batches; the configured one by default.

    """

    allowed_class_modes = {"categorical", "binary", "sparse", "input", None}

    def __init__(self, directory, image_data_generator, target_size=(256, 256), color_mode="rgb", classes=None,
                 class_mode="categorical", batch_size=32, shuffle=True, seed=None, data_format=None, save_to_dir=None,
                 save_prefix="", save_format="png", follow_links=False, subset=None, interpolation="nearest",
                 keep_aspect_ratio=False, dtype=None):
        import numpy
        self.set_processing_attrs(image_data_generator, target_size, color_mode, data_format or image_data_format(),
                                  save_to_dir, save_prefix, save_format, subset, interpolation, keep_aspect_ratio)
        if class_mode not in self.allowed_class_modes:
            raise ValueError(f"Invalid class_mode: {class_mode}; expected one of: {self.allowed_class_modes}")
        self.directory, self.class_mode, self.dtype = directory, class_mode, dtype or floatx()
        names = classes or sorted(name for name in os.listdir(directory)
                                  if os.path.isdir(os.path.join(directory, name)))
        self.num_classes, self.class_indices = len(names), {name: number for number, name in enumerate(names)}
        self.filenames, numbers = [], []
        for name in names:
            files = self._files_of(os.path.join(directory, name), follow_links)
            self.filenames += [os.path.relpath(file, directory) for file in files]
            numbers += [self.class_indices[name]] * len(files)
        self.classes, self.samples = numpy.array(numbers, dtype="int32"), len(numbers)
        print_msg(f"Found {self.samples} images belonging to {self.num_classes} classes.")
        self._filepaths = [os.path.join(directory, name) for name in self.filenames]
        Iterator.__init__(self, self.samples, batch_size, shuffle, seed)

    def _files_of(self, folder, follow_links):
        files = list_files(folder, self.white_list_formats, follow_links)
        first, last = self.split or (0, 1)
        return files[int(first * len(files)):int(last * len(files))]

    filepaths = property(lambda self: self._filepaths, doc="List[str]: the files.")
    labels = property(lambda self: self.classes, doc="numpy.ndarray: the number of each file's class.")
    sample_weight = property(lambda self: None, doc="None: all count alike.")
