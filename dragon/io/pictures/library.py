"""Where libjpeg is: the copies that packages of Python bring along, and the system's."""
import functools
import importlib.util
import pathlib

from dragon._C import JpegLibrary

# (a package, the folder beside it where its wheel keeps libraries, what the file is called): Pillow's first, so that
# pixels are those that Pillow reads; torchvision's has the other of the two known layouts.
WHEELS = (("PIL", "pillow.libs", "libjpeg-*.so.62*"), ("PIL", "Pillow.libs", "libjpeg-*.so.62*"),
          ("torchvision", "torchvision.libs", "libjpeg*.so.*"))
SYSTEM = ("libjpeg.so.62", "libjpeg.so.8")


def list_candidates():
    """Yield the paths and names of libraries that may be there, the best one first."""
    for package, folder, pattern in WHEELS:
        spec = importlib.util.find_spec(package)
        for place in (spec and spec.submodule_search_locations) or ():
            yield from (str(path) for path in sorted(pathlib.Path(place).parent.joinpath(folder).glob(pattern)))
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
