"""Tensors of a device in several processes: the receiver sees the sender's memory, which stays as long as it looks."""
from harness.device_ranks import alone

WORK = '''
import os, sys
sys.path.insert(0, os.getcwd())
open("parts.py", "w").write("""
import os
import dragon
if os.environ.get("DRAGON_SIMT"):
    dragon.load_library(os.environ["DRAGON_SIMT"])
from dragon.vm import torch

def double(given, made):
    x, y, empty = given.get(timeout=60)
    assert x.is_cuda and y.get_device() == 1 and empty.shape == (0, 3) and empty.is_cuda
    assert x.tolist() == [[0.0, 4.0, 8.0], [1.0, 5.0, 9.0]] and y.requires_grad
    x.mul_(2)  # the sender sees it
    made.put((x.sum().item(), y.detach().sum().item()))
    del x, y
    made.put("dropped")
    given.get(timeout=60)

def make(made, wait):
    made.put(torch.arange(5.0, device="cuda:1"))
    wait.wait(60)
""")
import parts
from dragon.vm.torch import multiprocessing
from dragon.vm.torch.multiprocessing import devices
context = multiprocessing.get_context("spawn")
'''


def test_a_tensor_goes_there_and_is_kept_until_it_is_dropped():
    alone(WORK + '''
if __name__ == "__main__":
    given, made = context.Queue(), context.Queue()
    process = context.Process(target=parts.double, args=(given, made))
    process.start()
    whole = torch.arange(12.0, device="cuda:0").reshape(3, 4)
    x = whole[:, :2].t()
    x_before = x.sum().item()
    y = torch.ones(4, device="cuda:1", requires_grad=True)
    given.put((x, y, torch.zeros(0, 3, device="cuda:0")))
    assert made.get(timeout=60) == (2 * x_before, 4.0)
    assert whole.tolist()[1] == [8.0, 10.0, 6.0, 7.0], whole
    assert made.get(timeout=60) == "dropped"
    torch.cuda.ipc_collect()
    assert not devices._lent, devices._lent
    given.put(None)
    process.join(60)
    assert process.exitcode == 0
''')


def test_a_tensor_comes_and_a_process_that_sends_to_itself():
    alone(WORK + '''
if __name__ == "__main__":
    made, wait = context.Queue(), context.Event()
    process = context.Process(target=parts.make, args=(made, wait))
    process.start()
    x = made.get(timeout=60)
    assert x.get_device() == 1 and (x + 1).tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    refused(lambda: __import__("pickle").loads(multiprocessing.reductions.reduce_tensor(x)), "clone it")
    held = x.clone()
    del x
    wait.set()
    process.join(60)
    assert process.exitcode == 0 and held.sum().item() == 10
    own = context.SimpleQueue()
    own.put(held)
    assert own.get().tolist() == held.tolist()
    event = torch.cuda.Event(interprocess=True)
    event.record()
    assert isinstance(event.ipc_handle(), bytes)
    refused(lambda: torch.cuda.Event().ipc_handle(), "interprocess=True")
''')
