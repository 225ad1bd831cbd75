"""Epochs' metrics sent to a server."""
import json

from dragon.core import warnings
from dragon.vm.keras.callbacks.callback import Callback


class RemoteMonitor(Callback):
    """Post each epoch's metrics to a server; needs the package `requests`.

    Parameters
    ----------
    root : str, optional, default="http://localhost:9000"
        The server.
    path : str, optional, default="/publish/epoch/end/"
        Where on the server.
    field : str, optional, default="data"
        The form's field that holds the metrics as JSON.
    headers : dict, optional
        Further HTTP headers.
    send_as_json : bool, optional, default=False
        Whether the request is JSON itself, rather than a form.

    """

    def __init__(self, root="http://localhost:9000", path="/publish/epoch/end/", field="data", headers=None,
                 send_as_json=False):
        super().__init__()
        self.root, self.path, self.field = root, path, field
        self.headers, self.send_as_json = headers, send_as_json

    def on_epoch_end(self, epoch, logs=None):
        try:
            import requests
        except ImportError:
            raise ImportError("RemoteMonitor requires the `requests` library (pip install requests).") from None
        send = {"epoch": epoch}
        send.update((name, value.item() if hasattr(value, "item") else value) for name, value in (logs or {}).items())
        try:
            if self.send_as_json:
                requests.post(self.root + self.path, json=send, headers=self.headers)
            else:
                requests.post(self.root + self.path, {self.field: json.dumps(send)}, headers=self.headers)
        except requests.exceptions.RequestException:
            warnings.warn(f"Could not reach RemoteMonitor root server at {self.root}")
