"""The older form of objects, beside genuine Keras."""
import pytest

import dragon.vm.keras as keras
from harness import genuine

OBJECTS = {
    "layer": lambda k: k.layers.Dense(3, activation="relu", kernel_initializer="he_normal", name="dense"),
    "initializer": lambda k: k.initializers.RandomNormal(stddev=0.1, seed=3),
    "regularizer": lambda k: k.regularizers.L2(0.1),
    "schedule": lambda k: k.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9),
    "nothing": lambda k: None,
}


@pytest.mark.parametrize("name", OBJECTS)
def test_written_alike_and_read(name):
    found = keras.legacy.saving.serialize_keras_object(OBJECTS[name](keras))
    wanted = genuine.keras.legacy.saving.serialize_keras_object(OBJECTS[name](genuine.keras))
    assert found == wanted
    homes = {**vars(keras.initializers), **vars(keras.regularizers), "Dense": keras.layers.Dense,
             "ExponentialDecay": keras.optimizers.schedules.ExponentialDecay}
    read = keras.legacy.saving.deserialize_keras_object(wanted, module_objects=homes)
    assert isinstance(read, type(OBJECTS[name](keras)))
    assert keras.legacy.saving.serialize_keras_object(read) == found


def test_functions_and_errors():
    saving = keras.utils.legacy
    assert saving.serialize_keras_object(len) == "len"
    assert saving.deserialize_keras_object("double", custom_objects={"double": len}) is len
    for bad in ({"class_name": "Dense"}, {"class_name": "Nobody", "config": {}}, "nobody", 3):
        with pytest.raises(ValueError, match="Received"):
            saving.deserialize_keras_object(bad)
    with pytest.raises(ValueError, match="Received"):
        saving.serialize_keras_object(object())
