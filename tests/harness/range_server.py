"""A server of a folder that knows of parts of files, counts what it is asked for, and fails when it is told to."""
import contextlib
import functools
import http.server
import threading


class Handler(http.server.SimpleHTTPRequestHandler):
    """Answers for parts of files, as `RangeServer` wants."""

    def __init__(self, *words, owner, **named):
        self.owner = owner
        super().__init__(*words, **named)

    def log_message(self, *words):
        """Say nothing."""

    def do_GET(self):
        """Answer for a part, or for all."""
        wanted = self.headers.get("Range") if self.owner.knows_parts else None
        if wanted is None:
            return super().do_GET()
        try:
            with open(self.translate_path(self.path), "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return self.send_error(404)
        first, last = wanted.removeprefix("bytes=").split("-")
        if int(first) >= len(data):
            return self.send_error(416)
        part = data[int(first):int(last) + 1 if last else None]
        self.owner.asked.append((int(first), len(part)))
        failure = self.owner.failures.pop(0) if self.owner.failures else None
        if isinstance(failure, int):
            return self.send_error(failure)
        self.send_response(206)
        self.send_header("Content-Length", str(len(part)))
        self.send_header("Content-Range", f"bytes {first}-{int(first) + len(part) - 1}/{len(data)}")
        self.end_headers()
        if failure == "cut":  # in the middle of its answer
            self.wfile.write(part[:len(part) // 2])
            self.close_connection = True
        else:
            self.wfile.write(part)


class RangeServer:
    """What a running server is asked for.

    Attributes
    ----------
    address : str
        Where it is.
    asked : list of tuple of int
        (place, bytes) of each part.
    failures : list
        What becomes of the next requests for parts: a status, "cut", or None for a right answer.
    knows_parts : bool
        Whether it answers for parts at all.

    """

    def __init__(self, address):
        self.address, self.asked, self.failures, self.knows_parts = address, [], [], True


@contextlib.contextmanager
def serve(folder):
    """Run a server of a folder and yield its `RangeServer`."""
    owner = RangeServer(None)
    make = functools.partial(Handler, directory=str(folder), owner=owner)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), make)
    owner.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield owner
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
