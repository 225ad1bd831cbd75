"""Epochs' metrics in a file of comma-separated values."""
import csv
import os

from dragon.vm.keras.callbacks.callback import Callback


class CSVLogger(Callback):
    """Write each epoch's metrics as a line of a file, which grows while others may read it.

    Parameters
    ----------
    filename : Union[str, os.PathLike]
        The file.
    separator : str, optional, default=","
        What stands between values.
    append : bool, optional, default=False
        Whether an existing file is continued.

    """

    def __init__(self, filename, separator=",", append=False):
        super().__init__()
        self.sep, self.filename, self.append = separator, os.fspath(filename), append
        self.writer = self.keys = self.csv_file = None
        self.append_header = True

    def on_train_begin(self, logs=None):
        if self.append and os.path.exists(self.filename):
            with open(self.filename) as file:
                self.append_header = not file.readline()
        self._close()
        self.csv_file = open(self.filename, "a" if self.append else "w")
        self.keys = None

    def on_epoch_end(self, epoch, logs=None):
        logs = logs or {}
        if self.keys is None:
            self.keys = sorted(logs)
            if not any(key.startswith("val_") for key in self.keys):
                self.keys += [f"val_{key}" for key in self.keys]
        if self.writer is None:
            dialect = type("Dialect", (csv.excel,), {"delimiter": self.sep})
            self.writer = csv.DictWriter(self.csv_file, fieldnames=["epoch", *self.keys], dialect=dialect)
            if self.append_header:
                self.writer.writeheader()
        self.writer.writerow({"epoch": epoch, **{key: _cell(logs.get(key, "NA")) for key in self.keys}})
        self.csv_file.flush()

    def on_train_end(self, logs=None):
        self._close()

    def _close(self):
        if self.csv_file is not None and not self.csv_file.closed:
            self.csv_file.close()
        self.writer = None


def _cell(value):
    """Return what stands in a cell; several numbers in quotes."""
    if isinstance(value, str) or not hasattr(value, "__iter__") or getattr(value, "ndim", 1) == 0:
        return value
    return f'"[{", ".join(map(str, value))}]"'
