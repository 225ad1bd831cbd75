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
    with pytest.raises(dt.distributed.DistStoreError, match="worker/all"):
        dt.distributed.TCPStore("localhost", 0, 2, True, datetime.timedelta(seconds=0.2))


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


def test_worlds_that_do_not_come_together(monkeypatch):
    for rank in (0, 1):
        with pytest.raises(dt.distributed.DistError, match="worker/all|expected the process that keeps the store"):
            dt.distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{find_port()}", rank=rank,
                                              world_size=2, timeout=datetime.timedelta(seconds=0.2))
    assert not dt.distributed.is_initialized()
    with pytest.raises(ValueError, match="RANK"):
        monkeypatch.delenv("RANK", raising=False)
        dt.distributed.init_process_group("gloo")
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "1")
    dt.distributed.init_process_group(timeout=datetime.timedelta(seconds=3))
    with pytest.raises(ValueError, match="does not send to itself"):
        dt.distributed.send(dt.zeros(1), 0)
    dt.distributed.destroy_process_group()


@pytest.mark.parametrize("code", [
    "m.shape, m.ndim, m.size(), m.size(1), m.get_rank(), m.get_coordinate(), m.mesh_dim_names, m.device_type",
    "m.get_local_rank(1), m.get_local_rank('tp'), m['dp'].get_local_rank(), m['dp', 'tp'].shape",
    "m['dp'].mesh_dim_names",
    "len(m.get_all_groups()), m.get_group('tp').size(), m._flatten('all').shape, m._flatten().mesh_dim_names",
    "m.mesh.tolist(), str(m.mesh.dtype), m == again, hash(m) == hash(again), m == m['dp'], m == 3",
    "d.DeviceMesh('cpu', [0]).shape, d.DeviceMesh('cpu', [1]).get_coordinate()",
    "d.DeviceMesh.from_group(d.group.WORLD, 'cpu').shape",
    "m['x']", "m.get_group('x')", "m.get_group()", "m.get_local_rank()", "d.init_device_mesh('cpu', (1,))['dp']",
    "d.init_device_mesh('cpu', (2,))", "d.init_device_mesh('cpu', (1,), mesh_dim_names=('a', 'b'))",
    "d.init_device_mesh('cpu', (1, 1), mesh_dim_names=('a', 'a'))", "d.init_device_mesh('cpu:0', (1,))",
    "d.DeviceMesh('cpu', [0, 1])", "d.DeviceMesh.from_group([d.group.WORLD] * 2, 'cpu')",
    "[len(part) for part in d.new_subgroups_by_enumeration([[0]])[1:]]", "d.new_subgroups_by_enumeration([])",
    "d.new_subgroups_by_enumeration([[0, 1]])", "d.new_subgroups_by_enumeration([[0], [0]])",
    "d.split_group(split_ranks=[[0]])", "d.shrink_group([])", "d.shrink_group([0])",
    "d.all_gather_coalesced([[o]], [t.ones(2)]), o.tolist()", "d.all_gather_coalesced([[o, o]], [t.ones(2)])",
    "d.all_gather_coalesced([[o]], [t.ones(3)])",
])
@pytest.mark.filterwarnings("ignore")
def test_meshes_and_groups_as_genuine(world, code):
    answers = []
    for t in BOTH:
        d, o = t.distributed, t.zeros(2)
        m, again = (d.init_device_mesh("cpu", (1, 1), mesh_dim_names=("dp", "tp")) for _ in range(2))
        try:
            answers.append(eval(code, {"t": t, "d": d, "m": m, "again": again, "o": o}))
        except Exception as error:
            answers.append(type(error))
    assert answers[0] == answers[1] or issubclass(answers[0], answers[1])


@pytest.mark.parametrize("shape", [(0,), (-1,), (1, 0), (10 ** 18,)])
def test_meshes_of_no_or_too_many_processes_are_refused(shape):
    for t, refused in zip(BOTH, ((RuntimeError, MemoryError), Exception)):  # PyTorch divides by zero, for one
        with pytest.raises(refused):
            t.distributed.init_device_mesh("cpu", shape)
        assert not t.distributed.is_initialized()


def test_a_mesh_makes_the_world(monkeypatch):
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "1")
    mesh = dt.distributed.init_device_mesh("cpu", (1,))
    try:
        assert dt.distributed.is_initialized() and repr(mesh).startswith("DeviceMesh((1,), 'cpu'")
        assert dt.distributed.tensor.DeviceMesh is dt.distributed.device_mesh.DeviceMesh is type(mesh)
    finally:
        dt.distributed.destroy_process_group()


def test_places_to_meet(tmp_path, monkeypatch):
    d = dt.distributed
    store, rank, size = next(d.rendezvous(f"file://{tmp_path}/meet", 0, 1))
    assert (type(store), rank, size) == (d.FileStore, 0, 1)
    monkeypatch.setenv("MASTER_ADDR", "localhost")
    monkeypatch.setenv("MASTER_PORT", "29555")
    assert next(d.rendezvous("env://", 0, 1))[0].port == next(d.rendezvous("tcp://localhost:29555", 0, 1))[0].port
    d.register_rendezvous_handler("here", lambda url, **_: iter([(d.HashStore(), 0, 1)]))
    d.init_process_group("gloo", init_method="here://x")
    d.destroy_process_group()
    for library in BOTH:
        d = library.distributed
        for address, error in (("x://", RuntimeError), ("file://", ValueError), ("file:///x", ValueError),
                               ("tcp://localhost", ValueError), ("env://", ValueError), (3, RuntimeError)):
            with pytest.raises(error, match="handler|parameter|path|port|RANK|string"):
                next(d.rendezvous(address))
        with pytest.raises(AssertionError, match="already"):
            d.rendezvous("tcp://localhost:1?rank=0", 0)
        with pytest.raises(RuntimeError, match="already registered"):
            d.register_rendezvous_handler("tcp", len)


def test_a_file_is_a_store_for_genuine_processes_too(tmp_path):
    path = str(tmp_path / "store")
    mine, theirs = dt.distributed.FileStore(path, 2), torch.distributed.FileStore(path, 2)
    mine.set("a", "x")
    theirs.set("b", "y")
    assert theirs.get("a") == b"x" and mine.get("b") == b"y" and mine.path == path
    assert mine.add("n", 3) == 3 and theirs.add("n", 2) == 5 and mine.num_keys() == theirs.num_keys()
    assert mine.compare_set("a", "x", "z") == b"z" == theirs.compare_set("a", "x", "w")
    assert mine.compare_set("new", "", "1") == b"1" and mine.compare_set("none", "0", "1") == b"0"
    assert mine.delete_key("a") is True and theirs.check(["a"]) is False and mine.delete_key("a") is False
    assert sorted(mine.list_keys()) == ["b", "n", "new"]
    with pytest.raises(dt.distributed.DistStoreError, match="wait timeout"):
        mine.wait(["nothing"], datetime.timedelta(milliseconds=20))
    mine.set_timeout(datetime.timedelta(seconds=1))
    del mine, theirs
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("words", ["gloo", "nccl", "fake", "cpu:gloo,cuda:nccl", "undefined", "cpu:gloo,cpu:nccl",
                                   "a:b:c", "cpu:gloo,x"])
def test_backends_of_devices(words):
    answers = []
    for library in BOTH:
        try:
            config = library.distributed.BackendConfig(library.distributed.Backend(words))
            answers.append((config.get_device_backend_map(), repr(config)))
        except ValueError as error:
            answers.append(str(error)[:20])
    assert answers[0] == answers[1]


def test_choices_for_collectives():
    for name in """AllToAllOptions AllreduceOptions AllreduceCoalescedOptions BarrierOptions BroadcastOptions
                   GatherOptions ReduceOptions ReduceScatterOptions ScatterOptions""".split():
        mine, theirs = (getattr(library.distributed, name)() for library in BOTH)
        told = [key for key in dir(theirs) if not key.startswith("_")]
        assert [key for key in dir(mine) if not key.startswith("_")] == told
        for key in set(told) - {"reduceOp"}:
            assert getattr(mine, key) == getattr(theirs, key)
        mine.timeout = datetime.timedelta(seconds=1)
        with pytest.raises(AttributeError):
            mine.nothing = 1
    assert [kind.name for kind in dt.distributed.BuiltinCommHookType] == ["ALLREDUCE", "FP16_COMPRESS"]


@pytest.mark.parametrize("data", [b"\xfc\xff\xff\xff", b"\x00\x00\x00\x80", b"\xff\xff\xff\x7fab", b"\x01\x00"])
@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_a_file_that_holds_no_store_is_refused(tmp_path, data):
    (tmp_path / "store").write_bytes(data)
    with pytest.raises(dt.distributed.DistStoreError, match="got length .* it holds no store"):
        dt.distributed.FileStore(str(tmp_path / "store"), 1)
    assert (tmp_path / "store").read_bytes() == data


def test_groups_are_looked_up(world):
    for library in BOTH:
        c10d = library.distributed.distributed_c10d
        whole = library.distributed.group.WORLD
        assert list(c10d._pg_map) == [whole] and c10d._pg_map[whole][0] == "gloo"
        made = library.distributed.new_group([0])
        assert list(c10d._pg_map) == [whole, made]
        library.distributed.destroy_process_group(made)
        assert made not in c10d._pg_map


def test_backends_and_ways_by_their_classes():
    mine, theirs = (library.distributed for library in BOTH)
    for kind, backend in mine.Backend.default_device_backend_map.items():
        assert theirs.Backend.default_device_backend_map[kind] == backend
    for name in "SUM AVG PRODUCT MIN MAX BAND BOR BXOR PREMUL_SUM".split():
        assert getattr(mine.ReduceOp.RedOpType, name) == getattr(mine.ReduceOp, name)
        assert int(getattr(mine.ReduceOp, name)) == int(getattr(theirs.ReduceOp.RedOpType, name))
