"""Everything that writes a whole file or folder: how a numbered content is written, and which number is read back.

`test_writers.py` finds who calls the one writer, and says which of them no row here reaches.
"""
import os

import writers_keras
import writers_own
import writers_torch

READERS = {"json": writers_own.read_json, "picture": writers_own.read_picture, "pictures": writers_own.read_pictures}
# name -> (the file's name, how it is written, how it is read)
WRITERS = {name: (kind, write, READERS.get(read, read)) for table in (
    writers_torch.WRITERS, writers_keras.WRITERS, writers_own.WRITERS) for name, (kind, write, read) in table.items()}
# Those whose files are several, or a folder, or which give files other names: others are a single call of `write`.
COMPOSED = (
    "torch.onnx.export, beside", "torch.fx to_folder", "torch.distributed.checkpoint",
    "torch.distributed.checkpoint, Hugging Face", "keras, folder", "keras, weights in several files",
    "keras.callbacks.BackupAndRestore", "tf.saved_model.save", "tf.train.Checkpoint", "tf.train.CheckpointManager",
    "tf.data.Dataset.save", "samples, .rec",
)
# Who calls the one writer and is reached by no row, and why.
ELSEWHERE = {
    "dragon.distributed.kvstore.asynchronous:AsynchronousKVStore.save_optimizer_states": "needs several processes",
    "dragon.vm.keras.saving.once:_beside": "needs several processes: tests/vm/keras/distribution",
    "dragon.vm.keras.callbacks.backup_and_restore:BackupAndRestore._restore": "only after files that were cut off",
    "dragon.vm.keras.callbacks.tensorboard:TensorBoard._configure_embeddings": "a text of a few lines",
    "dragon.vm.keras.callbacks.tensorboard_profile:BatchProfile.stop": "a file of a name that is new each time",
    "dragon.vm.keras.visualization.gallery:plot_image_gallery": "needs matplotlib",
    "dragon.vm.tensorflow.profiler.experimental:_Session.write": "a file of a name that is new each time",
    "dragon.vm.tensorflow.test.benchmark:Benchmark.report_benchmark": "never replaces what is there",
    "dragon.vm.torch.cuda.history:_dump_snapshot": "needs a GPU: tests/cuda/test_torch_memory.py",
    "dragon.vm.torchvision.datasets.lsun:LSUNClass.__init__": "needs lmdb: a list of keys, made anew",
    "dragon.vm.torchvision.datasets.phototour:PhotoTour.cache": "a list of what was downloaded, made anew",
}


def leftovers(folder):
    """Return the names in a folder that a writer should have taken away."""
    return sorted(name for _, folders, files in os.walk(folder) for name in folders + files
                  if name.endswith((".part", ".new", ".tmp")) or "-of-00002" in name or ".next." in name)
