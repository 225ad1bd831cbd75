"""What may be done for ever and must not grow: a function for each, which returns what is done once."""
import gc
import threading

import numpy

COUNTS = {}  # how often the long hunt does each
PROGRAMS = {}


def program(count, warm=50):
    """Enter a function that makes a step: how often the long hunt takes it, and how often before it looks."""
    def enter(make):
        PROGRAMS[make.__name__] = make
        COUNTS[make.__name__] = count, warm
        return make
    return enter


def make_net(torch):
    """Return a small network with a norm and dropout, and its data."""
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(),
                              torch.nn.Dropout(0.1), torch.nn.Linear(144, 3))
    return net, torch.randn(8, 1, 8, 8), torch.randint(0, 3, (8,))


@program(5000)
def torch_training():
    """A step of AdamW, with clipped gradients and a scheduler."""
    from dragon.vm import torch
    net, x, y = make_net(torch)
    optimizer = torch.optim.AdamW(net.parameters())
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 100)

    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
    return step


@program(5000)
def compiled_training():
    """A step that is a graph, of two sizes in turn."""
    from dragon.vm import torch
    net, x, y = make_net(torch)
    optimizer = torch.optim.SGD(net.parameters(), 0.01, momentum=0.9)

    @torch.compile
    def train(x, y):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()
    sizes = [8, 5]

    def step():
        sizes.reverse()
        train(x[:sizes[0]], y[:sizes[0]])
    return step


@program(5000)
def tensorflow_training():
    """A step of a tape, and one of a tf.function."""
    from dragon.vm import tensorflow as tf
    weight = tf.Variable(tf.ones((4, 4)))
    x = tf.random.normal((8, 4))

    def train(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.tanh(x @ weight))
        weight.assign_sub(0.01 * tape.gradient(loss, weight))
        return loss
    graph = tf.function(train)

    def step():
        train(x)
        graph(x)
    return step


@program(300, 10)
def keras_fit():
    """An epoch of fit, evaluate and predict, with a callback and a validation."""
    from dragon.vm import keras
    x, y = numpy.ones((20, 4), "float32"), numpy.ones((20, 1), "float32")
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, "relu"), keras.layers.Dropout(0.1),
                              keras.layers.BatchNormalization(), keras.layers.Dense(1)])
    model.compile("adam", "mse", metrics=["mae"])

    def step():
        model.fit(x, y, batch_size=8, verbose=0, validation_data=(x, y),
                  callbacks=[keras.callbacks.EarlyStopping(patience=99)])
        model.predict(x, verbose=0)
    return step


@program(1000)
def torch_models():
    """A model that is made, called, differentiated, hooked, saved and dropped."""
    import io

    from dragon.vm import torch

    def step():
        net, x, _ = make_net(torch)
        net[0].register_forward_hook(lambda module, inputs, output: None)
        loss = net(x).sum()
        loss.register_hook(lambda grad: grad * 1)
        loss.backward()
        file = io.BytesIO()
        torch.save(net.state_dict(), file)
        net.load_state_dict(torch.load(io.BytesIO(file.getvalue())))
    return step


@program(300, 20)
def keras_models():
    """A model that is made, fitted and dropped."""
    from dragon.vm import keras
    x, y = numpy.ones((8, 4), "float32"), numpy.ones((8, 1), "float32")

    def step():
        inputs = keras.Input((4,))
        outputs = keras.layers.Dense(1)(keras.layers.LayerNormalization()(keras.layers.Dense(3)(inputs)))
        model = keras.Model(inputs, outputs)
        model.compile("sgd", "mse")
        model.fit(x, y, verbose=0)
        keras.utils.clear_session()
    return step


@program(500, 20)
def torch_compiles():
    """A compiled function and a compiled module that are called and dropped, gradients and all."""
    from dragon.vm import torch

    def step():
        net = torch.nn.Linear(3, 3)
        torch.compile(net)(torch.ones(2, 3)).sum().backward()
        torch.compile(lambda x: (x * 2).tanh() + net.weight.sum())(torch.ones(2, 3))
        torch.jit.trace(net, torch.ones(2, 3))(torch.ones(2, 3))
    return step


@program(500, 20)
def tensorflow_compiles():
    """A tf.function with a branch and a loop that is called and dropped."""
    from dragon.vm import tensorflow as tf

    def step():
        variable = tf.Variable(1.0)

        @tf.function
        def graph(x):
            if tf.reduce_sum(x) > 0:
                x = x * variable
            for _ in tf.range(3):
                x = x + 1.0
            return x
        graph(tf.ones((3,)))
        graph.get_concrete_function(tf.TensorSpec((2,)))
    return step


@program(500, 20)
def dragon_compiles():
    """A function of Dragon's own that is captured at two sizes and dropped."""
    import dragon

    def step():
        state = dragon.ones((3,))
        graph = dragon.function(lambda x: dragon.ops.exp(x) + state)
        graph(dragon.ones((3,)))
        graph(dragon.ones((2, 3)))
    return step


@program(200, 10)
def loader_epochs():
    """An epoch of a DataLoader with two workers, every third left early."""
    from dragon.vm import torch
    data = torch.utils.data.TensorDataset(torch.randn(24, 3), torch.arange(24))
    count = [0]

    def step():
        count[0] += 1
        for place, _ in enumerate(torch.utils.data.DataLoader(data, batch_size=4, num_workers=2, shuffle=True)):
            if count[0] % 3 == 0 and place == 2:
                break
    return step


@program(200, 10)
def iterator_epochs():
    """An epoch of Dragon's own reader with two worker processes, and one with threads, every third left early."""
    from dragon import io
    count = [0]

    def step():
        count[0] += 1
        for kind in ("processes", "threads"):
            for place, _ in enumerate(io.Iterator(range(24), batch_size=4, workers=2, kind=kind)):
                if count[0] % 3 == 0 and place == 2:
                    break
    return step


@program(1000)
def captured_errors():
    """An exception out of a captured function, at its first call, at a later one, and out of a backward pass."""
    import contextlib

    from dragon.vm import tensorflow as tf
    from dragon.vm import torch
    graph = torch.compile(lambda x, y: (x @ y).tanh())
    branches = tf.function(lambda x: tf.debugging.assert_less(x, 0.0))

    class Failing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            raise ValueError("not this one")

    def refuse(x):
        raise ValueError(f"of {tuple(x.shape)}")

    def step():
        ones = torch.ones(2, 3, requires_grad=True)
        graph(torch.ones(2, 3), torch.ones(3, 2))
        for call in (lambda: graph(ones, ones), lambda: torch.compile(refuse)(ones),
                     lambda: branches(tf.constant(1.0)), lambda: Failing.apply(ones).sum().backward(),
                     lambda: tf.function(refuse)(tf.ones((2,)))):
            with contextlib.suppress(Exception):
                call()
    return step


@program(1000)
def threads():
    """A thread that computes, records, draws and ends."""
    import dragon
    from dragon.vm import torch

    def work():
        x = torch.randn(64, 64, requires_grad=True)
        (x @ x).sum().backward()
        with torch.no_grad():
            torch.nn.functional.dropout(x)
        dragon.ops.sum(dragon.ones((200, 200)))

    def step():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    return step


@program(300, 20)
def datasets():
    """A tf.data pipeline that is made, read halfway, and dropped."""
    from dragon.vm import tensorflow as tf

    def step():
        data = tf.data.Dataset.range(40).map(lambda x: x * 2, num_parallel_calls=2).shuffle(10).batch(4).prefetch(2)
        for place, _ in enumerate(data):
            if place == 4:
                break
    return step


@program(300, 20)
def transforms():
    """vmap, jvp, hessians, checkpoints and double backward passes."""
    from dragon.vm import torch
    x = torch.randn(3)

    def step():
        torch.func.vmap(torch.func.grad(lambda x: (x ** 3).sum()))(torch.randn(4, 3))
        torch.func.jvp(torch.tanh, (x,), (x,))
        torch.func.hessian(lambda x: (x ** 3).sum())(x)
        y = torch.randn(3, requires_grad=True)
        torch.utils.checkpoint.checkpoint(torch.tanh, y, use_reentrant=False).sum().backward()
        first, = torch.autograd.grad((y ** 3).sum(), y, create_graph=True)
        first.sum().backward()
    return step


@program(100, 10)
def exports():
    """A model that is exported, scripted and symbolically traced."""
    from dragon.vm import torch

    def step():
        net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
        torch.export.export(net, (torch.ones(2, 3),)).module()(torch.ones(2, 3))
        torch.fx.symbolic_trace(net)(torch.ones(2, 3))
        torch.jit.script(net)(torch.ones(2, 3))
    return step


def collect():
    """Give back what nobody holds, as far as one process can."""
    for _ in range(3):
        gc.collect()
