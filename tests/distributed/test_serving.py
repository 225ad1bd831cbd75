"""Functions as bytes, connections that ask for a key, and shelves of values."""
import pathlib
import socket
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from dragon.distributed.errors import DistributedError
from dragon.distributed.serving.connection import GREETING, cluster_key
from dragon.distributed.serving.link import Link, LinkError
from dragon.distributed.serving.service import Service
from dragon.distributed.serving.shelf import ROWS_BYTES, Shelf
from harness.ranks import find_port

PROGRAM = '''
import functools, math, sys, threading
from dragon.distributed.serving.shipping import ship, unship
SCALE = 3

class Counter:
    """Counts."""
    start = SCALE

    def __init__(self):
        self.value, self.lock = self.start, threading.Lock()

    @property
    def double(self):
        return 2 * self.value

    @staticmethod
    def name():
        return "counter"

class Further(Counter):
    def __init__(self, by):
        super().__init__()
        self.by = by

    def __call__(self, x):
        with self.lock:
            self.value += self.by * x
        return self.value

def outer(n):
    def fact(k, *, unit=1):
        return unit if k < 2 else k * fact(k - 1)
    fact.note = "recursive"
    return lambda: (fact(n), math.sqrt(16), SCALE, fact.note)

open(sys.argv[1], "wb").write(ship((outer(5), Further(4), functools.partial(max, 7), Further)))
'''
OTHER = '''
import sys
from dragon.distributed.serving.shipping import unship
function, object_, part, kind = unship(open(sys.argv[1], "rb").read())
assert function() == (120, 4.0, 3, "recursive"), function()
assert object_(2) == 11 and object_.double == 22 and object_.name() == "counter" and type(object_) is kind
assert part(9) == 9 and kind(1)(1) == 4 and kind.__mro__[1].__doc__ == "Counts."
'''


def run(code, *args, cwd):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code), *args], cwd=cwd, capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]


def test_what_a_program_defines_is_there_in_another_one(tmp_path):
    run(PROGRAM, "parcel", cwd=tmp_path)
    run(OTHER, "parcel", cwd=tmp_path)


class Echo:
    """Answers with what it is asked."""

    def say(self, *args):
        return args

    def fail(self):
        raise KeyError("lost")

    def _close(self):
        pass


@pytest.fixture
def service():
    made = Service(f"localhost:{find_port()}", Echo)
    yield made
    made.close()


def test_questions_errors_and_ends(service):
    link = Link(service.address, "echo", 5.0)
    assert link.ask("say", 1, np.arange(3).tolist()) == (1, [0, 1, 2])
    with pytest.raises(KeyError, match="lost") as error:
        link.ask("fail")
    assert "in fail" in error.value.__notes__[0]
    with pytest.raises(AttributeError, match="expected a public name"):
        link.ask("_close")
    service.close()
    with pytest.raises(LinkError, match="echo at localhost"):
        link.ask("say")
    with pytest.raises(LinkError, match="for 0.2 seconds"):
        Link(service.address, "echo", 0.2)


def test_who_does_not_know_the_key_is_told_nothing(service, monkeypatch):
    host, port = service.address.split(":")
    strangers = [socket.create_connection((host, int(port))) for _ in range(3)]  # one is silent for ever
    strangers[0].sendall(b"GET / HTTP/1.1\r\n" + bytes(64))
    strangers[1].sendall(GREETING + bytes(1000))
    assert Link(service.address, "echo", 5.0).ask("say", 1) == (1,)
    monkeypatch.setenv("DRAGON_CLUSTER_KEY", "another")
    from multiprocessing.connection import Connection, answer_challenge
    last = socket.create_connection((host, int(port)))
    last.sendall(GREETING)
    assert last.recv(len(GREETING), socket.MSG_WAITALL) == GREETING
    monkeypatch.delenv("DRAGON_CLUSTER_KEY")
    with pytest.raises(Exception):
        answer_challenge(Connection(last.detach()), b"wrong")
    for found in strangers:
        found.close()


def test_the_key_is_the_owner_s_alone(tmp_path, monkeypatch):
    import os
    import tempfile
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    key = cluster_key()
    folder = pathlib.Path(tmp_path, f"dragon-{os.getuid()}")
    assert cluster_key() == key and len(key) == 64 and folder.stat().st_mode & 0o077 == 0
    assert (folder / "cluster.key").read_bytes() == key and len(list(folder.iterdir())) == 1
    folder.chmod(0o755)
    with pytest.raises(DistributedError, match="nobody else can read"):
        cluster_key()
    monkeypatch.setenv("DRAGON_CLUSTER_KEY", "told")
    assert cluster_key() == b"told"


@pytest.mark.parametrize("address", ["localhost", "localhost:", "localhost:x", "localhost:0", "localhost:70000", ""])
def test_addresses(address):
    with pytest.raises(ValueError, match="expected a host and a port"):
        Service(address, Echo)


def test_shelf():
    shelf, rows = Shelf(), ROWS_BYTES // 4
    assert shelf.make("a", np.zeros(3)) == 1 and shelf.make("b", np.zeros((rows, 2), "f4")) == 1
    some = "b", "put", 0, np.array([2, 5]), np.ones((2, 2))
    assert shelf.push([("a", "replace", 1, None, np.ones(3)), some]) == [2, 2]
    assert shelf.push([("a", "replace", 1, None, np.ones(3))]) == [None]
    assert shelf.push([("a", "add", 0, None, np.ones(3))]) == [3]
    found = shelf.pull({"a": 2, "b": 1})
    assert found["a"][0] == 3 and found["a"][2].tolist() == [2, 2, 2]
    assert found["b"][1].tolist() == [2, 5] and found["b"][2].shape == (2, 2)
    assert shelf.pull({"a": 3, "b": 2}) == {} and shelf.pull({"b": 0})["b"][1] is None
    shelf.push([("a", "put", 0, None, np.zeros((2, 2)))])
    assert shelf.pull({"a": 0})["a"][2].shape == (2, 2)
    shelf.make("c", np.array(1.0))
    shelf.push([("c", "add", 0, None, np.array(2.0))])
    assert shelf.pull({"c": 1})["c"][2] == 3
