"""Members of classes that are told here, since the compiled part, or the language, leaves no trace of their kinds."""
import ast
import sys

TENSOR = "dragon.vm.torch.Tensor"
NATIVE = "dragon.Tensor"
ARITHMETIC = [mark + name for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or",
                                       "xor", "lshift", "rshift") for mark in ("", "r", "i")]
COMPARISONS = ("lt", "le", "gt", "ge")
UNARY = ("neg", "pos", "abs", "invert")
# What every face's tensor has, in the names of its own classes.
COMMON = """
def __getitem__(self, index: {Any}) -> {Tensor}: ...
def __setitem__(self, index: {Any}, value: {Any}) -> None: ...
def __iter__(self) -> {Iterator}[{Tensor}]: ...
def __len__(self) -> {int}: ...
def __bool__(self) -> {bool}: ...
def __int__(self) -> {int}: ...
def __float__(self) -> {float}: ...
def __complex__(self) -> {complex}: ...
def __index__(self) -> {int}: ...
def __eq__(self, other: {Any}) -> {Tensor}: ...  # type: ignore[override]
def __ne__(self, other: {Any}) -> {Tensor}: ...  # type: ignore[override]
def __hash__(self) -> {int}: ...
def __array__(self, dtype: {Any} = None, copy: {Any} = None) -> {ndarray}: ...
ndim: {int}
itemsize: {int}
nbytes: {int}
requires_grad: {bool}
is_leaf: {bool}
grad: {Tensor} | {Any}
grad_fn: {Any}
data: {Tensor}
base: {Any}
retains_grad: {bool}
def item(self) -> {Any}: ...
def tolist(self) -> {Any}: ...
def detach(self) -> {Tensor}: ...
def data_ptr(self) -> {int}: ...
def retain_grad(self) -> None: ...
"""
OWN = {
    TENSOR: """
def __contains__(self, element: {Any}) -> {bool}: ...
def __init__(self, *args: {Any}, **kwargs: {Any}) -> None: ...
def __format__(self, format_spec: {str}) -> {str}: ...
shape: {Size}
dtype: {dtype}
device: {device}
layout: {layout}
@{overload}
def size(self, dim: None = None) -> {Size}: ...
@{overload}
def size(self, dim: {int}) -> {int}: ...
@{overload}
def stride(self, dim: None = None) -> {tuple}[{int}, ...]: ...
@{overload}
def stride(self, dim: {int}) -> {int}: ...
def is_contiguous(self, memory_format: {Any} = ...) -> {bool}: ...
T: {Tensor}
H: {Tensor}
mT: {Tensor}
mH: {Tensor}
real: {Tensor}
imag: {Tensor}
@{overload}
def max(self) -> {Tensor}: ...
@{overload}
def max(self, dim: {int}, keepdim: {bool} = False) -> {max}: ...
@{overload}
def max(self, dim: {Tensor}) -> {Tensor}: ...
@{overload}
def max(self, *, other: {Tensor}) -> {Tensor}: ...
@{overload}
def min(self) -> {Tensor}: ...
@{overload}
def min(self, dim: {int}, keepdim: {bool} = False) -> {min}: ...
@{overload}
def min(self, dim: {Tensor}) -> {Tensor}: ...
@{overload}
def min(self, *, other: {Tensor}) -> {Tensor}: ...
""",
    NATIVE: """
shape: {tuple}[{int}, ...]
strides: {tuple}[{int}, ...]
dtype: {dtype}
device: {Device}
size: {int}
def numpy(self) -> {ndarray}: ...
""",
    "dragon.vm.torch.nn.modules.module.Module": """
training: {bool}
forward: {Callable}[..., {Any}]
def __call__(self, *args: {Any}, **kwargs: {Any}) -> {Any}: ...
def __getattr__(self, name: {str}) -> {Any}: ...
def __setattr__(self, name: {str}, value: {Any}) -> None: ...
def parameters(self, recurse: {bool} = True) -> {Iterator}[{Parameter}]: ...
def named_parameters(self, prefix: {str} = "", recurse: {bool} = True, remove_duplicate: {bool} = True
                     ) -> {Iterator}[{tuple}[{str}, {Parameter}]]: ...
def buffers(self, recurse: {bool} = True) -> {Iterator}[{Tensor}]: ...
def named_buffers(self, prefix: {str} = "", recurse: {bool} = True, remove_duplicate: {bool} = True
                  ) -> {Iterator}[{tuple}[{str}, {Tensor}]]: ...
def children(self) -> {Iterator}[{Module}]: ...
def named_children(self) -> {Iterator}[{tuple}[{str}, {Module}]]: ...
def modules(self, remove_duplicate: {bool} = True) -> {Iterator}[{Module}]: ...
def named_modules(self, memo: {Any} = None, prefix: {str} = "", remove_duplicate: {bool} = True
                  ) -> {Iterator}[{tuple}[{str}, {Module}]]: ...
""",
    "dragon.vm.keras.trainers.trainer.Trainer": """
history: {Any}
""",
    "dragon.vm.torch.device": """
type: {str}
index: {int} | {Any}
""",
    "dragon.vm.torch.Size": """
@{overload}
def __getitem__(self, index: {SupportsIndex}) -> {int}: ...
@{overload}
def __getitem__(self, index: {slice}) -> {Size}: ...
def __add__(self, other: {Any}) -> {Size}: ...  # type: ignore[override]
""",
}
BASES = {"dragon.vm.torch.Size": "{tuple}[{int}, ...]"}
OLD_TYPES = "_OldType"  # the class of `torch.FloatTensor` and its like, to which tensors belong
# Modules that know more names than they list.
OPEN = {"dragon.vm.torch._VF", "dragon.vm.torch.ops"}
TYPING = {"Any", "Iterator", "Callable", "overload", "SupportsIndex"}
# Methods that a user's class writes anew with arguments of its own.
FREE = {"forward", "call", "build", "train_step", "test_step", "predict_step", "compute_loss", "update_state",
        "compute_output_shape", "compute_mask", "get_config", "result", "setup_context", "backward", "vjp", "jvp",
        "__getitem__", "stateless_call", "collate_fn", "compute_output_spec", "transform", "make_params",
        "reset_parameters", "extra_repr", "step"}


def address(value, scope):
    """Return where a class stands, in one word."""
    return ".".join(scope.places.classes.get(value, ("", "")))


def told_bases(value, scope):
    """Return the bases of a class that has others for a type checker than for Python; [] for most."""
    if type(value).__name__ == OLD_TYPES:
        return [scope.name_class(sys.modules["dragon.vm.torch"].Tensor)]
    told = BASES.get(address(value, scope))
    return [told.format_map(Names(scope))] if told else []


def named_result():
    """Return the base of PyTorch's named tuples of tensors."""
    return sys.modules["dragon.vm.torch.core.results"].NamedResult


def is_overridden_by_users(name, value):
    """Return whether classes of users write a method anew with arguments of their own, whatever the base has."""
    if name not in FREE or issubclass(value, (tuple, dict)):
        return False
    home = value.__module__
    rooms = (".nn.", ".autograd.", ".keras.", ".data.", ".core.custom", ".nn", ".shared.")
    return home.startswith("dragon.") and any(room in home for room in rooms) and "Tensor" not in value.__name__


def template(where):
    """Return the lines that are told of a class."""
    text = OWN.get(where, "").strip()
    if where in (TENSOR, NATIVE):
        text = "\n".join([COMMON.strip(), text,
                          *(f"def __{name}__(self, other: {{Any}}) -> {{Tensor}}: ..."
                            for name in (*ARITHMETIC, *COMPARISONS)),
                          *(f"def __{name}__(self) -> {{Tensor}}: ..." for name in UNARY)])
    return text


def lines(value, scope):
    """Return the lines that are told here of a class."""
    text = template(address(value, scope))
    return text.format_map(Names(scope)).split("\n") if text else []


def names(told):
    """Return the names that lines define."""
    found = set()
    for node in ast.parse("\n".join(told)).body:
        found.add(node.name if isinstance(node, ast.FunctionDef) else ast.unparse(node.target))
    return found


class Names:
    """Names of classes for a template, as a stub says them."""

    def __init__(self, scope):
        self.scope = scope

    def __getitem__(self, word):
        import builtins

        import numpy

        if word in TYPING:
            return self.scope.name_typing(word)
        if word == "ndarray":
            return self.scope.name_class(numpy.ndarray)
        if word in ("int", "float", "bool", "complex", "str", "tuple", "slice"):
            return self.scope.name_class(getattr(builtins, word))
        if word in ("max", "min"):
            return self.scope.name_class(sys.modules["dragon.vm.torch.core.results"].CLASSES[word])
        return self.scope.name_class(self.scope.places.find_class(word, self.scope.module))


def compiled_lines(value, scope):
    """Return the lines that are told of a class of `dragon._C`."""
    text = "def __getattr__(self, name: {str}) -> {Any}: ..." if value.__name__ in ("Ops", "Family") else ""
    if value.__name__ == "Tensor":
        text = "\n".join([COMMON.strip(),
                          *(f"def __{name}__(self, other: {{Any}}) -> {{Tensor}}: ..."
                            for name in (*ARITHMETIC, *COMPARISONS)),
                          *(f"def __{name}__(self) -> {{Tensor}}: ..." for name in UNARY)])
    return text.format_map(Names(scope)).split("\n") if text else []
