"""What TensorFlow's operators take and give: the lines of `tf.raw_ops`, read when first asked for."""
import functools
import os
import re
from typing import NamedTuple, Tuple

PLACE = os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, "raw_ops", "signatures.txt")
_LINE = re.compile(r"(?P<name>\w+)(?P<arguments>.*?) >(?P<kind>[*0]?)(?P<results>( \w+)*)")


class Line(NamedTuple):
    """An operator's line in parts."""

    arguments: str  # its inputs and attributes, as `tf.raw_ops` tells them
    results: Tuple[str, ...]  # names
    is_list: bool  # whether its one result is a list of tensors


@functools.cache
def lines():
    """Return what is told of operators.

    Returns
    -------
    Dict[str, Line]
        By TensorFlow's names.

    """
    with open(PLACE, encoding="utf-8") as file:
        found = [_LINE.fullmatch(line.rstrip("\n")) for line in file]
    return {line["name"]: Line(line["arguments"].strip(), tuple(line["results"].split()), line["kind"] == "*")
            for line in found}


def results_of(op):
    """Return the names of an operator's results, none for one that has no line.

    Parameters
    ----------
    op : str
        TensorFlow's name.

    Returns
    -------
    Tuple[str, ...]
        In order.

    """
    line = lines().get(op)
    return line.results if line is not None else ()
