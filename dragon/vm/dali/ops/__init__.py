"""Classes of operators: the workday's door to them."""
from dragon.vm.dali.core import faces as _faces
from dragon.vm.dali.core.given import external_source as _external_source
from dragon.vm.dali.ops.readers import TFRecord as _TFRecord

globals().update(_faces.classes_of("", __name__))
# What older programs call operators that now stand in rooms of their own.
for _old, _new in {"ImageDecoder": "decoders.Image", "ImageDecoderCrop": "decoders.ImageCrop",
                   "ImageDecoderRandomCrop": "decoders.ImageRandomCrop", "ImageDecoderSlice": "decoders.ImageSlice",
                   "AudioDecoder": "decoders.Audio", "FileReader": "readers.File", "COCOReader": "readers.COCO",
                   "MXNetReader": "readers.MXNet", "NumpyReader": "readers.Numpy",
                   "SequenceReader": "readers.Sequence",
                   "NemoAsrReader": "readers.NemoAsr", "CoinFlip": "random.CoinFlip", "Uniform": "random.Uniform",
                   "NormalDistribution": "random.Normal"}.items():
    _room, _, _last = _new.partition(".")
    globals()[_old] = _faces.classes_of(_room, __name__)[_last]
TFRecordReader, FastResizeCropMirror = _TFRecord, globals()["ResizeCropMirror"]


class ExternalSource(_faces.OperatorClass):
    """Take samples from the program; the class of `fn.external_source`.

    Parameters
    ----------
    source : Union[Callable, Iterable], optional
        Gives batches, or samples.
    num_outputs : int, optional
        How many arrays a sample has.
    arguments : Any
        The others of `fn.external_source`.

    """

    def __init__(self, source=None, num_outputs=None, **arguments):
        self.arguments = {"source": source, "num_outputs": num_outputs, **arguments}

    def __call__(self, **arguments):
        return _external_source(**{**self.arguments, **arguments})


class Compose:
    """Operators in a row as one.

    Parameters
    ----------
    op_list : Sequence[Callable]
        The operators; each is called with the results of the one before.

    """

    def __init__(self, op_list):
        self.op_list = list(op_list)

    def __call__(self, *inputs, **arguments):
        for place, operator in enumerate(self.op_list):
            made = operator(*inputs, **(arguments if place == 0 else {}))
            inputs = made if isinstance(made, (list, tuple)) else (made,)
        return inputs[0] if len(inputs) == 1 else list(inputs)
