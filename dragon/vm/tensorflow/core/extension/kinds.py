"""Extension types and their specs."""
import functools
import typing

from dragon.vm.shared.arrays.creation import constant
from dragon.vm.shared.naming import known_as
from dragon.vm.shared.tensors.type_spec import TypeSpec, type_spec_from_value
from dragon.vm.tensorflow.core.extension.batching import require_default_encoder
from dragon.vm.tensorflow.core.extension.fields import converted, filled, leaves_of, parameters_of, require_known

OPEN = "_is_open_to_change"  # among an object's attributes while its constructor runs


class Fields:
    """What extension types and their specs share: named fields that do not change."""

    def __setattr__(self, name, value):
        if OPEN not in self.__dict__:
            raise AttributeError(f"Cannot mutate attribute `{name}` outside the custom constructor of ExtensionType.")
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        if OPEN not in self.__dict__:
            raise AttributeError(f"Cannot mutate attribute `{name}` outside the custom constructor of ExtensionType.")
        object.__delattr__(self, name)

    def _field_values(self):
        return [getattr(self, name) for name in self._fields_of_extension]

    def _component_tensors(self):
        return leaves_of(self)

    def _with_leaves(self, leaves):
        """Return such an object with others in the place of its tensors, or a spec if these are specs."""
        values = [filled(value, leaves) for value in self._field_values()]
        kind = self._kind_for(any(isinstance(leaf, TypeSpec) for value in values for leaf in leaves_of(value)))
        made = object.__new__(kind)
        made.__dict__.update(zip(self._fields_of_extension, values))
        return made

    def __repr__(self):
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._fields_of_extension)
        return f"{type(self).__qualname__}({fields})"


def _complete(self, as_spec):
    """Have the fields of an object, whose constructor is at its end, be what their annotations say."""
    fields = self._fields_of_extension
    for name, value in type(self)._defaults_of_extension.items():
        self.__dict__.setdefault(name, value)
    missing, further = fields.keys() - self.__dict__.keys(), self.__dict__.keys() - fields.keys() - {OPEN}
    if missing:
        raise ValueError(f"Missing required fields: {missing}")
    if further:
        raise ValueError(f"{type(self).__name__}: got attributes that are no fields: {further}")
    values = {name: converted(self.__dict__[name], kind, name, as_spec) for name, kind in fields.items()}
    self.__dict__.update(values)


def _constructor(signature):
    """Return a constructor that takes fields as arguments."""
    def __init__(self, *args, **kwargs):
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        for name, value in list(bound.arguments.items())[1:]:
            setattr(self, name, value)
    __init__.__signature__ = signature
    return __init__


def _guarded(constructor, as_spec):
    """Return a constructor after whose end, and that of classes below, the fields are complete and stay as they are."""
    @functools.wraps(constructor)
    def __init__(self, *args, **kwargs):
        if OPEN in self.__dict__:  # the constructor of a class below calls this one
            constructor(self, *args, **kwargs)
            return
        self.__dict__[OPEN] = True
        try:
            constructor(self, *args, **kwargs)
            _complete(self, as_spec)
        finally:
            del self.__dict__[OPEN]
        if not as_spec:
            self.__validate__()
    return __init__


@known_as("tensorflow.experimental")
class ExtensionTypeSpec(Fields, TypeSpec):
    """The spec of an extension type's objects: fields, with specs in the place of tensors."""

    _fields_of_extension, _defaults_of_extension, _value_type = {}, {}, None

    value_type = property(lambda self: self._value_type, doc="type: the class of such values.")

    def __reduce__(self):
        return _again, (self._value_type, True, dict(self.__dict__))

    def _kind_for(self, has_specs):
        return type(self) if has_specs else self._value_type

    def _parts(self):
        return tuple(self._field_values())

    def is_compatible_with(self, spec_or_value):
        """Return whether a value, or one that another spec describes, may be such a one."""
        other = spec_or_value if isinstance(spec_or_value, TypeSpec) else type_spec_from_value(spec_or_value)
        mine, theirs = leaves_of(self), leaves_of(other) if type(other) is type(self) else ()
        return (len(mine) == len(theirs) and all(one.is_compatible_with(two) for one, two in zip(mine, theirs))
                and self == other._with_leaves(iter(mine)))

    def most_specific_common_supertype(self, others):
        """Return the narrowest spec of which the values of all are, or None."""
        mine = leaves_of(self)
        if any(type(other) is not type(self) or len(leaves_of(other)) != len(mine)
               or self != other._with_leaves(iter(mine)) for other in others):
            return None
        found = [one.most_specific_common_supertype(row) for one, *row in zip(mine, *map(leaves_of, others))]
        return None if None in found else self._with_leaves(iter(found))

    def is_subtype_of(self, other):
        """Return whether all values of this spec are of the other as well."""
        return self.most_specific_common_supertype([other]) == other if type(other) is type(self) else False

    def _batch(self, size):
        from dragon.vm.shared.data.specs import batch_spec
        return self._with_leaves(iter([batch_spec(leaf, size) for leaf in leaves_of(self)]))

    def _unbatch(self):
        from dragon.vm.shared.data.specs import unbatch_spec
        return self._with_leaves(iter([unbatch_spec(leaf) for leaf in leaves_of(self)]))


@known_as("tensorflow.experimental")
class ExtensionType(Fields):
    """A class of values that are made of tensors. Fields are annotated, checked, and do not change.

    Objects are arguments and results of `tf.function`, also through branches and loops.

    Examples
    --------
    >>> class Masked(tf.experimental.ExtensionType):
    ...     values: tf.Tensor
    ...     mask: tf.Tensor
    ...     def total(self):
    ...         return tf.reduce_sum(tf.where(self.mask, self.values, 0))
    >>> Masked([1, 2, 3], [True, False, True]).total().numpy()
    4

    """

    _fields_of_extension, _defaults_of_extension = {}, {}
    __dataclass_fields__ = {}  # captures take such objects apart, as they do dataclasses

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        require_default_encoder(cls)
        own = _annotations_of(cls)
        for name, annotation in own.items():
            require_known(annotation, name, cls)
        cls._fields_of_extension = {**cls._fields_of_extension, **own}
        defaults = {name: converted(cls.__dict__[name], own[name], f"default value for {name}")
                    for name in own if name in cls.__dict__}
        for name in defaults:
            delattr(cls, name)
        cls._defaults_of_extension = {**cls._defaults_of_extension, **defaults}
        if "__init__" not in cls.__dict__:
            cls.__init__ = _constructor(parameters_of(cls._fields_of_extension, cls._defaults_of_extension))
        cls.__init__ = _guarded(cls.__init__, False)
        cls.Spec = _spec_class(cls)

    def __validate__(self):
        """Check the fields; a class may have its own checks here."""

    def __eq__(self, other):
        if type(other) is not type(self) or self._type_spec != other._type_spec:
            return constant(False)
        from dragon.vm.tensorflow.math import equal, reduce_all
        return reduce_all([reduce_all(equal(one, two)) for one, two in zip(leaves_of(self), leaves_of(other))])

    def __ne__(self, other):
        from dragon.vm.tensorflow.math import logical_not
        return logical_not(self == other)

    __hash__ = None

    def __reduce__(self):
        return _again, (type(self), False, dict(self.__dict__))

    @property
    def _type_spec(self):
        return self._with_leaves(iter([type_spec_from_value(leaf) for leaf in leaves_of(self)])) if leaves_of(
            self) else self.Spec(*self._field_values())

    def _kind_for(self, has_specs):
        return self.Spec if has_specs else type(self)

    def _from_components(self, parts):
        return self._with_leaves(iter(parts))

    # What AutoGraph carries through branches and loops.
    _staged_parts, _from_parts = Fields._component_tensors, _from_components


def _annotations_of(cls):
    """Return the annotations of a class's own fields, with what their texts stand for."""
    own = cls.__dict__.get("__annotations__", {})
    if any(map(_has_text, own.values())):
        known = typing.get_type_hints(cls, localns={cls.__name__: cls})  # which has no place in its module yet
        own = {name: known[name] for name in own}
    for name in own:
        if name.startswith("_is_open") or name in ("self", "Spec"):
            raise ValueError(f"The field name '{name}' is reserved.")
    return own


def _has_text(annotation):
    """Return whether an annotation, or a part of it, is a text that stands for a class."""
    return isinstance(annotation, (str, typing.ForwardRef)) or any(map(_has_text, typing.get_args(annotation)))


def _spec_class(cls):
    """Return the class of a type's specs: what the user has written of it, and the fields."""
    written = cls.__dict__.get("Spec")
    names = {} if written is None else {name: value for name, value in vars(written).items()
                                        if name not in ("__dict__", "__weakref__")}
    names.update(_fields_of_extension=cls._fields_of_extension, _value_type=cls, __module__=cls.__module__,
                 __qualname__=f"{cls.__qualname__}.Spec")
    names.setdefault("__init__", _constructor(parameters_of(cls._fields_of_extension, {})))
    made = type("Spec", (ExtensionTypeSpec,), names)
    made.__init__, made.__name__ = _guarded(made.__init__, True), f"{cls.__name__}.Spec"
    return made


def _again(cls, is_spec, fields):
    """Return a copy of an object that was pickled."""
    made = object.__new__(cls.Spec if is_spec else cls)
    made.__dict__.update(fields)
    return made


@known_as("tensorflow.experimental")
class BatchableExtensionType(ExtensionType):
    """An extension type whose objects are rows of `tf.data` and `tf.map_fn`: each tensor has an axis of rows."""
