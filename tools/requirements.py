"""Print what pyproject.toml requires, so that no version is written a second time elsewhere.

Without arguments: the build requirements. With names of extras: the requirements of those extras.
"""
import pathlib
import sys

from pip._vendor.packaging.requirements import Requirement

try:
    import tomllib
except ImportError:  # Python 3.10: pip carries the same parser
    from pip._vendor import tomli as tomllib


def read_project():
    """Return what pyproject.toml says, as dicts."""
    path = pathlib.Path(__file__).resolve().parent.parent / "pyproject.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def choose(requirements):
    """Return those that are for this machine, without the words that say so: a shell would take them apart."""
    found = [Requirement(words) for words in requirements]
    return [str(it).partition(";")[0] for it in found if it.marker is None or it.marker.evaluate()]


def main(extras):
    """Print one requirement per line."""
    table = read_project()
    if not extras:
        print("\n".join(choose(table["build-system"]["requires"])))
    for extra in extras:
        print("\n".join(choose(table["project"]["optional-dependencies"][extra])))


if __name__ == "__main__":
    main(sys.argv[1:])
