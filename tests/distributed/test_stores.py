"""Stores: one table, asked by many; waits, hostile bytes, ports in use, keepers that end."""
import socket
import threading
import time

import pytest
from harness.ranks import find_port
from harness.waiting import PATIENCE_SECONDS

from dragon.distributed.errors import StoreError, StoreTimeout
from dragon.distributed.stores.memory import MemoryStore
from dragon.distributed.stores.tcp import TCPStore
from dragon.distributed.stores.wire import GREETING, LENGTH, pack, unpack


@pytest.fixture(params=["memory", "tcp"])
def stores(request):
    if request.param == "memory":
        made = MemoryStore(5.0)
        yield made, made
        return
    keeper = TCPStore("127.0.0.1", 0, True, 5.0)
    other = TCPStore("127.0.0.1", keeper.port, timeout=5.0)
    yield keeper, other
    other.close()
    keeper.close()


def test_what_one_sets_the_other_gets(stores):
    one, other = stores
    one.set("key", "value")
    assert other.get("key") == b"value"
    one.set("key", b"\0\xff" * 100_000)
    assert other.get("key") == b"\0\xff" * 100_000
    assert [one.ask("add", "count", 2), other.ask("add", "count", -5)] == [2, -3]
    one.ask("append", "list", b"a")
    other.ask("append", "list", b"b")
    assert other.get("list") == b"ab"
    assert other.ask("compare_set", "new", b"", b"x") == b"x" and other.ask("compare_set", "new", b"y", b"z") == b"x"
    assert other.ask("compare_set", "other", b"e", b"z") == b"e" and not one.ask("check", ["other"])
    assert one.ask("delete", "new") and not one.ask("delete", "new")
    assert sorted(one.ask("keys", "")) == ["count", "key", "list"] and one.ask("count", "c") == 1
    with pytest.raises(StoreError, match="expected a number"):
        other.ask("add", "list", 1)
    assert other.get("key")[:1] == b"\0"  # after an error as before


def test_waits_end_when_the_value_comes_or_not_at_all(stores):
    one, other = stores
    threading.Timer(0.1, one.set, ("late", "x")).start()
    assert other.get("late") == b"x"
    begin = time.monotonic()
    with pytest.raises(StoreTimeout, match="never"):
        other.wait(["late", "never"], 0.2)
    assert 0.15 < time.monotonic() - begin < PATIENCE_SECONDS
    threading.Timer(0.1, lambda: one.ask("push", "queue", b"1")).start()
    assert other.await_queue("queue", 5.0) == b"1" and other.await_queue("queue", 0.05) is None
    assert one.ask("length", "queue") == 0


def test_many_ask_at_once():
    keeper = TCPStore("127.0.0.1", 0, True, 5.0)

    def count():
        store = TCPStore("127.0.0.1", keeper.port, timeout=5.0)
        for _ in range(50):
            store.ask("add", "count", 1)
        store.close()
    threads = [threading.Thread(target=count) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert keeper.get("count") == b"1000"
    keeper.close()


@pytest.mark.parametrize("knock", [
    b"GET / HTTP/1.0\r\n\r\n", GREETING + LENGTH.pack((1 << 32) - 1), GREETING + LENGTH.pack(3) + b"xyz",
    GREETING + LENGTH.pack(5) + b"L" + LENGTH.pack(1 << 31), GREETING + LENGTH.pack(1) + b"I",
    GREETING + LENGTH.pack(len(pack(["values"]))) + pack(["values"]), GREETING + LENGTH.pack(1) + b"N"])
def test_strangers_are_hung_up_on_and_others_go_on(knock):
    keeper = TCPStore("127.0.0.1", 0, True, 5.0)
    with socket.create_connection(("127.0.0.1", keeper.port), 5) as stranger:
        stranger.sendall(knock)
        stranger.settimeout(5)
        assert stranger.recv(10) == b""
    keeper.set("key", "value")
    assert keeper.get("key") == b"value"
    keeper.close()


def test_wrong_arguments_are_answered():
    keeper = TCPStore("127.0.0.1", 0, True, 5.0)
    for question in (["set", "key"], ["add", "key", "x"], ["peek", ["nothing"]], ["pop", "nothing"], ["set", ["k"], 1]):
        with pytest.raises(StoreError):
            keeper.ask(*question)
    assert keeper.ask("check", []) is True
    keeper.close()


@pytest.mark.parametrize("value", [None, True, False, 0, -2 ** 63, 2 ** 63 - 1, 1.5, "", "ü" * 1000, b"", b"\0" * 1000,
                                   [], [[["deep"]], b"x", 3, None]])
def test_values_travel(value):
    assert unpack(pack(value)) == value
    with pytest.raises(StoreError):
        unpack(pack(value)[:-1] if len(pack(value)) > 1 else b"")


def test_addresses():
    keeper = TCPStore("127.0.0.1", 0, True, 5.0)
    with pytest.raises(StoreError, match="expected a free one"):
        TCPStore("127.0.0.1", keeper.port, True, 1.0)
    keeper.close()
    with pytest.raises(StoreError, match="closed"):
        keeper.get("x")
    with pytest.raises(StoreTimeout, match="expected the process that keeps the store"):
        TCPStore("127.0.0.1", find_port(), timeout=0.3)
    for port in (-1, 1 << 16, 0):
        with pytest.raises(ValueError, match=str(port)):
            TCPStore("127.0.0.1", port)


def test_the_end_of_the_keeper_is_told():
    keeper = TCPStore("127.0.0.1", 0, True, 5.0)
    other = TCPStore("127.0.0.1", keeper.port, timeout=5.0)
    threading.Timer(0.1, keeper.close).start()
    with pytest.raises(StoreError, match="may have ended"):
        other.get("never")
    with pytest.raises(StoreError, match="expected none"):
        other.get("never")


def test_a_wait_that_is_as_good_as_endless():
    keeper = TCPStore("127.0.0.1", 0, True, 5.0)
    waiter = threading.Thread(target=lambda: TCPStore("127.0.0.1", keeper.port, timeout=5.0).wait(["late"], 1e9))
    waiter.start()
    keeper.set("early", b"1")
    assert keeper.get("early") == b"1"
    keeper.set("late", b"2")
    waiter.join(5.0)
    assert not waiter.is_alive()
    keeper.close()
