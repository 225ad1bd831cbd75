"""`tf.io`: from the bytes of examples to tensors."""
import numpy as np

from dragon.vm.shared.data.rows import over_strings
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.files.message_json import from_json
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.tensorflow.core.examples.parsing import parse_many, parse_sequence, parse_sequences, parse_single


def parse_example(serialized, features, example_names=None, name=None):
    """Return a dict of tensors of the bytes of several examples, one row for each.

    Parameters
    ----------
    serialized : Tensor
        A vector of strings.
    features : dict
        What is read: `tf.io.FixedLenFeature`, `VarLenFeature`, `FixedLenSequenceFeature`, `RaggedFeature` or
        `SparseFeature` by name.
    example_names : Tensor, optional
        Not used.

    """
    return parse_many(serialized, features, example_names)


def parse_single_example(serialized, features, example_names=None, name=None):
    """Return a dict of tensors of the bytes of one example; see `parse_example`."""
    return parse_single(serialized, features, example_names)


def parse_single_sequence_example(serialized, context_features=None, sequence_features=None, example_name=None,
                                  name=None):
    """Return a dict of tensors of the context of one sequence example, and one of its steps."""
    return parse_sequence(serialized, context_features, sequence_features, example_name)


def parse_sequence_example(serialized, context_features=None, sequence_features=None, example_names=None, name=None):
    """Return dicts of tensors of the contexts of several sequence examples, of their steps, and of their lengths."""
    return parse_sequences(serialized, context_features, sequence_features, example_names)


def decode_json_example(json_examples, name=None):
    """Return the bytes of examples that are told in JSON.

    Parameters
    ----------
    json_examples : Tensor
        Strings, each an object with the key "features".

    Returns
    -------
    Tensor
        Strings of the same shape: what `tf.train.Example.FromString` reads.

    """
    from dragon.vm.tensorflow.core.examples.example import Example
    array = convert_to_tensor(json_examples, "string").numpy()
    array = np.asarray(array, object)
    found = np.empty(array.shape, object)
    for place in np.ndindex(array.shape):
        try:
            found[place] = from_json(Example, array[place]).SerializeToString()
        except (ValueError, RecursionError) as error:
            raise invalid_argument(f"Error while parsing JSON: {error} [Op:DecodeJSONExample]") from None
    return over_strings(found)
