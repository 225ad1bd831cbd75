"""What functions print and check as TensorFlow's nodes, in the order of the program."""
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.tensorflow.core.saved_model.writing.notes import says


@says("print")
def _print(b, note, ends):
    words, mark = note.details["words"], "{}"
    while any(mark in word for word in words):
        mark = f"{{{mark}}}"
    shown = b.node("StringFormat", ends, "string", 0, T=[end.dtype for end in ends], template=mark.join(words),
                   placeholder=mark, summarize=note.details["summarize"])
    b.effect("PrintV2", [shown], output_stream=note.details["stream"], end=note.details["end"])


@says("assert")
def _assert(b, note, ends):
    condition, *data = ends
    kinds = [as_dtype("string"), *(end.dtype for end in data)]
    b.effect("Assert", [condition, b.text(note.details["text"]), *data], T=kinds, summarize=3)
