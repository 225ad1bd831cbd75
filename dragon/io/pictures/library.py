"""Where libjpeg is: the copies that packages of Python bring along, and the system's."""
import functools
import pathlib
import sys

from dragon._C import JpegLibrary

# Beside a package, the folder where its wheel keeps libraries, and what the file is called: Pillow's first, so that
# pixels are those that Pillow reads; torchvision's has the other of the two known layouts.
WHEELS = (("pillow.libs", "libjpeg-*.so.62*"), ("Pillow.libs", "libjpeg-*.so.62*"),
          ("torchvision.libs", "libjpeg*.so.*"))
SYSTEM = ("libjpeg.so.62", "libjpeg.so.8")


def list_candidates():
    """Yield the paths and names of libraries that may be there, the best one first; no package is imported for it."""
    for folder, pattern in WHEELS:
        for place in sys.path:
            yield from (str(path) for path in sorted(pathlib.Path(place, folder).glob(pattern)))
    yield from SYSTEM


@functools.cache
def jpeg_library():
    """Return the first libjpeg that can be used, None where there is none; it is looked for once."""
    for path in list_candidates():
        try:
            return JpegLibrary(path)
        except RuntimeError:  # not there, for another machine, or of another layout: the next one
            continue
    return None
