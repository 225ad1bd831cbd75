"""`tf.train`: checkpoints, moving averages, and the messages of examples."""
from dragon.vm.guest import lookup as _lookup

__getattr__, __dir__ = _lookup(globals(), {
    "core.checkpoint.checkpoint": "Checkpoint CheckpointOptions checkpoints_iterator get_checkpoint_state "
                                  "latest_checkpoint list_variables load_checkpoint load_variable",
    "core.checkpoint.manager": "CheckpointManager",
    "core.checkpoint.views": "CheckpointView TrackableView",
    "core.cluster": "ClusterDef ClusterSpec JobDef ServerDef",
    "core.coordinator": "Coordinator",
    "core.checkpoint.averaging": "ExponentialMovingAverage",
    "core.examples.example": "BytesList Example Feature FeatureList FeatureLists Features FloatList Int64List "
                             "SequenceExample",
})
