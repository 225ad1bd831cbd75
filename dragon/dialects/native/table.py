"""The table of Dragon's own namespaces, read when first asked for."""
import functools
import pathlib

from dragon.dialects.rows import read_rows

TABLE = pathlib.Path(__file__).with_name("namespaces.txt")


@functools.cache
def operators_of():
    """Return the operators that namespaces show.

    Returns
    -------
    Dict[str, FrozenSet[str]]
        By namespace, such as "math".

    """
    found = {}
    for row in read_rows(TABLE.read_text(encoding="utf-8"), TABLE.name):
        for namespace in row.text.split():
            names = found.setdefault(namespace, set())
            if row.name in names:
                raise ValueError(f"{row.place}: got {row.name} a second time for {namespace}")
            names.add(row.name)
    return {namespace: frozenset(names) for namespace, names in found.items()}
