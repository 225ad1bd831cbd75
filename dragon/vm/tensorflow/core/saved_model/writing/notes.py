"""What functions do or compute besides the engine's operators, as TensorFlow's nodes: the table, and its way in."""
from dragon.onnx.writer import DOMAIN
from dragon.vm.shared.files.tensor_proto import make_proto
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.tensorflow.core.saved_model.writing.builder import End
from dragon.vm.tensorflow.core.saved_model.writing.translation import handles

SPEAKERS = {}


def says(*kinds):
    """Return a decorator for functions that write notes of these kinds.

    They take a builder, the note and its tensors as values, and return what the note's results are, if it has any.
    """
    def decorate(function):
        SPEAKERS.update(dict.fromkeys(kinds, function))
        return function
    return decorate


class Answer(End):
    """All results of a note, as one value that stands for them.

    Parameters
    ----------
    note : Note
        The note.
    made : Sequence[End]
        Its results.

    """

    __slots__ = ("note", "made")

    def __init__(self, note, made):
        super().__init__("", "int64", 1)
        self.note, self.made = note, list(made or ())


@handles(f"{DOMAIN}.Note")
def _note(b, call):
    note = b.notes[call.get("number") - 1]
    answer = Answer(note, SPEAKERS[note.kind](b, note, call.ends))
    b.free.update({number: (answer.made[place], axis) for number, (place, axis) in note.free.items()})
    return answer


@says("node")
def _node(b, note, ends):
    details = note.details
    return b.named(details["op"], ends, details["results"], **details["attributes"])


@says("constant")
def _constant(b, note, ends):
    value = note.details["value"]
    dtype = as_dtype("string")
    return [b.node("Const", [], dtype, value.ndim, value=make_proto(value), dtype=dtype)]


@says("lookup")
def _lookup(b, note, ends):
    table, (keys, default) = note.details["table"], ends
    return b.named("LookupTableFindV2", [b.tables[table], keys, default], [("values", table.value_dtype, keys.rank)],
                   Tin=table.key_dtype, Tout=table.value_dtype)


@says("spectrum")
def _spectrum(b, note, ends):
    x, = ends
    kind = as_dtype("complex128" if x.dtype.name == "float64" else "complex64")
    made = b.node("RFFT", [x, b.constant([note.details["length"]], "int32")], kind, x.rank, Treal=x.dtype,
                  Tcomplex=kind)
    return [b.node(op, [made], x.dtype, x.rank, T=kind, Tout=x.dtype) for op in ("Real", "Imag")]
