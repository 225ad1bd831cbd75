"""Training on a cluster of Ray's: workers are a group, data are shared out, and what dies is started anew."""
import json
import os
import subprocess
import sys
import textwrap

import pytest

import dragon
from dragon.vm.alias import VERSIONS

pytest.importorskip("ray.train", reason="the extra `ray` is not installed")
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(dragon.__file__)))
# Workers would stand behind all others of the machine, a token would be written into the user's home, and who runs this
# told to Ray's makers.
SETTINGS = {"RAY_worker_niceness": "0", "RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_TRAIN_V2_ENABLED": "1", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
            "RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S": "20"}  # Ray may count on a machine that has just gone
HEAD = """
import json, os, sys
import numpy as np
import ray
from ray.train import Checkpoint, CheckpointConfig, FailureConfig, RunConfig, ScalingConfig
storage = sys.argv[1]
"""
CLUSTER = 'ray.init("local", num_cpus=4, include_dashboard=False, log_to_driver=False)\n'


@pytest.fixture
def run(tmp_path):
    """Return a function that runs a program with a cluster of its own, and gives the JSON that it prints last."""
    def call(code, *words, cluster=CLUSTER):
        (tmp_path / "program.py").write_text(HEAD + cluster + textwrap.dedent(code))
        done = subprocess.run([sys.executable, *words, "program.py", str(tmp_path / "storage")], cwd=tmp_path,
                              capture_output=True, text=True, timeout=600,
                              env={**os.environ, "PYTHONPATH": ROOT, "OMP_NUM_THREADS": "1", **SETTINGS})
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return json.loads(done.stdout.splitlines()[-1])
    return call


TRAIN = """
import tempfile
from dragon.ray import Trainer, WorldConfig

def train(config):
    import dragon
    from dragon import distributed
    world = distributed.world()
    rows = sorted(int(row["id"]) for row in ray.train.get_dataset_shard("train").iter_rows())
    weights, begin = dragon.zeros((3,)), 0
    checkpoint = ray.train.get_checkpoint()
    if checkpoint:
        with checkpoint.as_directory() as folder:
            kept = np.load(os.path.join(folder, "weights.npz"))
            weights, begin = dragon.tensor(kept["weights"]), int(kept["step"])
    for step in range(begin, 4):
        if step == 2 and world.rank == 1 and config["dies"] and not os.path.exists(config["dies"]):
            open(config["dies"], "w").close()
            os._exit(1)
        weights = weights + distributed.all_reduce(dragon.ones((3,)) * (world.rank + 1) * (step + 1))
        with tempfile.TemporaryDirectory() as folder:
            if world.rank == 0:
                np.savez(os.path.join(folder, "weights.npz"), weights=weights.numpy(), step=step + 1)
            mine = Checkpoint.from_directory(folder) if world.rank == 0 else None
            ray.train.report({"sum": float(weights.sum()), "step": step, "begin": begin, "rows": len(rows),
                              "carried": world.carry is not None}, checkpoint=mine)

result = Trainer(train, train_loop_config={"dies": DIES and storage + ".died"},
                 world_config=WorldConfig(timeout=60.0, shares_memory=SHARES),
                 scaling_config=ScalingConfig(num_workers=2), datasets={"train": ray.data.range(10)},
                 run_config=RunConfig(storage_path=storage, name="run", failure_config=FailureConfig(max_failures=2),
                                      checkpoint_config=CheckpointConfig(num_to_keep=1))).fit()
print(json.dumps(result.metrics))
"""


@pytest.mark.slow
@pytest.mark.parametrize("shares, carried", [("None", False), ("False", True)])
def test_workers_are_a_group_and_share_the_data_out(run, shares, carried):
    metrics = run(TRAIN.replace("DIES", "False").replace("SHARES", shares))
    assert metrics["sum"] == 3 * 3 * (1 + 2 + 3 + 4) and metrics["step"] == 3 and metrics["begin"] == 0
    assert metrics["rows"] == 5 and metrics["carried"] == carried


@pytest.mark.slow
def test_a_worker_that_dies_is_replaced_and_training_goes_on_from_the_checkpoint(run):
    metrics = run(TRAIN.replace("DIES", "True").replace("SHARES", "None"))
    assert metrics["sum"] == 3 * 3 * (1 + 2 + 3 + 4) and metrics["begin"] > 0


COLLECTIVES = """
from dragon.ray import Trainer, WorldConfig

def train(config):
    import dragon
    from dragon import distributed, ops
    from dragon.distributed import collectives
    world = distributed.world()
    g, rank, size = world.number, world.rank, world.size
    def mine(of, count, dtype):
        return (np.arange(count) * (of + 1) % 11).astype(dtype)
    for count, dtype in ((5, "int32"), (0, "float32"), (100001, "float32"), (40000, "float64")):
        every, x = [mine(of, count, dtype) for of in range(size)], dragon.tensor(mine(rank, count, dtype))
        assert (ops.all_reduce(x, g).numpy() == sum(every)).all()
        assert (ops.all_reduce(x, g, "maximum").numpy() == np.maximum(*every)).all()
        assert (ops.all_gather(x, g).numpy() == np.concatenate(every)).all()
        assert (ops.broadcast_from(x, g, 1).numpy() == every[1]).all()
        if rank == 0:
            assert (ops.gather_to(x, g, 0).numpy() == np.concatenate(every)).all()
            assert (ops.reduce_to(x, g, 0).numpy() == sum(every)).all()
        else:
            assert ops.gather_to(x, g, 0).shape == (0,) and (ops.reduce_to(x, g, 0).numpy() == every[rank]).all()
    halves = dragon.tensor(np.array([1.0, 2.5]) * (rank + 1), dtype="bfloat16")
    assert ops.cast(ops.all_reduce(halves, g, "average"), "float32").numpy().tolist() == [1.5, 3.75]
    x = dragon.tensor(mine(rank, 4, "float32"))
    assert (ops.reduce_scatter(x, g).numpy() == sum(mine(of, 4, "float32") for of in range(2))[2 * rank:][:2]).all()
    assert (ops.scatter_from(x, g, 1, (2,)).numpy() == mine(1, 4, "float32")[2 * rank:][:2]).all()
    assert ops.all_to_all(x, g, [1, 3], [1, 1] if rank == 0 else [3, 3]).shape == ((2,) if rank == 0 else (6,))
    said = []
    for call in (lambda: ops.all_reduce(dragon.ones((rank + 1,)), g), lambda: ops.all_to_all(x, g, [1, 3], [1, 3])):
        try:
            call()
        except RuntimeError as error:
            said.append(str(error))
    into = dragon.zeros((4,))
    came = world.post(into, -1, 3, False)
    world.post(x, 1 - rank, 3, True).wait(20.0)
    came.wait(20.0)
    assert came.rank == 1 - rank and (into.numpy() == mine(1 - rank, 4, "float32")).all()
    try:
        world.post(into, 1 - rank, 4, False).wait(0.1)
    except TimeoutError as error:
        said.append(str(error))
    world.barrier()
    if rank == 0:
        with open(config["path"], "w") as file:
            json.dump({"said": said, "carried": world.carry is not None}, file)

Trainer(train, train_loop_config={"path": storage + ".said"},
        world_config=WorldConfig(timeout=60.0, shares_memory=False),
        scaling_config=ScalingConfig(num_workers=2), run_config=RunConfig(storage_path=storage, name="run")).fit()
print(open(storage + ".said").read())
"""


@pytest.mark.slow
def test_collectives_over_the_object_store(run):
    metrics = run(COLLECTIVES)
    different, uneven, late = metrics["said"]
    assert metrics["carried"] and "of 1 element of float32 on rank 0" in different and "of 2 elements" in different
    assert "got 12 bytes of rank 0 for rank 1, which wants 4" in uneven
    assert "from rank 1 with the tag 4 within 0.1 seconds" in late


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_workers_that_are_killed_change_no_loss(tmp_path):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rank_kills.py")
    done = subprocess.run([sys.executable, path, "4", "--kind", "ray"], cwd=tmp_path, capture_output=True, text=True,
                          timeout=900, env={**os.environ, "PYTHONPATH": ROOT})
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("4 kills, 0 went wrong, left in shared memory: nothing\n")


TORCH = """
import tempfile
import torch
from ray.train.torch import TorchTrainer, prepare_data_loader, prepare_model

def train(config):
    import torch
    torch.manual_seed(0)
    model = prepare_model(torch.nn.Linear(3, 1))
    optimizer = torch.optim.SGD(model.parameters(), config["lr"])
    x = torch.arange(24.0).reshape(8, 3) / 24
    data = torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True))
    loader = prepare_data_loader(torch.utils.data.DataLoader(data, 2))
    for epoch in range(3):
        for a, b in loader:
            loss = torch.nn.functional.mse_loss(model(a), b)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with tempfile.TemporaryDirectory() as folder:
            torch.save(model.module.state_dict(), os.path.join(folder, "model.pt"))
            ray.train.report({"loss": loss.item(), "from": torch.__file__},
                             checkpoint=Checkpoint.from_directory(folder))

result = TorchTrainer(train, train_loop_config={"lr": 0.1}, scaling_config=ScalingConfig(num_workers=2),
                      run_config=RunConfig(storage_path=storage, name="run")).fit()
with result.checkpoint.as_directory() as folder:
    weights = torch.load(os.path.join(folder, "model.pt"))
print(json.dumps({**results[0].metrics, "weights": {name: value.tolist() for name, value in weights.items()}}))
"""


@pytest.mark.slow
def test_genuine_ray_train_runs_programs_of_torch(run, tmp_path):
    pytest.importorskip("torch", reason="PyTorch itself is what the numbers are compared with")
    mine, theirs = run(TORCH, "-m", "dragon", "run"), run(TORCH.replace('name="run"', 'name="theirs"'))
    assert mine["from"].startswith(os.path.dirname(dragon.__file__)) and mine["from"] != theirs["from"]
    assert mine["loss"] == pytest.approx(theirs["loss"], rel=1e-5)
    assert mine["weights"]["weight"][0] == pytest.approx(theirs["weights"]["weight"][0], rel=1e-5)


TUNE = """
from ray import tune

def train(config):
    import torch
    weight = torch.nn.Parameter(torch.tensor(1.0))
    optimizer = torch.optim.SGD([weight], config["lr"])
    for _ in range(3):
        optimizer.zero_grad()
        (weight ** 2).backward()
        optimizer.step()
    tune.report({"weight": weight.item(), "from": torch.__file__})

found = tune.Tuner(train, param_space={"lr": tune.grid_search([0.1, 0.25])},
                   run_config=tune.RunConfig(storage_path=storage, name="run", verbose=0)).fit()
best = found.get_best_result("weight", "min")
print(json.dumps({"lr": best.config["lr"], "weight": best.metrics["weight"], "from": best.metrics["from"]}))
"""


@pytest.mark.slow
def test_tune_has_dragon_in_its_trials(run):
    best = run(TUNE, "-m", "dragon", "run")
    assert best["from"].startswith(os.path.dirname(dragon.__file__))
    assert best["lr"] == 0.25 and best["weight"] == pytest.approx(0.125)


def test_what_workers_find_in_their_environment():
    from dragon.ray import runtime_env
    assert runtime_env("torch") == {"env_vars": {"DRAGON_GUESTS": "torch"}}
    assert runtime_env() == {"env_vars": {"DRAGON_GUESTS": ",".join(guest + "?" for guest in VERSIONS)}}
    with pytest.raises(ValueError, match="runtime_env: got 'troch', expected some of torch"):
        runtime_env("troch")


ELASTIC = """
import tempfile, threading, time
from dragon.ray import Trainer, WorldConfig
from ray.cluster_utils import Cluster
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
other = cluster.add_node(num_cpus=1)
ray.init(address=cluster.address, log_to_driver=False)
seen = storage + ".seen"

def train(config):
    import dragon
    from dragon import distributed
    world = distributed.world()
    total, step, checkpoint = 0, 0, ray.train.get_checkpoint()
    if checkpoint:
        with checkpoint.as_directory() as folder:
            total, step = np.load(os.path.join(folder, "kept.npy")).tolist()
    begin, stop = step, 0
    while not stop:
        mine = [number for number in range(8 * step, 8 * step + 8) if number % world.size == world.rank]
        total += int(distributed.all_reduce(dragon.tensor(sum(mine), dtype="int64")).item())
        step += 1
        stop = int(distributed.all_reduce(dragon.tensor(int(os.path.exists(config["stop"])))).item())
        with tempfile.TemporaryDirectory() as folder:
            np.save(os.path.join(folder, "kept.npy"), np.array([total, step]))
            ray.train.report({"total": total, "step": step, "size": world.size},
                             checkpoint=Checkpoint.from_directory(folder) if world.rank == 0 else None)
        if world.rank == 0:
            with open(config["seen"], "a") as file:
                file.write(f"{world.size} {begin} {step}" + chr(10))
        time.sleep(0.2)

def sizes():
    return [int(line.split()[0]) for line in open(seen)] if os.path.exists(seen) else []

def wait(size, steps):
    for _ in range(1200):
        if len(sizes()) >= steps and sizes()[-steps:] == [size] * steps:
            return
        time.sleep(0.1)

results = []

def fit():
    run = RunConfig(storage_path=storage, name="run", failure_config=FailureConfig(max_failures=5),
                    checkpoint_config=CheckpointConfig(num_to_keep=2))
    results.append(Trainer(train, train_loop_config={"stop": storage + ".stop", "seen": seen},
                           world_config=WorldConfig(timeout=60.0), run_config=run, scaling_config=ScalingConfig(
                               num_workers=(1, 3), elastic_resize_monitor_interval_s=2.0)).fit())

training = threading.Thread(target=fit)
training.start()
wait(2, 3)
cluster.remove_node(other, allow_graceful=False)
wait(1, 3)
cluster.add_node(num_cpus=1)
wait(2, 3)
open(storage + ".stop", "w").close()
training.join()
begun = [tuple(map(int, line.split()[:2])) for line in open(seen)]
ray.shutdown()
cluster.shutdown()
print(json.dumps({**results[0].metrics, "begun": sorted(set(begun), key=begun.index)}))
"""


@pytest.mark.slow
def test_a_training_has_as_many_workers_as_there_is_room_for(run):
    metrics = run(ELASTIC, cluster="")
    count = 8 * metrics["step"]
    assert metrics["total"] == count * (count - 1) // 2 and metrics["size"] == 2
    sizes, begins = zip(*metrics["begun"])
    assert sizes == (2, 1, 2) and begins[0] == 0 < begins[1] < begins[2]


@pytest.mark.parametrize("number, error", [
    (0, ValueError), (-1, ValueError), ((0, 1), ValueError), ((0, 0), ValueError), ((3, 2), ValueError),
    ((-1, 2), ValueError), (1.5, TypeError), ((1.0, 2), TypeError), ((1, 2.0), TypeError), (True, TypeError),
    ((True, 2), TypeError), ((1,), TypeError), ((1, 2, 3), TypeError), ((), TypeError), ("2", TypeError),
    (None, TypeError), ((1, None), TypeError), ([1, 2], TypeError), ((float("nan"), 2), TypeError)], ids=str)
def test_numbers_of_workers_that_make_no_group(number, error):
    from dragon.ray import Trainer
    from ray.train import ScalingConfig
    scaling = ScalingConfig(num_workers=1)
    scaling.num_workers = number  # Ray itself refuses some of them, when it is given them
    with pytest.raises(error, match="Trainer: got ScalingConfig.num_workers=.*, expected a whole number from 1 on, or"):
        Trainer(print, scaling_config=scaling)


def test_ray_itself_refuses_some_numbers_of_workers():
    from ray.train import ScalingConfig
    for number in ((3, 2), (1.0, 2), (1, 2, 3), [1, 2], "2"):
        with pytest.raises(ValueError, match="num_workers"):
            ScalingConfig(num_workers=number)
