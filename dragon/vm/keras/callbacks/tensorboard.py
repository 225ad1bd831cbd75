"""Metrics, weights and times of a training as TensorBoard reads them; written without TensorFlow."""
import os
import time

from dragon.core import files
from dragon.vm.keras.callbacks import learning_rate
from dragon.vm.keras.callbacks.callback import Callback
from dragon.vm.keras.callbacks.tensorboard_profile import BatchProfile


class TensorBoard(Callback):
    """Write event files for TensorBoard.

    Parameters
    ----------
    log_dir : Union[str, os.PathLike], optional, default="logs"
        Where to; training goes to "train", validation to "validation" below it.
    histogram_freq : int, optional, default=0
        Every how many epochs the weights' histograms are written.
    write_graph : bool, optional, default=True
        Whether the model's layers are written.
    write_images : bool, optional, default=False
        Whether weights are written as images too, along with histograms.
    write_steps_per_second : bool, optional, default=False
        Whether the speed is written.
    update_freq : Union[str, int], optional, default="epoch"
        "epoch", "batch", or a number of batches.
    profile_batch : Union[int, Tuple[int, int], str], optional, default=0
        A batch, or the first and last of several, whose operators are timed.
    embeddings_freq : int, optional, default=0
        Every how many epochs the embeddings are saved.
    embeddings_metadata : Union[str, Dict[str, str]], optional
        Files that say what the embeddings' rows mean.

    """

    def __init__(self, log_dir="logs", histogram_freq=0, write_graph=True, write_images=False,
                 write_steps_per_second=False, update_freq="epoch", profile_batch=0, embeddings_freq=0,
                 embeddings_metadata=None):
        super().__init__()
        self.log_dir = str(log_dir)
        self.histogram_freq, self.write_graph, self.write_images = histogram_freq, write_graph, write_images
        self.write_steps_per_second = write_steps_per_second
        self.update_freq = 1 if update_freq == "batch" else update_freq
        self.embeddings_freq, self.embeddings_metadata = embeddings_freq, embeddings_metadata
        self._profile = BatchProfile(profile_batch)
        self._global_train_batch = self._global_test_batch = 0
        self._writers = {}

    def set_model(self, model):
        self._model = model
        self._train_dir, self._val_dir = (os.path.join(self.log_dir, name) for name in ("train", "validation"))
        self._close_writers()
        if self.write_graph:
            self._write_model()
        if self.embeddings_freq:
            self._configure_embeddings()

    @property
    def _train_writer(self):
        return self._writer(self._train_dir)

    @property
    def _val_writer(self):
        return self._writer(self._val_dir)

    def _writer(self, folder):
        if folder not in self._writers:
            from dragon.vm.shared.files.events import EventWriter
            self._writers[folder] = EventWriter(folder)
        return self._writers[folder]

    def _close_writers(self):
        for writer in self._writers.values():
            writer.close()
        self._writers = {}

    def _write_model(self):
        """Write what a model of layers consists of; one of a user's own class cannot say it."""
        if type(self._model).__name__ not in ("Functional", "Sequential"):
            return
        try:
            text = self._model.to_json()
        except (NotImplementedError, TypeError, ValueError):  # a layer has no config
            return
        from dragon.vm.shared.files.events import describe
        from dragon.vm.shared.tensors.convert import convert_to_tensor
        self._train_writer.add("keras", convert_to_tensor(text), 0, describe("graph_keras_model", content=b"1"))

    # --- events

    def on_train_begin(self, logs=None):
        self._global_train_batch = 0

    def on_train_end(self, logs=None):
        self._profile.stop(self._train_dir)
        self._close_writers()

    def on_test_end(self, logs=None):
        optimizer = self.model.optimizer
        if optimizer and hasattr(optimizer, "iterations"):
            step = int(optimizer.iterations)
            for name, value in (logs or {}).items():
                self._val_writer.scalar(f"evaluation_{name}_vs_iterations", value, step)

    def on_train_batch_begin(self, batch, logs=None):
        self._global_train_batch += 1
        self._batch_start_time = time.time()
        self._profile.begin(self._global_train_batch)

    def on_train_batch_end(self, batch, logs=None):
        step = self._global_train_batch
        if self.update_freq != "epoch" and step % self.update_freq == 0:
            writer = self._train_writer
            if self.write_steps_per_second:
                writer.scalar("batch_steps_per_second", 1.0 / max(time.time() - self._batch_start_time, 1e-9), step)
            for name, value in (logs or {}).items():
                writer.scalar(f"batch_{name}", value, step)
        self._profile.end(step, self._train_dir)

    def on_test_batch_begin(self, batch, logs=None):
        self._global_test_batch += 1

    def on_epoch_begin(self, epoch, logs=None):
        if self.write_steps_per_second:
            self._epoch_start = int(self.model.optimizer.iterations), time.time()

    def on_epoch_end(self, epoch, logs=None):
        self._log_epoch_metrics(epoch, logs or {})
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            self._log_weights(epoch)
        if self.embeddings_freq and epoch % self.embeddings_freq == 0:
            path = os.path.join(self._train_dir, f"keras_embedding.ckpt-{epoch}.weights.h5")
            os.makedirs(self._train_dir, exist_ok=True)
            self.model.save_weights(path)

    # --- what is written

    def _log_epoch_metrics(self, epoch, logs):
        if not logs:
            return
        train = {name: value for name, value in logs.items() if not name.startswith("val_")}
        if self.model.optimizer is not None:
            learning_rate.log(self.model, train)
        if self.write_steps_per_second:
            before, start = self._epoch_start
            train["steps_per_second"] = (int(self.model.optimizer.iterations) - before) / (time.time() - start)
        for name, value in train.items():
            self._train_writer.scalar(f"epoch_{name}", value, epoch)
        for name, value in logs.items():
            if name.startswith("val_"):
                self._val_writer.scalar(f"epoch_{name[4:]}", value, epoch)
        for writer in self._writers.values():
            writer.flush()

    def _log_weights(self, epoch):
        for layer in self.model.layers:
            for weight in layer.weights:
                name, array = weight.path.replace(":", "_"), weight.numpy()
                self._train_writer.histogram(f"{name}/histogram", array, epoch)
                image = _as_images(array) if self.write_images else None
                if image is not None:
                    self._train_writer.image(f"{name}/image", image, epoch)
        self._train_writer.flush()

    def _configure_embeddings(self):
        from dragon.vm.keras.layers import Embedding
        names = [layer.name for layer in self.model.layers if isinstance(layer, Embedding)]
        metadata = self.embeddings_metadata
        if metadata is not None and not isinstance(metadata, str):
            unknown = set(metadata) - set(names)
            if unknown:
                raise ValueError("Unrecognized `Embedding` layer names passed to `keras.callbacks.TensorBoard` "
                                 f"`embeddings_metadata` argument. Received: {sorted(unknown)}")
        lines = []
        for name in names:
            path = metadata if isinstance(metadata, str) else (metadata or {}).get(name)
            lines += ["embeddings {", '  tensor_name: "layer_with_weights-0/embeddings/.ATTRIBUTES/VARIABLE_VALUE"']
            lines += [f'  metadata_path: "{path}"'] if path else []
            lines += ["}"]
        os.makedirs(self.log_dir, exist_ok=True)
        files.write(os.path.join(self.log_dir, "projector_config.pbtxt"), "\n".join(lines) + "\n" if lines else "")


def _as_images(array):
    """Return a weight as images in grey, or None if it has too many axes."""
    array = array.squeeze()
    if array.ndim == 1:
        return array.reshape(1, -1, 1, 1)
    if array.ndim == 2:
        array = array.T if array.shape[0] > array.shape[1] else array
        return array.reshape(1, *array.shape, 1)
    if array.ndim == 3:
        from dragon.vm.keras.core.config import image_data_format
        array = array.transpose(2, 0, 1) if image_data_format() == "channels_last" else array
        return array[..., None]
    return array if array.ndim == 4 and array.shape[-1] in (1, 3, 4) else None
