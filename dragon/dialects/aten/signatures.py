"""What PyTorch's operators take and give: lines of a table, read when first asked for."""
import functools
import pathlib

TABLE = pathlib.Path(__file__).with_name("signatures.txt")
FOREACH = TABLE.with_name("foreach_signatures.txt")
SCRIPTS, EXPORTS = "s", "e"  # who may name an operator
NESTED = "n"  # PyTorch has a kernel of it for nested tensors of layout `torch.strided`
RANDOM = "r"  # it draws random numbers


@functools.cache
def signatures(users):
    """Return the signatures of the operators that some may name.

    Parameters
    ----------
    users : str
        `SCRIPTS`, `EXPORTS`, or both; or `NESTED` or `RANDOM`.

    Returns
    -------
    Dict[str, Tuple[str, ...]]
        By name, such as "aten::add", the signatures in the order in which PyTorch tries them.

    """
    found = {}
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        known, _, text = line.partition(" ")
        if set(known) & set(users):
            found.setdefault(text.partition("(")[0].partition(".")[0], []).append(text)
    return {name: tuple(texts) for name, texts in found.items()}


def foreach_lines():
    """Return the signatures of the operators of lists of tensors.

    Returns
    -------
    Dict[str, Tuple[str, ...]]
        By name without "aten::_foreach_", such as "add" and "add_".

    """
    found = {}
    for line in FOREACH.read_text(encoding="utf-8").splitlines()[1:]:
        name = line.partition("(")[0].partition(".")[0].removeprefix("aten::_foreach_")
        found[name] = (*found.get(name, ()), line)
    return found
