"""`tf.experimental.ExtensionTypeBatchEncoder`: how specs of extension types get and lose the axis of a batch."""
import collections.abc

from dragon.vm.shared.naming import known_as
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.type_spec import TypeSpec
from dragon.vm.tensorflow.core.extension.fields import leaves_of


@known_as("tensorflow.experimental")
class ExtensionTypeBatchEncoder:
    """How objects of an extension type are put into batches: each of their tensors by itself."""

    def batch(self, spec, batch_size):
        """Return the spec of a batch of such objects: each spec and each shape among the fields has an axis in front.

        Parameters
        ----------
        spec : TypeSpec
            Of one object.
        batch_size : Optional[int]
            How many there are, if it is known.

        Returns
        -------
        TypeSpec
            Of the batch.

        """
        from dragon.vm.shared.data.specs import batch_spec
        return _changed(spec, lambda one: TensorShape([batch_size, *one]) if isinstance(one, TensorShape)
                        else batch_spec(one, batch_size))

    def unbatch(self, spec):
        """Return the spec of one object of a batch.

        Parameters
        ----------
        spec : TypeSpec
            Of the batch.

        Returns
        -------
        TypeSpec
            Of an object.

        """
        from dragon.vm.shared.data.specs import unbatch_spec
        return _changed(spec, lambda one: one[1:] if isinstance(one, TensorShape) else unbatch_spec(one))

    def encode(self, spec, value, minimum_rank=0):
        """Return the tensors of an object.

        Parameters
        ----------
        spec : TypeSpec
            Of the object.
        value : ExtensionType
            The object.
        minimum_rank : int, optional, default=0
            How many axes all tensors have at least; theirs are as they are.

        Returns
        -------
        tuple
            The tensors, in the order of the fields.

        """
        return tuple(leaves_of(value))

    def decode(self, spec, encoded_value):
        """Return the object of these tensors, which its spec describes.

        Parameters
        ----------
        spec : TypeSpec
            Of the object.
        encoded_value : Sequence[Tensor]
            What `encode` returned, in a batch or out of it.

        Returns
        -------
        ExtensionType
            The object.

        """
        return spec._with_leaves(iter(encoded_value))

    def encoding_specs(self, spec):
        """Return the specs of what `encode` returns.

        Parameters
        ----------
        spec : TypeSpec
            Of the object.

        Returns
        -------
        tuple
            The specs.

        """
        return tuple(leaves_of(spec))


def _changed(spec, change):
    """Return a spec of an extension type with each spec and each shape among its fields changed."""
    made = object.__new__(type(spec))
    made.__dict__.update((name, _changed_field(getattr(spec, name), change)) for name in spec._fields_of_extension)
    return made


def _changed_field(value, change):
    if hasattr(value, "_field_values"):
        return _changed(value, change)
    if isinstance(value, (TypeSpec, TensorShape)):
        return change(value)
    if isinstance(value, collections.abc.Mapping):
        return type(value)((key, _changed_field(item, change)) for key, item in value.items())
    return tuple(_changed_field(item, change) for item in value) if isinstance(value, tuple) else value


def require_default_encoder(cls):
    """Raise where a class of extension types says itself what becomes of its objects in batches."""
    found = cls.__dict__.get("__batch_encoder__")
    if found is not None and type(found) is not ExtensionTypeBatchEncoder:
        raise NotImplementedError(f"{cls.__name__}: got __batch_encoder__={found!r}, expected an "
                                  "ExtensionTypeBatchEncoder itself: batches hold the tensors of the fields")
