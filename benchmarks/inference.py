"""Inference of whole nets: Dragon's frozen graph, ONNX Runtime, OpenVINO and PyTorch eager, interleaved.

    python benchmarks/inference.py [--nets resnet50,mobilenet_v2,encoder] [--batches 1,16] [--rounds 7] [--seconds 1]
                                   [--engines dragon,onnxruntime,openvino,torch] [--table]

Each engine runs in a process of its own with two threads and answers one round after the other; while one measures, the
others are stopped. PyTorch makes the nets from a seed and exports them for ONNX Runtime and OpenVINO; Dragon makes them
from the same seed, and so has the same weights. Printed are medians over rounds of a call's time, the medians of the
ratios within a round, and the largest difference of a result from PyTorch's, relative to its largest number.
"""
import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

NETS = ("resnet50", "mobilenet_v2", "encoder")
ENGINES = ("dragon", "onnxruntime", "openvino", "torch")
THREADS = 2
WARM_CALLS = 3


def build(name, torch):
    """Return a net in evaluation mode and the shape of one input, made with the `torch` given."""
    torch.manual_seed(0)
    if name == "resnet50":
        from torch_training import make_resnet
        net, shape = make_resnet(torch.nn, bottleneck=True), (3, 224, 224)
    elif name == "mobilenet_v2":
        net, shape = make_mobilenet(torch.nn), (3, 224, 224)
    else:
        layer = torch.nn.TransformerEncoderLayer(768, 12, 3072, 0.0, "gelu", batch_first=True)
        net, shape = torch.nn.TransformerEncoder(layer, 12, enable_nested_tensor=False), (128, 768)
    settle(net, torch, shape)
    return net.eval(), shape


def settle(net, torch, shape):
    """Have batch norms take over the statistics of one batch, lest signals vanish on their way."""
    norms = [module for module in net.modules() if isinstance(module, torch.nn.BatchNorm2d)]
    for norm in norms:
        norm.momentum = 1.0
    if norms:
        with torch.no_grad():
            net.train()(torch.from_numpy(numbers((4, *shape))))


def make_mobilenet(nn):
    """Return a MobileNetV2."""
    def unit(inputs, outputs, kernel=1, stride=1, groups=1, active=True):
        layers = [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
                  nn.BatchNorm2d(outputs)]
        return layers + [nn.ReLU6(inplace=True)] * active

    class Block(nn.Module):
        def __init__(self, inputs, outputs, stride, factor):
            super().__init__()
            hidden = inputs * factor
            self.residual = stride == 1 and inputs == outputs
            widen = unit(inputs, hidden) if factor > 1 else []
            self.branch = nn.Sequential(*widen, *unit(hidden, hidden, 3, stride, hidden),
                                        *unit(hidden, outputs, active=False))

        def forward(self, x):
            return x + self.branch(x) if self.residual else self.branch(x)

    layers, inputs = unit(3, 32, 3, 2), 32
    for factor, outputs, depth, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                           (6, 160, 3, 2), (6, 320, 1, 1)):
        for place in range(depth):
            layers.append(Block(inputs, outputs, 1 if place else stride, factor))
            inputs = outputs
    return nn.Sequential(*layers, *unit(320, 1280), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000))


def numbers(shape):
    """Return an input of that shape, the same in every process."""
    import numpy
    return numpy.random.default_rng(0).standard_normal(shape).astype("float32")


def open_dragon(name, batch, path):
    """Return a function of a NumPy array, run by Dragon."""
    from dragon.vm import torch
    torch.set_num_threads(THREADS)
    net, shape = build(name, torch)
    x = torch.from_numpy(numbers((batch, *shape)))
    with torch.no_grad():
        frozen = torch.jit.freeze(torch.jit.trace(net, x))

    def run():
        with torch.no_grad():
            return frozen(x)
    return run, lambda: run().numpy()


def open_torch(name, batch, path):
    """Return the same of PyTorch, after exporting the net for the others."""
    import torch
    torch.set_num_threads(THREADS)
    net, shape = build(name, torch)
    x = torch.from_numpy(numbers((batch, *shape)))
    torch.backends.mha.set_fastpath_enabled(False)  # it has no ONNX form
    torch.onnx.export(net, (x,), path, dynamo=False, opset_version=18)
    torch.backends.mha.set_fastpath_enabled(True)

    def run():
        with torch.no_grad():
            return net(x)
    return run, lambda: run().numpy()


def open_onnxruntime(name, batch, path):
    """Return the same of ONNX Runtime."""
    import onnx
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    graph_input = onnx.load(path, load_external_data=False).graph.input[0]
    shape = [axis.dim_value for axis in graph_input.type.tensor_type.shape.dim]
    feeds = {graph_input.name: numbers(shape)}

    def run():
        return session.run(None, feeds)[0]
    return run, run


def open_openvino(name, batch, path):
    """Return the same of OpenVINO, in 32-bit floats."""
    import openvino
    options = {"INFERENCE_NUM_THREADS": THREADS, "INFERENCE_PRECISION_HINT": "f32"}
    compiled = openvino.Core().compile_model(path, "CPU", options)
    request, x = compiled.create_infer_request(), numbers(tuple(compiled.inputs[0].shape))

    def run():
        return request.infer([x], share_inputs=True, share_outputs=True)[0]
    return run, run


def work(engine, name, batch, path, seconds):
    """Answer each line on the standard input with the median time of a call."""
    import numpy
    run, result = globals()["open_" + engine](name, batch, path)
    numpy.save(f"{path}.{engine}.npy", result())
    for _ in range(WARM_CALLS):
        run()
    print(json.dumps({"ready": engine}), file=REPLIES, flush=True)
    for _ in sys.stdin:
        run()
        times, begin = [], time.perf_counter()
        while time.perf_counter() - begin < seconds or len(times) < 3:
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
        print(json.dumps({"time": statistics.median(times)}), file=REPLIES, flush=True)


class Worker:
    """The process of one engine, stopped while nothing is asked of it."""

    def __init__(self, engine, *arguments):
        self.engine = engine
        environment = dict(os.environ, OMP_NUM_THREADS=str(THREADS), DRAGON_NUM_THREADS=str(THREADS))
        self.process = subprocess.Popen([sys.executable, __file__, "--work", engine, *map(str, arguments)], text=True,
                                        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.listen()

    def listen(self):
        """Return the next answer, and stop the process."""
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.engine} ended with status {self.process.wait()}")
        self.process.send_signal(signal.SIGSTOP)
        return json.loads(line)

    def ask(self):
        """Return the time of a call, measured now."""
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.listen()["time"]

    def close(self):
        """End the process."""
        self.process.kill()
        self.process.wait()


def measure(name, batch, engines, rounds, seconds):
    """Return {engine: times by round} and {engine: difference from PyTorch}."""
    import numpy
    workers, times, differences = [], {engine: [] for engine in engines}, {}
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder, "net.onnx"))
        try:
            for engine in sorted(engines, key=lambda engine: engine != "torch"):  # the one that exports comes first
                workers.append(Worker(engine, name, batch, path, seconds))
            for turn in range(rounds):
                for worker in workers[turn % len(workers):] + workers[:turn % len(workers)]:
                    times[worker.engine].append(worker.ask())
            results = {engine: numpy.load(f"{path}.{engine}.npy") for engine in engines}
        finally:
            for worker in workers:
                worker.close()
    for engine, result in results.items():
        difference = numpy.abs(result - results["torch"]).max() / numpy.abs(results["torch"]).max()
        differences[engine] = float(difference)
    return times, differences


def ratio(times, others):
    """Return the median of the ratios within rounds."""
    return statistics.median(one / other for one, other in zip(times, others))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nets", default=",".join(NETS))
    parser.add_argument("--batches", default="1,16")
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--table", action="store_true", help="print Markdown")
    options = parser.parse_args()
    engines = [engine for engine in ENGINES if engine in options.engines.split(",") or engine == "torch"]
    peers = [engine for engine in engines if engine != "dragon"]
    heads = ["net", "batch", *(f"{engine}, ms" for engine in engines), *(f"dragon / {peer}" for peer in peers),
             "difference"]
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|" if options.table else "\t".join(heads))
    for name in options.nets.split(","):
        for batch in map(int, options.batches.split(",")):
            times, differences = measure(name, batch, engines, options.rounds, options.seconds)
            cells = [name, str(batch)] + [f"{statistics.median(times[engine]) * 1e3:.2f}" for engine in engines]
            cells += [f"{ratio(times['dragon'], times[peer]):.2f}" for peer in peers]
            cells += [f"{differences['dragon']:.0e}"]
            print("| " + " | ".join(cells) + " |" if options.table else "\t".join(cells), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        REPLIES, sys.stdout = sys.stdout, sys.stderr  # what a library prints must not be taken for an answer
        work(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5], float(sys.argv[6]))
    else:
        main()
