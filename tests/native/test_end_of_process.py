"""A process may end while its threads are in the engine, in gradients or in pipelines: quietly, with its own code."""
import os
import subprocess
import sys

import pytest

PROGRAMS = {
    "daemons in long calls": """
import threading
from dragon.vm import torch
x = torch.rand(700, 700)
def work():
    while True:
        y = x @ x
threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
""",
    "daemons in gradients with hooks": """
import threading
from dragon.vm import torch
def work():
    x = torch.rand(200000, requires_grad=True)
    while True:
        y = x * 2
        y.register_hook(lambda grad: grad * 1)
        y.sum().backward()
        x.grad = None
threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
""",
    "daemons in Python functions": """
import threading
from dragon.vm import torch
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        return sum([grad * 0.5 for _ in range(4)])
def work():
    x = torch.rand(100000, requires_grad=True)
    while True:
        Double.apply(x).sum().backward()
threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
""",
    "daemons that factorize": """
import threading
from dragon.vm import torch
x = torch.rand(300, 300)
def work():
    while True:
        torch.linalg.svd(x)
threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
""",
    "a pipeline within a pipeline": """
import threading
from dragon.vm import tensorflow as tf
compute = lambda i: tf.reduce_sum(tf.ones((300, 300))) + tf.cast(i, "float32")
inner = lambda i: tf.data.Dataset.range(1000).map(compute, num_parallel_calls=2).prefetch(4)
data = tf.data.Dataset.range(1000).interleave(inner, cycle_length=3, num_parallel_calls=3).prefetch(8)
it = iter(data)
next(it)
threads = []
""",
    "a pipeline read by a daemon": """
import threading
from dragon.vm import tensorflow as tf
data = tf.data.Dataset.range(100000).map(lambda i: tf.reduce_sum(tf.ones((300, 300))), num_parallel_calls=3).prefetch(4)
def work():
    for element in data:
        pass
threads = [threading.Thread(target=work, daemon=True) for _ in range(2)]
""",
}


@pytest.mark.parametrize("end", ["", "raise SystemExit(0)"], ids=["falls off", "exits"])
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_the_end_is_quiet(program, end):
    code = f"{program}\nimport time\nfor t in threads: t.start()\ntime.sleep(0.3)\nprint('whole', flush=True)\n{end}\n"
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd="/",
                              env=dict(os.environ, OMP_NUM_THREADS="2"))
        assert (done.returncode, done.stdout, done.stderr) == (0, "whole\n", "")


def test_an_objects_last_words_may_compute():
    code = """
from dragon.vm import torch
class Last:
    def __del__(self):
        x = self.x = self.torch.ones(300, 300, requires_grad=True)
        (x @ x).sum().backward()
        print(x.grad[0, 0].item(), flush=True)
import sys
last = Last()
last.torch = torch
sys.last_words = last
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd="/")
    assert done.returncode == 0 and "Fatal" not in done.stderr
