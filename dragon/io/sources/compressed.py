"""Files of zlib and gzip streams, read as what was compressed, never more of it than is asked for."""
import zlib

CHUNK = 1 << 18
# zlib's word for its own header, and for gzip's.
WINDOW = {"zlib": 15, "gzip": 31}


class Inflated:
    """A file of one zlib or gzip stream after the other.

    Parameters
    ----------
    file : file
        What is compressed.
    compression : str
        "zlib" or "gzip".
    complain : Callable
        Makes an exception of a text.

    """

    def __init__(self, file, compression, complain):
        self._file, self._bits, self._complain = file, WINDOW[compression], complain
        self._inflate, self._begun = zlib.decompressobj(self._bits), False

    def read(self, size):
        """Return the next bytes; fewer at the end."""
        pieces, missing = [], size
        while missing > 0:
            packed = self._inflate.unconsumed_tail or self._inflate.unused_data or self._file.read(CHUNK)
            if not packed:
                break
            if self._inflate.eof:
                self._inflate = zlib.decompressobj(self._bits)
            try:
                # No more than is asked for, however much the next few bytes hold.
                pieces.append(self._inflate.decompress(packed, missing))
            except zlib.error as error:
                raise self._complain(f"inflate() failed: {error}") from None
            self._begun = True
            missing -= len(pieces[-1])
        return b"".join(pieces)

    @property
    def torn(self):
        """Whether what was read ended within a stream."""
        return self._begun and not self._inflate.eof

    def close(self):
        """Close the file."""
        self._file.close()
