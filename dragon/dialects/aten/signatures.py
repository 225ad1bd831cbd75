"""What PyTorch's operators take and give: lines of a table, read when first asked for."""
import functools
import pathlib

TABLE = pathlib.Path(__file__).with_name("signatures.txt")
SCRIPTS, EXPORTS = "s", "e"  # who may name an operator


@functools.cache
def signatures(users):
    """Return the signatures of the operators that scripts, exported programs, or either may name.

    Parameters
    ----------
    users : str
        `SCRIPTS`, `EXPORTS`, or both.

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
