"""Stores by the names of their kinds."""
from dragon.distributed.kvstore.base import KVStoreBase

KVStore = KVStoreBase
HERE = ("local", "local_allreduce_cpu", "device", "local_allreduce_device")
SYNCHRONOUS = ("dist", "dist_sync", "dist_device_sync", "dist_sync_device")
ASYNCHRONOUS = ("dist_async", "dist_async_device", "dist_device_async")
ELSEWHERE = {"nccl": "device", "horovod": "dist_sync", "byteps": "dist_sync", "p3": "dist_sync"}


def create(name="local", group=None):
    """Return a new store; with several processes, all call this.

    Parameters
    ----------
    name : str, optional, default="local"
        "local" or "device" for this process; "dist_sync", where a push waits for those of all processes; "dist_async",
        where each is taken as it comes; or the name of a class that was registered.
    group : ProcessGroup, optional
        The processes; those of the world by default.

    Returns
    -------
    KVStoreBase
        The store.

    """
    if not isinstance(name, str):
        raise TypeError(f"kvstore.create: got {name!r}, expected a name")
    kind = name.lower()
    if kind in KVStoreBase.kinds:
        return KVStoreBase.kinds[kind]()
    if kind in HERE:
        from dragon.distributed.kvstore.local import LocalKVStore
        return LocalKVStore("device" if "device" in kind else "local")
    if kind in SYNCHRONOUS:
        from dragon.distributed.kvstore.synchronous import SynchronousKVStore
        return SynchronousKVStore(kind, group)
    if kind in ASYNCHRONOUS:
        from dragon.distributed.kvstore.asynchronous import AsynchronousKVStore
        return AsynchronousKVStore(kind, group)
    hint = f"; {ELSEWHERE[kind]!r} does what it is for" if kind in ELSEWHERE else ""
    known = ["local", "device", "dist_sync", "dist_async", *sorted(KVStoreBase.kinds)]
    raise ValueError(f"kvstore.create: got {name!r}, expected one of {known}{hint}")
