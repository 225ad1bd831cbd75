"""Values by key that workers push gradients to and pull weights from, as MXNet has them."""
from dragon.core.places import look_up

__getattr__, __dir__ = look_up(globals(), {
    "base": "KVStoreBase",
    "making": "KVStore create",
    "rows": "Rows",
    "local": "LocalKVStore",
    "synchronous": "SynchronousKVStore",
    "asynchronous": "AsynchronousKVStore",
    "compression": "TwoBits",
    "updaters": "Updater",
})
