"""The storage of a checkpoint that is given by its place alone."""
from dragon.vm.torch.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter


def _storage_setup(storage, checkpoint_id, reader=False):
    """Return a reader or writer, ready for a checkpoint."""
    if storage:
        if checkpoint_id is not None:
            storage.reset(checkpoint_id)
        return storage
    if not checkpoint_id:
        raise RuntimeError("`checkpoint_id` must be specified if storage_reader/storage_writer is None.")
    kind = FileSystemReader if reader else FileSystemWriter
    if kind.validate_checkpoint_id(checkpoint_id):
        return kind(checkpoint_id)
    raise RuntimeError("Cannot detect which StorageReader or StorageWriter to use. Please specify the "
                       f"storage_reader/storage_writer. Got checkpoint_id={checkpoint_id!r}, expected a path of this "
                       "machine")
