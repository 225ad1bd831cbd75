"""A version that compares by its numbers: `torch.__version__ >= (2, 1)`."""
import re


_BEFORE_RELEASE = {"dev": -4, "a": -3, "alpha": -3, "b": -2, "beta": -2, "rc": -1, "c": -1}


def parse(version):
    """Return what a version is ordered by."""
    if isinstance(version, (tuple, list)):
        version = ".".join(map(str, version))
    public = str(version).lstrip("v").partition("+")[0]
    found = re.fullmatch(r"(\d+(?:\.\d+)*)\.?(?:(dev|a|alpha|b|beta|rc|c)(\d*))?(?:\.?post(\d+))?", public)
    if found is None:
        raise ValueError(f"version: got {version!r}, expected numbers as in 2.13.0")
    numbers, stage, count, post = found.groups()
    release = [int(part) for part in numbers.split(".")]
    while release and release[-1] == 0:
        release.pop()
    return tuple(release), _BEFORE_RELEASE.get(stage, 0), int(count or 0), int(post or -1)


class TorchVersion(str):
    """A text that is compared as a version, with texts, tuples and objects of packaging."""

    def _compare(self, other, name):
        try:
            mine, theirs = parse(self), parse(other)
        except ValueError:
            mine, theirs = str(self), str(other)  # what is no version is compared as text
        return getattr(mine, name)(theirs)

    def __lt__(self, other):
        return self._compare(other, "__lt__")

    def __le__(self, other):
        return self._compare(other, "__le__")

    def __gt__(self, other):
        return self._compare(other, "__gt__")

    def __ge__(self, other):
        return self._compare(other, "__ge__")

    def __eq__(self, other):
        return self._compare(other, "__eq__")

    __hash__ = str.__hash__


__version__ = TorchVersion("2.13.0")
