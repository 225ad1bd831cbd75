"""keras.utils.legacy: another name for the older form of objects."""
from dragon.vm.keras.legacy.saving import deserialize_keras_object, serialize_keras_object  # noqa: F401
