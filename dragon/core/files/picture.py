"""Pillow's pictures, written whole."""
import io
import os

from dragon.core.files.whole import write


class _Named(io.BytesIO):
    """Memory under the name of a file: Pillow tells formats by names."""

    def __init__(self, name):
        super().__init__()
        self.name = name


def save_picture(picture, place, kind=None, **options):
    """Write one of Pillow's pictures into a file.

    Parameters
    ----------
    picture : PIL.Image.Image
        The picture.
    place : Union[str, os.PathLike, BinaryIO]
        The file.
    kind : str, optional
        Its format; told by its name by default.
    **options : Any
        As for the picture's `save`.

    """
    if not isinstance(place, (str, bytes, os.PathLike)):
        picture.save(place, format=kind, **options)
        return
    memory = _Named(os.fsdecode(place))
    picture.save(memory, format=kind, **options)
    write(place, memory.getbuffer())
