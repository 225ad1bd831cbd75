"""torch.distributed in a world of one: the same results and errors as gloo's with one process."""
import datetime
import socket

import pytest
import torch
import torch.distributed  # noqa: F401 the oracle

from dragon.vm import torch as dt

BOTH = (dt, torch)


def find_port():
    """Return a port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.fixture
def world():
    for library in BOTH:
        library.distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{find_port()}", rank=0,
                                               world_size=1)
    yield
    for library in BOTH:
        library.distributed.destroy_process_group()
        assert not library.distributed.is_initialized()


def collectives(t):
    """Return what every collective makes of one process' values."""
    d = t.distributed
    x, made = t.arange(4.0), {}
    for name, call in {
        "all_reduce": lambda: d.all_reduce(x, op=d.ReduceOp.SUM), "broadcast": lambda: d.broadcast(x, 0),
        "reduce": lambda: d.reduce(x, 0), "barrier": lambda: d.barrier(),
    }.items():
        made[name] = call()
    made["x"] = x.tolist()
    for name, call in {
        "all_gather": lambda o: d.all_gather([o], x), "gather": lambda o: d.gather(x, [o], 0),
        "all_gather_into_tensor": lambda o: d.all_gather_into_tensor(o, x),
        "scatter": lambda o: d.scatter(o, [x], 0), "reduce_scatter": lambda o: d.reduce_scatter(o, [x]),
        "all_to_all_single": lambda o: d.all_to_all_single(o, x),
    }.items():
        out = t.zeros(4)
        call(out)
        made[name] = out.tolist()
    objects = [None]
    d.all_gather_object(objects, {"a": 1})
    received = ["b"]
    d.broadcast_object_list(received, 0)
    work = d.all_reduce(x, async_op=True)
    made.update(objects=objects, received=received, waited=work.wait(), rank=d.get_rank(), size=d.get_world_size(),
                backend=d.get_backend(), initialized=d.is_initialized(), ranks=d.get_process_group_ranks(d.group.WORLD),
                group=d.get_world_size(d.new_group([0], sort_ranks=False)), op=repr(d.ReduceOp.SUM))
    return made


def test_collectives(world):
    assert collectives(dt) == collectives(torch)


def test_collectives_with_gradients(world):
    functional = dt.distributed.nn
    x = dt.ones(3, requires_grad=True)
    made = [functional.all_reduce(x), functional.all_gather(x)[0], functional.broadcast(x, 0), functional.gather(x)[0],
            functional.reduce(x, 0), functional.scatter([x]), functional.reduce_scatter(dt.zeros(3), [x]),
            functional.all_to_all([dt.zeros(3)], [x])[0], functional.all_to_all_single(dt.zeros(3), x)]
    sum(made).sum().backward()
    assert x.grad.tolist() == [9.0] * 3


def test_stores():
    found = []
    for library in BOTH:
        d = library.distributed
        store = d.HashStore()
        store.set("a", "1")
        part = d.PrefixStore("part", store)
        part.set("a", b"2")
        store.append("text", "x")
        store.append("text", "y")
        found.append([store.get("a"), part.get("a"), store.get("part/a"), store.add("n", 2), store.add("n", 3),
                      store.get("text"), store.check(["a", "n"]), store.check(["b"]), store.delete_key("a"),
                      store.compare_set("c", "", "new"), store.compare_set("c", "old", "newer"), store.num_keys()])
        with pytest.raises(RuntimeError):
            store.wait(["nothing"], datetime.timedelta(milliseconds=20))
    assert found[0] == found[1]
    assert dt.distributed.TCPStore("localhost", 0, 1, True).add("n", 1) == 1
    with pytest.raises(NotImplementedError, match="world of one"):
        dt.distributed.TCPStore("localhost", 0, 2, True)


WRONG = [
    lambda d: d.get_rank(), lambda d: d.all_reduce(None), lambda d: d.init_process_group("nothing"),
    lambda d: d.init_process_group("gloo", init_method="strange://x"), lambda d: d.destroy_process_group(),
    lambda d: d.init_process_group("gloo", timeout=3), lambda d: d.new_group(), lambda d: d.Backend(3),
]


@pytest.mark.parametrize("act", WRONG)
def test_what_is_wrong_raises_the_same_class(act, monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    raised = []
    for library in BOTH:
        with pytest.raises(Exception) as caught:
            act(library.distributed)
        raised.append(caught.type.__name__)
    assert raised[0] == raised[1]


def test_a_larger_world_is_refused(monkeypatch):
    with pytest.raises(NotImplementedError, match="2 processes"):
        dt.distributed.init_process_group("gloo", init_method="tcp://127.0.0.1:1", rank=0, world_size=2)
    with pytest.raises(ValueError, match="RANK"):
        monkeypatch.delenv("RANK", raising=False)
        dt.distributed.init_process_group("gloo")
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "1")
    dt.distributed.init_process_group(timeout=datetime.timedelta(seconds=3))
    with pytest.raises(ValueError, match="peer"):
        dt.distributed.send(dt.zeros(1), 0)
    dt.distributed.destroy_process_group()
