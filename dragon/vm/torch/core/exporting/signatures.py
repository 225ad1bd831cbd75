"""What the inputs and outputs of a program's graph are."""
import dataclasses
import enum
from typing import Any, Dict, List, Optional, Union


@dataclasses.dataclass
class TensorArgument:
    """A tensor, by its node's name."""

    name: str


@dataclasses.dataclass
class TokenArgument:
    """A token of effects, by its node's name."""

    name: str


@dataclasses.dataclass
class SymIntArgument:
    """A size, by its node's name."""

    name: str


@dataclasses.dataclass
class SymFloatArgument:
    """A real number that follows sizes, by its node's name."""

    name: str


@dataclasses.dataclass
class SymBoolArgument:
    """A truth that follows sizes, by its node's name."""

    name: str


@dataclasses.dataclass
class CustomObjArgument:
    """An object, by its node's name and its class."""

    name: str
    class_fqn: str
    fake_val: Any = None


@dataclasses.dataclass
class ConstantArgument:
    """A number, str or None that is the same in all calls."""

    name: str
    value: Any


class InputKind(enum.Enum):
    """What an input is."""

    USER_INPUT = enum.auto()
    PARAMETER = enum.auto()
    BUFFER = enum.auto()
    CONSTANT_TENSOR = enum.auto()
    CUSTOM_OBJ = enum.auto()
    TOKEN = enum.auto()


class OutputKind(enum.Enum):
    """What an output is."""

    USER_OUTPUT = enum.auto()
    LOSS_OUTPUT = enum.auto()
    BUFFER_MUTATION = enum.auto()
    PARAMETER_MUTATION = enum.auto()
    GRADIENT_TO_PARAMETER = enum.auto()
    GRADIENT_TO_USER_INPUT = enum.auto()
    USER_INPUT_MUTATION = enum.auto()
    TOKEN = enum.auto()


ARGUMENTS = (TensorArgument, SymIntArgument, SymFloatArgument, SymBoolArgument, ConstantArgument, CustomObjArgument,
             TokenArgument)
ArgumentSpec = Union[ARGUMENTS]


def _check_argument(who, arg):
    if not isinstance(arg, ARGUMENTS):
        raise AssertionError(f"{who}: got {type(arg).__name__}, expected an argument such as TensorArgument")


@dataclasses.dataclass
class InputSpec:
    """One input of a graph."""

    kind: InputKind
    arg: Any
    target: Optional[str]
    persistent: Optional[bool] = None

    def __post_init__(self):
        if self.kind == InputKind.BUFFER and self.persistent is None:
            raise AssertionError("InputSpec: got a buffer without persistent=, expected True or False")
        _check_argument("InputSpec", self.arg)

    def __str__(self):
        words = [f"{self.arg.name}:", self.kind.name]
        if self.target is not None:
            words.append(f"target={self.target!r}")
        if self.persistent is not None:
            words.append(f"persistent={self.persistent}")
        return " ".join(words)


@dataclasses.dataclass
class OutputSpec:
    """One output of a graph."""

    kind: OutputKind
    arg: Any
    target: Optional[str]

    def __post_init__(self):
        _check_argument("OutputSpec", self.arg)

    def __str__(self):
        words = [f"{self.arg.name}:", self.kind.name]
        if self.target is not None:
            words.append(f"target={self.target!r}")
        return " ".join(words)


@dataclasses.dataclass
class ExportBackwardSignature:
    """Which outputs are gradients of what, and which one is the loss."""

    gradients_to_parameters: Dict[str, str]
    gradients_to_user_inputs: Dict[str, str]
    loss_output: str


def _told(specs, *kinds):
    return [spec for spec in specs if spec.kind in kinds]


def _by_name(specs, kind):
    return {spec.arg.name: spec.target for spec in _told(specs, kind)}


@dataclasses.dataclass
class ExportGraphSignature:
    """What all inputs and outputs of a graph are, in order.

    Parameters
    ----------
    input_specs : List[InputSpec]
        Of the placeholders.
    output_specs : List[OutputSpec]
        Of what the graph returns.

    """

    input_specs: List[InputSpec]
    output_specs: List[OutputSpec]

    def _targets(self, kind):
        return tuple(spec.target for spec in _told(self.input_specs, kind))

    @property
    def parameters(self):
        """Sequence[str]: the names of the parameters."""
        return self._targets(InputKind.PARAMETER)

    @property
    def buffers(self):
        """Sequence[str]: the names of the buffers."""
        return self._targets(InputKind.BUFFER)

    @property
    def non_persistent_buffers(self):
        """Sequence[str]: the names of the buffers that `state_dict` leaves out."""
        return tuple(spec.target for spec in _told(self.input_specs, InputKind.BUFFER) if spec.persistent is False)

    @property
    def lifted_tensor_constants(self):
        """Sequence[str]: the names of tensors that the program found by itself."""
        return self._targets(InputKind.CONSTANT_TENSOR)

    @property
    def lifted_custom_objs(self):
        """Sequence[str]: the names of objects that the program found by itself."""
        return self._targets(InputKind.CUSTOM_OBJ)

    @property
    def user_inputs(self):
        """Sequence[Any]: the names of what the program is called with, and the values of what is constant."""
        return tuple(spec.arg.value if isinstance(spec.arg, ConstantArgument) else spec.arg.name
                     for spec in _told(self.input_specs, InputKind.USER_INPUT))

    @property
    def user_outputs(self):
        """Sequence[Any]: the names of what the program returns, and the values of what is constant."""
        return tuple(spec.arg.value if isinstance(spec.arg, ConstantArgument) else spec.arg.name
                     for spec in _told(self.output_specs, OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT))

    @property
    def inputs_to_parameters(self):
        """Mapping[str, str]: input -> parameter."""
        return _by_name(self.input_specs, InputKind.PARAMETER)

    @property
    def inputs_to_buffers(self):
        """Mapping[str, str]: input -> buffer."""
        return _by_name(self.input_specs, InputKind.BUFFER)

    @property
    def inputs_to_lifted_tensor_constants(self):
        """Mapping[str, str]: input -> constant."""
        return _by_name(self.input_specs, InputKind.CONSTANT_TENSOR)

    @property
    def inputs_to_lifted_custom_objs(self):
        """Mapping[str, str]: input -> object."""
        return _by_name(self.input_specs, InputKind.CUSTOM_OBJ)

    @property
    def buffers_to_mutate(self):
        """Mapping[str, str]: output -> buffer that it becomes."""
        return _by_name(self.output_specs, OutputKind.BUFFER_MUTATION)

    @property
    def parameters_to_mutate(self):
        """Mapping[str, str]: output -> parameter that it becomes."""
        return _by_name(self.output_specs, OutputKind.PARAMETER_MUTATION)

    @property
    def user_inputs_to_mutate(self):
        """Mapping[str, str]: output -> input that it is written into."""
        return _by_name(self.output_specs, OutputKind.USER_INPUT_MUTATION)

    @property
    def backward_signature(self):
        """Optional[ExportBackwardSignature]: where the graph has its gradients, which they are."""
        loss = _told(self.output_specs, OutputKind.LOSS_OUTPUT)
        if not loss:
            return None
        return ExportBackwardSignature(_by_name(self.output_specs, OutputKind.GRADIENT_TO_PARAMETER),
                                       _by_name(self.output_specs, OutputKind.GRADIENT_TO_USER_INPUT),
                                       loss[0].arg.name)

    @property
    def assertion_dep_token(self):
        """Optional[Mapping[int, str]]: None; there are no such tokens."""
        return None

    @property
    def input_tokens(self):
        """Sequence[str]: the names of inputs that are tokens."""
        return tuple(spec.arg.name for spec in _told(self.input_specs, InputKind.TOKEN))

    @property
    def output_tokens(self):
        """Sequence[str]: the names of outputs that are tokens."""
        return tuple(spec.arg.name for spec in _told(self.output_specs, OutputKind.TOKEN))

    def replace_all_uses(self, old, new):
        """Give an input or output another name.

        Parameters
        ----------
        old, new : str
            The names.

        """
        if not isinstance(old, str) or not isinstance(new, str):
            raise AssertionError(f"replace_all_uses: got {old!r} and {new!r}, expected names")
        for spec in (*self.input_specs, *self.output_specs):
            if not isinstance(spec.arg, ConstantArgument) and spec.arg.name == old:
                spec.arg.name = new

    def get_replace_hook(self, replace_inputs=False):
        """Return what keeps names up to date while a graph module's nodes are replaced.

        Parameters
        ----------
        replace_inputs : bool, optional, default=False
            Whether inputs are renamed as well.

        Returns
        -------
        Callable
            A function of (old node, new name, user).

        """
        def replace(old, new, user):
            if user.op == "output" or replace_inputs and old.op == "placeholder":
                self.replace_all_uses(old.name, new)
        return replace

    def __str__(self):
        lines = ["", "# inputs", *map(str, self.input_specs), "", "# outputs", *map(str, self.output_specs), ""]
        return "\n".join(lines)
