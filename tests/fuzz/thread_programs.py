"""Programs that many threads call at the same time, and what each call has to give, told by calls of one thread alone.

A program is made once and shared: its functions are compiled by whichever thread comes first. What a call returns
depends on its number alone.
"""
import io
import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import dragon  # noqa: E402
from harness import engine  # noqa: E402
from operators import load_rows, right_call  # noqa: E402

SIZES = (1, 2, 3, 5, 8, 13)


def numbers(index, *shape, seed=0):
    """Return an array that the number of a call decides."""
    return numpy.random.default_rng((index, seed)).standard_normal(shape).astype("float32")


class Program:
    """A program that threads share.

    Parameters
    ----------
    name : str
        How people call it.
    call : Callable[[int], Any]
        What a call returns; arrays and tensors, nested.
    plain : Callable[[int], Any], optional
        The same where nothing is compiled: a thread may run it while another one makes a graph.
    exact : bool, optional, default=True
        Whether calls agree to the last bit with calls of one thread.

    """

    def __init__(self, name, call, plain=None, exact=True):
        self.name, self.call, self.plain, self.exact = name, call, plain, exact


def leaves(value):
    """Return the arrays of a result, in order."""
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value, key=str)]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(item)]
    if hasattr(value, "detach"):
        value = value.detach()
    if isinstance(value, dragon.Tensor):
        value = engine.array(value)
    return [numpy.asarray(value.numpy() if hasattr(value, "numpy") else value)]


# --- operators, one by one and as graphs


def operator_programs():
    """Yield the operator table's rows, as they are and as graphs that all threads share."""
    for name, row in sorted(load_rows().items()):
        count = len(row.samples) * len(row.dtypes)
        arguments = dragon._C.schema(name)["arguments"]
        if not count or any(argument["type"] == "Generator?" for argument in arguments):
            continue

        def run(index, function, row=row, count=count):
            given = right_call(row, index % count)
            if given is None:
                return ()
            try:
                return function(*given[0], **given[1])
            except dragon.EngineError as error:  # of a sample whose leaf is written, say
                return [type(error).__name__]

        eager = getattr(dragon.ops, name)
        graph = dragon.function(lambda *args, eager=eager, **kwargs: eager(*args, **kwargs), name=name)
        yield Program(f"ops.{name}", lambda index, run=run, eager=eager: run(index, eager))
        yield Program(f"function.{name}", lambda index, run=run, graph=graph: run(index, graph),
                      lambda index, run=run, eager=eager: run(index, eager))


# --- PyTorch's face


def _torch_functions(torch):
    functional = torch.nn.functional

    def sized(x):
        return x.reshape(-1)[:x.shape[0]] * x.shape[0] + len(x.shape)

    def looking(x):
        if x.sum() > 0:
            return x * 2
        return x - 1

    def broken(x):
        y = x * 2 + 1
        torch._dynamo.graph_break()
        return (y * y).sum(0)

    def masked(x):
        return x[x > 0].sum(), torch.nonzero(x).shape[0]

    def several(x):
        return {"sum": x.sum(), "parts": [x + i for i in range(3)], "shape": tuple(x.shape)}

    def counted(x):
        total = torch.zeros(())
        for row in x:
            total = total + row.square().sum()
        return total

    def attention(x):
        return functional.scaled_dot_product_attention(x[None], x[None], x[None])

    def in_place(x):
        y = x.clone()
        y[0] = 7
        y += 1
        return y

    return [sized, looking, broken, masked, several, counted, attention, in_place,
            lambda x: torch.nn.functional.gelu(x) @ x.T, lambda x: torch.softmax(x, -1).cumsum(0),
            lambda x: torch.cat([x, x * 2]).std(), lambda x: torch.einsum("ij,kj->ik", x, x)]


def torch_compiled(torch):
    """Yield functions under `torch.compile`, each with calls of many sizes."""
    for number, function in enumerate(_torch_functions(torch)):
        name = getattr(function, "__name__", "lambda").replace("<lambda>", f"lambda{number}")
        for dynamic in (None, True, False):
            compiled = torch.compile(function, dynamic=dynamic)

            def call(index, compiled=compiled):
                with torch.no_grad():
                    return compiled(torch.from_numpy(numbers(index, SIZES[index % 6], 4)))
            yield Program(f"torch.compile.{name}.{dynamic}", call, lambda index, call=call, function=function:
                          call(index, function))


def torch_modules(torch):
    """Yield modules: eager, compiled, traced, scripted, exported, in and out of modes, with and without gradients."""
    nn = torch.nn

    def make():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.LayerNorm(8), nn.Linear(8, 3)).eval()
    net = make()
    example = torch.from_numpy(numbers(0, 2, 4))

    def inference(index, net=net):
        with torch.no_grad():
            return net(torch.from_numpy(numbers(index, SIZES[index % 6], 4)))

    def gradients(index, net=net):
        x = torch.from_numpy(numbers(index, SIZES[index % 6], 4)).requires_grad_()
        return torch.autograd.grad(net(x).square().sum(), [x, *make_parameters])

    def second(index, net=net):
        x = torch.from_numpy(numbers(index, SIZES[index % 6], 4)).requires_grad_()
        first, = torch.autograd.grad(net(x).square().sum(), x, create_graph=True)
        return torch.autograd.grad(first.sum(), x)
    make_parameters = list(net.parameters())
    compiled = torch.compile(make())
    compiled_gradients, compiled_second = torch.compile(net), torch.compile(net)
    traced = torch.jit.trace(make(), example)
    scripted = torch.jit.script(make())
    exported = torch.export.export(make(), (example,), dynamic_shapes=({0: torch.export.Dim("rows", min=2)},)).module()

    def exported_call(index, net=exported):
        with torch.no_grad():
            return net(torch.from_numpy(numbers(index, SIZES[index % 5 + 1], 4)))
    yield Program("torch.module", inference)
    yield Program("torch.module.gradients", gradients)
    yield Program("torch.module.second", second)
    yield Program("torch.compile.module", lambda index: inference(index, compiled), inference)
    yield Program("torch.compile.gradients", lambda index: gradients(index, compiled_gradients), gradients, exact=False)
    yield Program("torch.compile.second", lambda index: second(index, compiled_second), second, exact=False)
    yield Program("torch.jit.trace", lambda index: inference(index, traced), inference)
    yield Program("torch.jit.script", lambda index: inference(index, scripted), inference)
    yield Program("torch.export", exported_call, lambda index: exported_call(index, net))


def torch_modes(torch):
    """Yield what each thread sets for itself: gradients, autocast, dtypes, hooks; and transforms of functions."""
    func, nn = torch.func, torch.nn
    torch.manual_seed(0)
    shared = nn.Linear(4, 4)

    def modes(index):
        x = torch.from_numpy(numbers(index, 3, 4)).requires_grad_()
        with torch.set_grad_enabled(index % 2 == 0):
            y = x * 2
            with torch.inference_mode(index % 3 == 0):
                z = x + 1
        return y.requires_grad, z.requires_grad, z.is_inference(), torch.is_grad_enabled()

    def autocast(index):
        x = torch.from_numpy(numbers(index, 3, 4))
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16, enabled=index % 2 == 0):
            y = shared(x)
        return str(y.dtype), y.float(), torch.is_autocast_enabled("cpu")

    def vmapped(index):
        x = torch.from_numpy(numbers(index, SIZES[index % 6], 4))
        return func.vmap(lambda row: row.sin().sum())(x), func.vmap(func.grad(lambda row: row.pow(3).sum()))(x)

    def jacobians(index):
        x = torch.from_numpy(numbers(index, 3))
        return func.jacrev(torch.sin)(x), func.jacfwd(torch.exp)(x), func.hessian(lambda x: x.pow(3).sum())(x)

    def functional_call(index):
        weight = torch.from_numpy(numbers(index, 4, 4))
        x = torch.from_numpy(numbers(index, 2, 4, seed=1))
        mine = nn.Linear(4, 4)  # its parameters are others during the call, here as in PyTorch
        return func.functional_call(mine, {"weight": weight, "bias": weight[0]}, (x,)).detach()

    def hooks(index):
        seen = []
        x = torch.from_numpy(numbers(index, 4)).requires_grad_()
        y = x * 3
        handle = y.register_hook(lambda grad: seen.append(grad.clone()))
        y.sum().backward()
        handle.remove()
        return x.grad, seen[0], len(seen)

    for function in (modes, autocast, vmapped, jacobians, functional_call, hooks):
        yield Program(f"torch.{function.__name__}", function)


def torch_wholes(torch):
    """Yield trainings, files, loaders, numbers drawn, and gradients of the program's own, each thread's for itself."""
    nn = torch.nn

    def training(index):
        torch_model = nn.Linear(4, 1)
        with torch.no_grad():
            torch_model.weight.copy_(torch.from_numpy(numbers(index, 1, 4)))
            torch_model.bias.zero_()
        optimizer = torch.optim.AdamW(torch_model.parameters(), lr=0.1)
        x = torch.from_numpy(numbers(index, 6, 4, seed=1))
        for _ in range(3):
            optimizer.zero_grad()
            torch_model(x).square().mean().backward()
            optimizer.step()
        return torch_model.weight, torch_model.bias

    def files(index):
        buffer = io.BytesIO()
        torch.save({"x": torch.from_numpy(numbers(index, 5)), "index": index}, buffer)
        buffer.seek(0)
        return torch.load(buffer)

    def loader(index):
        data = torch.utils.data.TensorDataset(torch.from_numpy(numbers(index, 7, 2)))
        return [batch[0] for batch in torch.utils.data.DataLoader(data, batch_size=3)]

    def drawn(index):
        generator = torch.Generator().manual_seed(index)
        return torch.randn(5, generator=generator), torch.randperm(6, generator=generator)

    def checkpointed(index):
        from dragon.vm.torch.utils.checkpoint import checkpoint
        x = torch.from_numpy(numbers(index, 4)).requires_grad_()
        checkpoint(lambda x: (x.sin() * x).exp(), x, use_reentrant=False).sum().backward()
        return x.grad

    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.factor, None

    def custom(index):
        x = torch.from_numpy(numbers(index, 4)).requires_grad_()
        Scale.apply(x, float(index % 7)).sum().backward()
        return x.grad

    for function in (training, files, loader, drawn, checkpointed, custom):
        yield Program(f"torch.{function.__name__}", function)


# --- TensorFlow's and Keras's faces


def _tensorflow_functions(tf):
    def scale(x):
        return x * 2.0 + 1.0

    def branch(x):
        if tf.reduce_sum(x) > 0:
            return x * 2
        return x - 1

    def loop(x):
        total = tf.zeros(())
        for row in x:
            total += tf.reduce_sum(row * row)
        return total

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x * x * x)
        return tape.gradient(y, x)

    def nested(x):
        return {"a": scale(x), "b": (tf.nn.softmax(x), tf.shape(x))}
    return scale, branch, loop, gradient, nested


def tensorflow_programs(tf):
    """Yield functions under `tf.function`, tapes, variables and data sets."""
    for function in _tensorflow_functions(tf):
        for options in ({}, {"reduce_retracing": True}, {"jit_compile": True}):
            compiled = tf.function(function, **options)

            def call(index, compiled=compiled):
                return compiled(tf.constant(numbers(index, SIZES[index % 6], 4)))
            yield Program(f"tf.function.{function.__name__}.{'.'.join(options)}", call,
                          lambda index, call=call, function=function: call(index, function), exact=False)

    def tape(index):
        x = tf.Variable(numbers(index, 3))
        with tf.GradientTape(persistent=True) as outer:
            with tf.GradientTape() as inner:
                y = tf.reduce_sum(x ** 3)
            first = inner.gradient(y, x)
        return first, outer.gradient(first, x)

    def assigned(index):
        variable = tf.Variable(numbers(index, 3))
        variable.assign_add(numbers(index, 3, seed=1))
        return variable.assign(variable * 2).read_value()

    def concrete(index):
        made = tf.function(lambda x: x * float(index % 5)).get_concrete_function(tf.TensorSpec([None], tf.float32))
        return made(tf.constant(numbers(index, 4)))

    def data(index):
        return list(tf.data.Dataset.from_tensor_slices(numbers(index, 7)).map(lambda x: x * 2).batch(3))
    for function in (tape, assigned, concrete, data):
        yield Program(f"tf.{function.__name__}", function)


def keras_programs(keras):
    """Yield models that threads share to predict, and such as each thread trains for itself."""
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"),
                              keras.layers.BatchNormalization(), keras.layers.Dense(3)])
    model.compile("sgd", "mse")
    late = keras.Sequential([keras.layers.Dense(4, kernel_initializer="ones"), keras.layers.Dense(2)])
    late.build((None, 4))

    def predicted(index, model=model):
        return model.predict(numbers(index, SIZES[index % 6], 4), verbose=0)

    def called(index):
        return model(numbers(index, SIZES[index % 6], 4), training=False)

    def trained(index):
        mine = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, kernel_initializer="ones")])
        mine.compile("sgd", "mse")
        history = mine.fit(numbers(index, 8, 4), numbers(index, 8, 1, seed=1), epochs=2, batch_size=4, shuffle=False,
                           verbose=0)
        return history.history["loss"], mine.get_weights()

    def evaluated(index):
        return late.predict_on_batch(numbers(index, SIZES[index % 6], 4))
    yield Program("keras.predict", predicted, called, exact=False)
    yield Program("keras.call", called)
    yield Program("keras.fit", trained, exact=False)
    yield Program("keras.predict_on_batch", evaluated, exact=False)


def all_programs(only=""):
    """Return the programs whose names contain a text."""
    from dragon.vm import keras, torch
    from dragon.vm import tensorflow as tf
    made = [*torch_compiled(torch), *torch_modules(torch), *torch_modes(torch), *torch_wholes(torch),
            *tensorflow_programs(tf), *keras_programs(keras), *operator_programs()]
    return [program for program in made if only in program.name]
