"""Small programs that are interrupted at each of their moments: each makes what is run, which returns a result."""
import io
import os
import tempfile

import numpy

PROGRAMS = {}


def program(reusable=True):
    """Keep a function that makes a program; one that is not reusable is made anew after an interrupt."""
    def keep(make):
        make.reusable = reusable
        PROGRAMS[make.__name__] = make
        return make
    return keep


def _torch():
    import dragon.vm.torch as torch
    return torch


def _tensorflow():
    import dragon.vm.tensorflow as tf
    return tf


def _keras():
    import dragon.vm.keras as keras
    return keras


# --- Dragon's own

@program()
def capture():
    """A function is captured."""
    import dragon

    @dragon.function
    def step(x, y):
        return (x * 2 + y).sum(-1).tanh()
    x, y = dragon.tensor([[1.0, 2.0], [3.0, 4.0]]), dragon.tensor([[0.5, 0.25]])
    return lambda: step(x, y)


@program()
def recapture():
    """A captured function is called with other shapes, and again with sizes left open."""
    import dragon

    @dragon.function
    def step(x):
        return (x * x).sum(0) / len(x)
    few, more, most = (dragon.ones(size, 3) * 0.5 for size in (2, 3, 5))
    return lambda: [step(few), step(more), step(most)]


@program()
def graph_break():
    """A program that looks at numbers goes on by what it finds."""
    torch = _torch()

    def step(x):
        y = x * 2
        if y.sum() > 0:
            return y + 1
        return y - 1
    compiled = torch.compile(step)
    x = torch.tensor([1.0, 2.0])
    return lambda: [compiled(x), compiled(-x)]


@program()
def compiled_run():
    """A graph that has been captured before runs, and so does its backward pass."""
    torch = _torch()
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    compiled = torch.compile(model)
    x = torch.ones(2, 3)

    def run():
        model.zero_grad()
        loss = compiled(x).square().sum()
        loss.backward()
        return [loss, *(parameter.grad for parameter in model.parameters())]
    for _ in range(3):
        run()
    return run


@program()
def torch_compile():
    """A module is compiled."""
    torch = _torch()
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.LayerNorm(4), torch.nn.Linear(4, 2))
    compiled = torch.compile(model)
    x = torch.ones(2, 3)

    def run():
        with torch.no_grad():
            return compiled(x)
    return run


@program()
def compiled_print():
    """A compiled function prints and is left to Python."""
    torch = _torch()

    def step(x, where):
        print("a", 1, file=where)
        return x.sin() + x.cos()
    compiled = torch.compile(step)
    x = torch.tensor([1.0, 2.0])
    return lambda: compiled(x, io.StringIO())


# --- eager calls and gradients

@program()
def eager():
    """Operators, one after the other."""
    torch = _torch()
    x = torch.arange(12.0).reshape(3, 4)

    def run():
        y = torch.nn.functional.softmax(x, dim=-1)
        y = torch.cat([y, x[:, 1:]], dim=1)
        return [y.matmul(y.T), y.sort(dim=0).values, torch.where(y > 1, y, -y), y.mean((0, 1)).item(), x.tolist()]
    return run


@program()
def modes():
    """Blocks of every mode."""
    import dragon
    torch = _torch()
    x = torch.tensor([1.0, 2.0], requires_grad=True)

    def run():
        with torch.no_grad():
            a = x * 2
        with torch.inference_mode():
            b = x * 3
        with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
            c = torch.ones(2, 2) @ torch.ones(2, 2)
        # A constructor that switches from now on, as of set_grad_enabled, leaves a gap before `with` by its nature.
        with torch.device("cpu"), torch.enable_grad(), dragon.detect_anomaly():
            d = x * 4
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t), torch.random.fork_rng():
            e = x * x
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            f = torch.nn.functional.scaled_dot_product_attention(*[torch.ones(1, 1, 2, 2)] * 3)
        return [a, b, c.float(), d, e, f]
    return run


@program()
def backward():
    """Backward passes, with hooks, a custom function, and gradients of gradients."""
    torch = _torch()

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, dy):
            x, = ctx.saved_tensors
            return 2 * x * dy

    def run():
        x = torch.tensor([1.0, -2.0], requires_grad=True)
        y = Square.apply(x)
        y.register_hook(lambda grad: grad * 3)
        first, = torch.autograd.grad((y * x).sum(), x, create_graph=True)
        first.pow(2).sum().backward()
        return [first, x.grad]
    return run


@program()
def dispatch():
    """Modes and classes that answer calls."""
    torch = _torch()
    from dragon.vm.torch.overrides import TorchFunctionMode
    from dragon.vm.torch.utils._python_dispatch import TorchDispatchMode

    class Functions(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    class Operators(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    class Named(torch.Tensor):
        pass
    x = torch.tensor([1.0, 2.0], requires_grad=True)

    def run():
        with Functions():
            a = torch.add(x, 1).sum()
        with Operators():
            b = torch.mul(x, 2) + 1
        return [a, b, torch.sub(torch.ones(2).as_subclass(Named), 1).as_subclass(torch.Tensor)]
    return run


@program()
def transforms():
    """vmap, grad, jvp and their like, in each other."""
    torch = _torch()
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])

    def run():
        def f(v):
            return (v.sin() * v).sum()
        jvp = torch.func.jvp(f, (x[0],), (torch.ones(2),))
        return [torch.vmap(torch.func.grad(f))(x), torch.func.jacrev(torch.sin)(x[0]), torch.func.hessian(f)(x[0]),
                torch.func.vjp(f, x[0])[1](torch.tensor(1.0))[0], *jvp]
    return run


@program(reusable=False)
def optimizers():
    """Steps of optimizers, with a schedule and clipped gradients."""
    torch = _torch()
    torch.manual_seed(0)
    model = torch.nn.Linear(2, 2)
    chosen = [torch.optim.Adam(model.parameters(), lr=0.1), torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)]
    schedule = torch.optim.lr_scheduler.StepLR(chosen[1], 1)

    def run():
        for _ in range(2):
            for optimizer in chosen:
                optimizer.zero_grad()
                model(torch.ones(3, 2)).square().mean().backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
            schedule.step()
        return list(model.parameters())
    return run


@program()
def checkpointed():
    """Activations are computed again in the backward pass."""
    torch = _torch()
    from dragon.vm.torch.utils.checkpoint import checkpoint

    def run():
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = checkpoint(lambda v: (v.sin() * v).exp(), x, use_reentrant=False)
        y.sum().backward()
        return x.grad
    return run


# --- programs as data

@program()
def export():
    """torch.export."""
    torch = _torch()
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU())
    x = torch.ones(2, 3)
    return lambda: torch.export.export(model, (x,)).module()(x)


@program()
def jit():
    """torch.jit.trace and script."""
    torch = _torch()
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 2)
    x = torch.ones(2, 3)

    def run():
        return [torch.jit.trace(model, x)(x), torch.jit.script(torch.nn.ReLU())(x)]
    return run


@program()
def onnx():
    """An export to ONNX."""
    torch = _torch()
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 2)

    def run():
        file = io.BytesIO()
        torch.onnx.export(model, (torch.ones(2, 3),), file, dynamo=False)
        return len(file.getvalue()) > 0
    return run


# --- TensorFlow and Keras

@program()
def tf_function():
    """tf.function with a loop and a branch on numbers."""
    tf = _tensorflow()

    @tf.function
    def step(x, n):
        total = tf.zeros_like(x)
        for i in tf.range(n):
            if tf.reduce_sum(x) > 0.0:
                total += x * tf.cast(i, tf.float32)
            else:
                total -= x
        return total
    x, n = tf.constant([1.0, 2.0]), tf.constant(3)
    return lambda: [step(x, n), step(-x, n)]


@program()
def gradient_tape():
    """Tapes in a tape."""
    tf = _tensorflow()
    v = tf.Variable([1.0, 2.0])

    def run():
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = tf.reduce_sum(v * v * v)
            first = inner.gradient(y, v)
        with tf.GradientTape(persistent=True) as watching:
            x = tf.constant([3.0])
            watching.watch(x)
            z = x * x
        return [first, outer.gradient(first, v), watching.gradient(z, x), watching.gradient(z, x)]
    return run


@program()
def tf_data():
    """A pipeline of data is read."""
    tf = _tensorflow()

    def run():
        data = tf.data.Dataset.range(12).map(lambda i: i * 2, num_parallel_calls=2).shuffle(4, seed=1).batch(3)
        return [batch.numpy() for batch in data.prefetch(1)]
    return run


def _keras_model():
    keras = _keras()
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, activation="relu"), keras.layers.Dropout(0.1),
                              keras.layers.Dense(1)])
    model.compile("adam", "mse", metrics=["mae"])
    return model


X, Y = numpy.linspace(-1, 1, 24, dtype="float32").reshape(8, 3), numpy.linspace(0, 1, 8, dtype="float32")[:, None]


@program(reusable=False)
def keras_fit():
    """A model is trained."""
    model = _keras_model()
    return lambda: [model.fit(X, Y, batch_size=4, epochs=2, verbose=0, shuffle=False).history, model.get_weights()]


@program()
def keras_predict():
    """A model predicts and is evaluated."""
    model = _keras_model()
    return lambda: [model.predict(X, batch_size=4, verbose=0), model.evaluate(X, Y, batch_size=4, verbose=0)]


@program()
def keras_save():
    """A model is saved and loaded."""
    keras, model = _keras(), _keras_model()
    folder = tempfile.mkdtemp(prefix="interrupts-")
    path = os.path.join(folder, "model.keras")

    def run():
        model.save(path)
        result = keras.models.load_model(path).get_weights()
        return [result, sorted(name for name in os.listdir(folder) if name != "model.keras")]
    return run


# --- data and files

@program()
def torch_files():
    """Tensors are saved and loaded."""
    torch = _torch()
    folder = tempfile.mkdtemp(prefix="interrupts-")
    path, tensors = os.path.join(folder, "a.pt"), {"a": torch.ones(3), "b": [torch.arange(4)]}

    def run():
        torch.save(tensors, path)
        loaded = torch.load(path)
        return [loaded["a"], loaded["b"], sorted(name for name in os.listdir(folder) if name != "a.pt")]
    return run


def _dataset(torch):
    return torch.utils.data.TensorDataset(torch.arange(12.0).reshape(6, 2), torch.arange(6))


@program()
def loader():
    """A DataLoader without workers."""
    torch = _torch()
    data = _dataset(torch)

    def run():
        generator = torch.Generator().manual_seed(0)
        return [*torch.utils.data.DataLoader(data, batch_size=4, shuffle=True, generator=generator)]
    return run


@program()
def loader_workers():
    """A DataLoader with two processes."""
    torch = _torch()
    data = _dataset(torch)
    return lambda: [*torch.utils.data.DataLoader(data, batch_size=4, num_workers=2)]


@program()
def process_group():
    """A group of one process: collectives, and a DTensor."""
    torch = _torch()
    import dragon.vm.torch.distributed as dist
    from dragon.vm.torch.distributed.tensor import Replicate, distribute_tensor, init_device_mesh
    if not dist.is_initialized():
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    mesh = init_device_mesh("cpu", (1,))

    def run():
        x = torch.arange(4.0)
        dist.all_reduce(x)
        shard = distribute_tensor(torch.arange(6.0).reshape(3, 2), mesh, [Replicate()])
        return [x, (shard @ shard.T).to_local(), (shard + 1).full_tensor()]
    return run


@program()
def quiet():
    """Blocks in which nothing is said, and in which nothing is recorded or captured."""
    import dragon
    from dragon.core.capture.suppress_output import SuppressOutput

    def run():
        with SuppressOutput():
            print("never seen")
        with dragon.no_grad(), dragon.enable_grad(), dragon.graph.eager():
            return dragon.ones(2) * 2
    return run
