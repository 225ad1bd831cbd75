"""`tf.train`: checkpoints, moving averages, and the messages of examples."""
from dragon.vm.tensorflow.core.missing import module_getattr as _module_getattr

_CHECKPOINT = "dragon.vm.tensorflow.core.checkpoint"
_later = {_name: _CHECKPOINT for _name in (
    "Checkpoint", "CheckpointOptions", "checkpoints_iterator", "get_checkpoint_state", "latest_checkpoint",
    "list_variables", "load_checkpoint", "load_variable")}
_later["CheckpointManager"] = "dragon.vm.tensorflow.core.checkpoint_manager"
_later["ExponentialMovingAverage"] = "dragon.vm.tensorflow.core.averaging"
_later.update((_name, "dragon.vm.tensorflow.core.example") for _name in (
    "BytesList", "Example", "Feature", "FeatureList", "FeatureLists", "Features", "FloatList", "Int64List",
    "SequenceExample"))
__getattr__ = _module_getattr("tensorflow.train", globals(), _later)


def __dir__():
    return sorted(_later)
