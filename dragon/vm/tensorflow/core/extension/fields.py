"""The fields of an extension type: what their annotations allow, and how values are made to fit."""
import collections.abc
import inspect
import types
import typing

from dragon import _C
from dragon.vm.shared.ragged.tensor import RaggedTensor
from dragon.vm.shared.sparse.tensor import SparseTensor
from dragon.vm.shared.tensors.convert import convert_to_tensor, is_tensor
from dragon.vm.shared.tensors.dtypes import DType, as_dtype
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.tensor import Tensor
from dragon.vm.shared.tensors.type_spec import TypeSpec, type_spec_from_value

SCALARS = (int, float, str, bytes, bool, type(None))
COMPOSITES = (RaggedTensor, SparseTensor)
UNIONS = (typing.Union, types.UnionType)


class ImmutableDict(dict):
    """A dictionary that stays what it is: the value of a field that is a `typing.Mapping`."""

    def _refuse(self, *_, **__):
        """Refuse: it stays what it is."""
        raise TypeError(f"ImmutableDict: got a change of {dict.__repr__(self)}, expected none; make another one")

    __setitem__ = __delitem__ = update = pop = popitem = clear = setdefault = __ior__ = _refuse

    def __reduce__(self):
        return ImmutableDict, (dict(self),)

    def __hash__(self):
        return hash(tuple(sorted(self.items())))

    def __repr__(self):
        return f"ImmutableDict({dict.__repr__(self)})"


def is_extension(kind):
    """Return whether a class is an extension type."""
    return isinstance(kind, type) and hasattr(kind, "_fields_of_extension")


def require_known(annotation, name, owner):
    """Raise a TypeError if an annotation is none that fields may have."""
    origin, within = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is tuple:
        parts = [one for one in within if one is not Ellipsis]
    elif origin is collections.abc.Mapping:
        parts = within[1:]
    elif origin in UNIONS:
        parts = within
    elif annotation in (*SCALARS, None, Tensor, TensorShape, DType, *COMPOSITES) or is_extension(annotation) or (
            isinstance(annotation, TypeSpec) or isinstance(annotation, type) and issubclass(annotation, TypeSpec)):
        return
    else:
        raise TypeError(f"In field {name!r} of {owner!r}: Unsupported type annotation "
                        f"`{getattr(annotation, '__name__', annotation)}`")
    for one in parts:
        require_known(one, name, owner)


def converted(value, annotation, path, as_spec=False):
    """Return the value of a field as its annotation has it.

    Parameters
    ----------
    value : Any
        What the user gave.
    annotation : Any
        Of the field.
    path : str
        What the field is called.
    as_spec : bool, optional, default=False
        Whether specs stand in the place of tensors.

    Returns
    -------
    Any
        The value; a TypeError is raised where it does not fit.

    """
    origin, within = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in UNIONS:
        return _one_of(value, within, path, as_spec)
    if origin is tuple:
        return _tuple(value, within, path, as_spec)
    if origin is collections.abc.Mapping:
        return _mapping(value, within, path, as_spec)
    annotation = type(None) if annotation is None else annotation
    if annotation is Tensor or isinstance(annotation, TypeSpec):
        return _tensor(value, annotation, path, as_spec)
    if annotation in (DType, TensorShape):
        return _made(value, annotation, as_dtype if annotation is DType else TensorShape, path)
    if as_spec and (annotation in COMPOSITES or is_extension(annotation)):
        value = value if isinstance(value, TypeSpec) else type_spec_from_value(value)
        fits = isinstance(value, TypeSpec) and issubclass(value.value_type, annotation)
    else:
        fits = isinstance(value, annotation) and not (isinstance(value, bool) and annotation is int)
    if not fits:
        raise TypeError(f"{path}: expected '{annotation.__name__}', got {type(value).__name__!r}")
    return value


def _one_of(value, kinds, path, as_spec):
    """Return a value as the first of some annotations that it fits; those of tensors, which take much, come last."""
    for kind in sorted(kinds, key=lambda one: one is Tensor or isinstance(one, TypeSpec)):
        try:
            return converted(value, kind, path, as_spec)
        except (TypeError, ValueError):  # another one may fit
            continue
    names = ", ".join(f"'{getattr(kind, '__name__', kind)}'" for kind in kinds)
    raise TypeError(f"{path}: expected one of {names}, got {type(value).__name__!r}")


def _tuple(value, kinds, path, as_spec):
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{path}: expected a tuple, got {type(value).__name__!r}")
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        kinds = kinds[:1] * len(value)
    if len(kinds) != len(value):
        raise TypeError(f"{path}: expected tuple with length {len(kinds)}, got {value!r}")
    return tuple(converted(item, kind, f"{path}[{place}]", as_spec)
                 for place, (item, kind) in enumerate(zip(value, kinds)))


def _mapping(value, kinds, path, as_spec):
    if not isinstance(value, collections.abc.Mapping):
        raise TypeError(f"{path}: expected mapping, got {type(value).__name__!r}")
    return ImmutableDict((converted(key, kinds[0], f"{path}.keys()"),
                          converted(item, kinds[1], f"{path}[{key!r}]", as_spec)) for key, item in value.items())


def _tensor(value, annotation, path, as_spec):
    wanted = annotation if isinstance(annotation, TypeSpec) else None
    if as_spec:
        found = value if isinstance(value, TypeSpec) else type_spec_from_value(value)
    else:
        found = value
        if not is_tensor(value) or isinstance(value, _C.Tensor) and not isinstance(value, Tensor):
            try:
                found = convert_to_tensor(value, getattr(wanted, "dtype", None))
            except (ValueError, TypeError) as error:
                raise TypeError(f"{path}: expected a Tensor, got {type(value).__name__!r}: {error}") from None
    if isinstance(wanted, TypeSpec) and not wanted.is_compatible_with(found):
        raise TypeError(f"{path}: expected a {wanted}, got {found}" if as_spec else
                        f"{path}: expected a {wanted.value_type.__name__} compatible with {wanted}, got {found!r}")
    return found


def _made(value, kind, make, path):
    try:
        return value if isinstance(value, kind) else make(value)
    except (TypeError, ValueError):
        raise TypeError(f"{path}: expected '{kind.__name__}', got {type(value).__name__!r}") from None


def leaves_of(value):
    """Return the tensors of a field's value, or the specs of such, in order."""
    if hasattr(value, "_field_values"):
        return [leaf for item in value._field_values() for leaf in leaves_of(item)]
    if isinstance(value, (TypeSpec, *COMPOSITES)) or is_tensor(value):
        return [value]
    if isinstance(value, collections.abc.Mapping):
        return [leaf for key in sorted(value) for leaf in leaves_of(value[key])]
    return [leaf for item in value for leaf in leaves_of(item)] if isinstance(value, tuple) else []


def filled(value, leaves):
    """Return a field's value with others in the place of its tensors or specs; `leaves` is an iterator."""
    if hasattr(value, "_field_values"):
        return value._with_leaves(leaves)
    if isinstance(value, (TypeSpec, *COMPOSITES)) or is_tensor(value):
        return next(leaves)
    if isinstance(value, collections.abc.Mapping):
        made = {key: filled(value[key], leaves) for key in sorted(value)}
        return ImmutableDict((key, made[key]) for key in value)
    if isinstance(value, tuple) and not isinstance(value, TensorShape):
        return tuple(filled(item, leaves) for item in value)
    return value


def parameters_of(fields, defaults):
    """Return the signature of a constructor whose parameters are fields; `self` comes first."""
    found = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    found += [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD,
                                default=defaults.get(name, inspect.Parameter.empty)) for name in fields]
    return inspect.Signature(sorted(found, key=lambda one: one.name != "self" and one.default is not one.empty))
