"""The few things that neither a signature, nor a schema, nor a docstring says."""
import sys

from stubs.kinds import BUILTIN, NONE, Kind, union
from stubs.places import door_of

# Functions of PyTorch whose results are of another kind in their further forms.
SEVERAL_RESULTS = {"where", "max", "min", "median", "nanmedian", "nonzero", "norm", "unique", "histogram"}
# What Python's own questions are answered with, whoever is asked.
RESULTS = {"__len__": BUILTIN["int"], "__bool__": BUILTIN["bool"], "__contains__": BUILTIN["bool"],
           "__repr__": BUILTIN["str"], "__str__": BUILTIN["str"], "__hash__": BUILTIN["int"],
           "__int__": BUILTIN["int"], "__float__": BUILTIN["float"], "__index__": BUILTIN["int"],
           "__complex__": BUILTIN["complex"], "__init__": NONE, "__exit__": NONE, "__new__": Kind("Self")}

# Results of functions and methods of PyTorch's tensors that are written in Python over more than one operator, or that
# the compiled part gives: a kind, and names.
PROMISED = {
    "Tensor": """
        to float double half bfloat16 int long short bool byte char type_as cpu cuda new_empty new_zeros new_ones
        new_full new_empty_strided new_tensor clone bernoulli bernoulli_ copy_ nonzero_static slice_scatter fill_
        narrow_copy mvlgamma mvlgamma_ polygamma_ ldexp_ renorm_ diff resolve_conj resolve_neg apply_ map_ map2_
        to_dense pin_memory coalesce to_sparse dropout alpha_dropout feature_dropout feature_alpha_dropout alias_copy
        as_strided_copy detach_copy diagonal_copy expand_copy permute_copy select_copy slice_copy squeeze_copy t_copy
        transpose_copy unfold_copy unsqueeze_copy view_as_complex_copy view_as_real_copy view_copy""",
    "int": "dim ndimension numel nelement storage_offset element_size get_device sparse_dim dense_dim",
    "bool": "is_floating_point is_complex is_signed equal is_same_size is_conj is_neg is_set_to is_pinned is_inference "
            "is_distributed is_coalesced _is_view",
    "Tuple[Tensor, ...]": "hsplit vsplit dsplit",
    "numpy.ndarray": "numpy",
    "UntypedStorage": "untyped_storage",
}


def promised(name, module):
    """Return the kind, in words, of what a function or method of PyTorch's tensors gives, or None."""
    if module == "dragon.vm.torch":
        return next((kind for kind, names in PROMISED.items() if name in names.split()), None)
    return None


# Methods that give the very module whose they are, by a detour that its source does not show.
ITSELF = "to cuda cpu float double half bfloat16 type to_empty share_memory apply train eval requires_grad_".split()


def gives_itself(name, module):
    """Return whether a method gives its own instance."""
    return module == "dragon.vm.torch.nn.modules.module" and name in ITSELF


def argument(name, module):
    """Return the kind that an argument of a name has wherever a door uses it, or None."""
    if door_of(module) == "torch" and name == "device":
        device = sys.modules["dragon.vm.torch"].device
        return union(Kind(device), BUILTIN["str"], BUILTIN["int"], NONE)
    return None


def kind_of_default(default):
    """Return the kind of a default, so that whatever a docstring says, the default may be given; None: any."""
    if default is None:
        return NONE
    return BUILTIN.get(type(default).__name__) if type(default) in (bool, int, float, str) else None
