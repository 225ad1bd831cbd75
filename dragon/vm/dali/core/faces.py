"""The operators under their names: functions below `fn`, classes below `ops`."""
from dragon.vm.dali.core import operators, readers  # noqa: F401: importing enters what they hold
from dragon.vm.dali.core.graph import call
from dragon.vm.dali.core.refusals import absent
from dragon.vm.dali.core.schema import COMMON, HINTS, OPERATORS
from dragon.vm.guest import name_of


def functions_of(room, module):
    """Return {name: function} of the operators in a room below `fn`: "" or "readers".

    Parameters
    ----------
    room : str
        The room.
    module : str
        The module that they are to be found in.

    """
    made = {}
    for name, operator in OPERATORS.items():
        place, _, last = name.rpartition(".")
        if place == room and not last.startswith("_"):
            made[last] = _function(operator, module)
    return made


def _function(operator, module):
    def function(*inputs, **arguments):
        return call(operator.name, inputs, arguments)
    last = operator.name.rpartition(".")[2]
    function.__name__ = function.__qualname__ = last
    function.__module__, function.__doc__ = module, operator.doc
    function.list_keywords = operator.list_keywords
    return function


class OperatorClass:
    """An operator with its arguments, to be called later: what the classes below `ops` are."""

    operator = None

    def __init__(self, **arguments):
        for name in arguments:
            if name not in self.operator.arguments and name not in COMMON and name not in HINTS:
                raise KeyError(f'Argument "{name}" is not defined for operator "{type(self).__name__}".')
        self.arguments = arguments

    def __call__(self, *inputs, **arguments):
        return call(self.operator.name, inputs, {**self.arguments, **arguments})

    @property
    def device(self):
        """Return where the program wants it."""
        return self.arguments.get("device", "cpu")


def classes_of(room, module):
    """Return {name: class} of the operators in a room below `ops`.

    Parameters
    ----------
    room : str
        The room.
    module : str
        The module that they are to be found in.

    """
    made = {}
    for name, operator in OPERATORS.items():
        place, _, last = name.rpartition(".")
        if place == room and not last.startswith("_"):
            named = NAMES.get(last, operator.class_name)
            made[named] = type(named, (OperatorClass,), {
                "operator": operator, "__doc__": operator.doc, "__module__": module,
                "list_keywords": staticmethod(operator.list_keywords)})
    return made


# Classes whose names are more than their functions' words.
NAMES = {"tfrecord": "TFRecord", "mxnet": "MXNet", "coco": "COCO", "mfcc": "MFCC", "bb_flip": "BbFlip",
         "bbox_paste": "BBoxPaste", "bbox_rotate": "BBoxRotate", "random_bbox_crop": "RandomBBoxCrop",
         "random_object_bbox": "RandomObjectBBox", "roi_random_crop": "ROIRandomCrop", "rms": "RMS",
         "dl_tensor_python_function": "DLTensorPythonFunction", "nemo_asr": "NemoAsr"}


def refuse(names, module):
    """Return {name: function that says what is missing} of a table: a line `name: why`.

    Parameters
    ----------
    names : str
        The table.
    module : str
        The module that they are to be found in.

    """
    made = {}
    for line in names.strip().splitlines():
        name, _, why = line.partition(": ")
        made[name.strip()] = _refusal(name.strip(), why, module)
    return made


def _refusal(name, why, module):
    def function(*inputs, **arguments):
        raise absent(f"{name_of(module)}.{name}", why)
    function.__name__ = function.__qualname__ = name
    function.__module__, function.__doc__ = module, f"Refuse: {why}."
    return function
