"""`tf.io.decode_json_example` beside genuine TensorFlow's."""
import numpy as np
import pytest

from dragon.vm import tensorflow as ours
from harness import genuine
from harness.subresults import each


def examples_of(tf, text):
    found = tf.io.decode_json_example(text)
    return tuple(found.shape), [str(tf.train.Example.FromString(one)) for one in
                                np.ravel(np.asarray(found.numpy(), object))]


@each("text", [
    '{"features":{"feature":{"a":{"int64List":{"value":["1",2,"-3"]}}}}}',
    '{"features":{"feature":{"b":{"bytesList":{"value":["aGk=", "aGk", ""]}}}}}',
    '{"features":{"feature":{"c":{"floatList":{"value":[1.5,"NaN",2,"Infinity","-Infinity","2.5"]}}}}}',
    '{"features":{"feature":{"a":{"int64_list":{"value":[1.0]}}}}}',
    '{"features":{"feature":{"a":{"int64List":{"value":"1"}}}}}', ["{}", '{"features":{}}'], [["{}"]],
    '{"features":null}', '{"features":{"feature":{"a":{"int64List":{"value":[1.5]}}}}}', "{", "[]", "",
    '{"features":{"feature":{"a":{"zzz":{"value":[1]}}}}}', '{"features":[]}',
    '{"features":{"feature":{"a":{"bytesList":{"value":["!!"]}}}}}',
    '{"features":{"feature":{"a":{"bytesList":{"value":[3]}}}}}',
    '{"features":{"feature":{"a":{"int64List":{"value":["99999999999999999999"]}}}}}',
    '{"features":{"feature":{"a":{"int64List":{"value":[true]}}}}}',
    '{"features":{"feature":{"a":{"floatList":{"value":["x"]}}}}}',
    '{"features":{"feature":{"a":{"floatList":{"value":[1e300]}}}}}',
    '{"features":{"feature":{"a":{"floatList":{"value":[true]}}}}}',
])
def test_examples_in_json(text):
    try:
        expected = examples_of(genuine.tf, text)
    except genuine.tf.errors.InvalidArgumentError:
        with pytest.raises(ours.errors.InvalidArgumentError, match="Error while parsing JSON"):
            examples_of(ours, text)
    else:
        assert examples_of(ours, text) == expected
