"""What functions do or compute besides the engine's operators, as TensorFlow's nodes: the table, and its way in."""
from dragon.onnx.writer import DOMAIN
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
    return Answer(note, SPEAKERS[note.kind](b, note, call.ends))
