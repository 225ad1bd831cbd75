"""Print what pyproject.toml requires, so that no version is written a second time elsewhere.

Without arguments: the build requirements. With names of extras: the requirements of those extras.
"""
import pathlib
import sys

try:
    import tomllib
except ImportError:  # Python 3.10: pip carries the same parser
    from pip._vendor import tomli as tomllib


def main(extras):
    """Print one requirement per line."""
    path = pathlib.Path(__file__).resolve().parent.parent / "pyproject.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    if not extras:
        print("\n".join(table["build-system"]["requires"]))
    for extra in extras:
        print("\n".join(table["project"]["optional-dependencies"][extra]))


if __name__ == "__main__":
    main(sys.argv[1:])
