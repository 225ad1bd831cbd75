"""Readers: where samples come from."""
from dragon.vm.dali.core import faces as _faces
from dragon.vm.dali.core.given import read_tfrecord as _read_tfrecord

globals().update(_faces.classes_of("readers", __name__))


class TFRecord(TFRecord):  # noqa: F821: it stands in the table
    """Read the features of examples in TFRecord files; a call gives them by their names."""

    def __call__(self, **arguments):
        return _read_tfrecord(**{**self.arguments, **arguments})
