"""What functions print and check as TensorFlow's nodes, in the order of the program."""
from dragon.vm.shared.tensors.dtypes import as_dtype


def write_notes(b, notes, ends):
    """Write what a function does besides computing.

    Parameters
    ----------
    b : Builder
        The function.
    notes : Sequence[Note]
        What it does.
    ends : Sequence[End]
        The tensors of all notes.

    """
    left, before = iter(ends), None
    for note in notes:
        mine = [next(left) for _ in note.tensors]
        before = {"print": _print, "assert": _assert}[note.kind](b, note.details, mine, before)


def _print(b, details, ends, before):
    words, mark = details["words"], "{}"
    while any(mark in word for word in words):
        mark = f"{{{mark}}}"
    shown = b.node("StringFormat", ends, "string", 0, T=[end.dtype for end in ends], template=mark.join(words),
                   placeholder=mark, summarize=details["summarize"])
    return b.effect("PrintV2", [shown], before, output_stream=details["stream"], end=details["end"])


def _assert(b, details, ends, before):
    condition, *data = ends
    kinds = [as_dtype("string"), *(end.dtype for end in data)]
    return b.effect("Assert", [condition, b.text(details["text"]), *data], before, T=kinds, summarize=3)
