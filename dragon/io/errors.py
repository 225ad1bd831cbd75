"""What goes wrong with data: who read it, what came, where it lies."""


class DataError(ValueError):
    """Data is broken, cut off, or not of its kind.

    Parameters
    ----------
    message : str
        Who speaks, what came, what was expected.
    path : str, optional
        The file.
    offset : int, optional
        The byte of the file at which the trouble lies.

    """

    def __init__(self, message, path=None, offset=None):
        self.message, self.path, self.offset = message, path, offset
        super().__init__(message + place_of(path, offset))

    def __reduce__(self):
        return type(self), (self.message, self.path, self.offset)


def place_of(path, offset=None):
    """Return the place of some data as the end of a message: " (byte 12 of a.kpl)"."""
    if path is None:
        return ""
    return f" ({path})" if offset is None else f" (byte {offset} of {path})"
