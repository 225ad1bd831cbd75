"""Layers of Keras and modules of PyTorch in one model: one tape, one list of parameters, either side's optimizers."""
import numpy as np
import pytest

import dragon
from dragon.vm import keras, torch
from dragon.vm import tensorflow as tf

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((32, 4)).astype("float32"), RNG.standard_normal((32, 1)).astype("float32")


class KerasInTorch(torch.nn.Module):
    """A Dense layer of Keras between two of PyTorch's."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        keras.utils.set_random_seed(0)
        self.first = torch.nn.Linear(4, 8)
        self.middle = keras.layers.Dense(6, activation="relu")
        self.norm = keras.layers.BatchNormalization()
        self.last = torch.nn.Linear(6, 1)
        self(torch.zeros(2, 4))  # builds the layers of Keras

    def forward(self, x):
        hidden = self.norm(self.middle(torch.relu(self.first(x))))
        return self.last(hidden.view(-1, 6))


def torch_in_keras():
    """Return a Sequential model of Keras with a module of PyTorch inside."""
    torch.manual_seed(0)
    keras.utils.set_random_seed(0)
    inner = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Dropout(0.0))
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), inner, keras.layers.Dense(1)])


OPTIMIZERS = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9),
    "adam": lambda parameters: torch.optim.Adam(parameters, lr=0.01),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_torch_trains_layers_of_keras(name):
    model = KerasInTorch()
    names = [path for path, _ in model.named_parameters()]
    assert names == ["first.weight", "first.bias", "middle.kernel", "middle.bias", "norm.gamma", "norm.beta",
                     "last.weight", "last.bias"]
    assert [path for path, _ in model.named_buffers()] == ["norm.moving_mean", "norm.moving_variance"]
    assert all(isinstance(parameter, torch.nn.Parameter) for parameter in model.parameters())
    optimizer = OPTIMIZERS[name](model.parameters())
    kernel, mean, losses = model.middle.kernel.numpy(), model.norm.moving_mean.numpy(), []
    for _ in range(25):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(torch.from_numpy(X)), torch.from_numpy(Y))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.8 * losses[0]
    assert not np.array_equal(kernel, model.middle.kernel.numpy())
    assert not np.array_equal(mean, model.norm.moving_mean.numpy())


def test_mode_of_the_torch_module_is_that_of_its_layers():
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), keras.layers.Dropout(0.5))
    x = torch.ones(64, 4)
    assert (model(x) == 0).any() and not (model.eval()(x) == 0).all()
    assert not (model(x) == 0).any()
    assert (model.train()(x) == 0).any()


def test_state_of_a_torch_module_with_layers(tmp_path):
    model, other = KerasInTorch(), KerasInTorch()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1.0)
    state = model.state_dict()
    assert list(state) == ["first.weight", "first.bias", "middle.kernel", "middle.bias", "norm.gamma", "norm.beta",
                           "norm.moving_mean", "norm.moving_variance", "last.weight", "last.bias"]
    torch.save(state, tmp_path / "state.pt")
    assert str(other.load_state_dict(torch.load(tmp_path / "state.pt"))) == "<All keys matched successfully>"
    np.testing.assert_array_equal(other.middle.kernel.numpy(), model.middle.kernel.numpy())
    with pytest.raises(RuntimeError, match=r"(?s)Missing key.*norm.gamma.*size mismatch for middle.kernel"):
        other.load_state_dict({**{k: v for k, v in state.items() if k != "norm.gamma"},
                               "middle.kernel": torch.zeros(2, 2)})


def test_fit_trains_modules_of_torch():
    model = torch_in_keras()
    linear = model.layers[1].module[0]
    paths = [variable.path.split("/", 1)[1] for variable in model.layers[1].trainable_variables]
    assert paths == ["0/weight", "0/bias"]
    assert model.count_params() == 4 * 8 + 8 + 8 * 8 + 8 + 8 + 1
    before = linear.weight.detach().numpy().copy()
    model.compile(keras.optimizers.Adam(0.01), "mse")
    history = model.fit(X, Y, epochs=8, batch_size=8, verbose=0)
    assert history.history["loss"][-1] < 0.8 * history.history["loss"][0]
    assert not np.array_equal(before, linear.weight.detach().numpy())
    assert model.predict(X, verbose=0).shape == (32, 1)


def test_captured_and_eager_fit_agree():
    losses = []
    for eagerly in (False, True):
        model = torch_in_keras()
        model.compile(keras.optimizers.SGD(0.05), "mse", run_eagerly=eagerly)
        losses.append(model.fit(X, Y, epochs=3, batch_size=10, shuffle=False, verbose=0).history["loss"])
    np.testing.assert_allclose(*losses, rtol=1e-5)


def test_weights_of_a_model_with_modules(tmp_path):
    model, other = torch_in_keras(), torch_in_keras()
    model.layers[1].module[0].weight.data += 1
    model.save_weights(tmp_path / "mixed.weights.h5")
    other.load_weights(tmp_path / "mixed.weights.h5")
    np.testing.assert_allclose(model.predict(X, verbose=0), other.predict(X, verbose=0), rtol=1e-5)
    with pytest.raises(NotImplementedError, match="which no config describes"):
        model.get_config()


def test_one_tape_over_both():
    linear, dense = torch.nn.Linear(4, 3), keras.layers.Dense(2)
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        y = dense(tf.convert_to_tensor(linear(x)))
        loss = tf.reduce_mean(y ** 2)
    sources = [linear.weight, linear.bias, *dense.trainable_variables]
    gradients = tape.gradient(loss, sources)
    assert [tuple(gradient.shape) for gradient in gradients] == [(3, 4), (3,), (3, 2), (2,)]
    hidden = X @ linear.weight.detach().numpy().T + linear.bias.detach().numpy()
    out = hidden @ dense.kernel.numpy()
    wanted = (2 * out / out.size) @ dense.kernel.numpy().T
    np.testing.assert_allclose(gradients[0].numpy(), wanted.T @ X, rtol=1e-4, atol=1e-5)


def test_keras_optimizer_of_torch_parameters():
    linear = torch.nn.Linear(4, 1)
    optimizer = keras.optimizers.Adam(0.05)
    losses = []
    for _ in range(20):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((linear(tf.constant(X)) - Y) ** 2)
        parameters = list(linear.parameters())
        optimizer.apply_gradients(zip(tape.gradient(loss, parameters), parameters))
        losses.append(float(loss))
    assert losses[-1] < 0.9 * losses[0]


def test_torch_optimizer_of_keras_variables():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
    optimizer = torch.optim.AdamW(model.trainable_variables, lr=0.02)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = ((model(torch.from_numpy(X)) - torch.from_numpy(Y)) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.9 * losses[0]


def test_a_function_over_both():
    model = KerasInTorch().eval()
    captured = tf.function(lambda x: model(x))
    for rows in (4, 7, 9):
        x = torch.from_numpy(X[:rows])
        np.testing.assert_allclose(captured(x).detach().numpy(), model(x).detach().numpy(), rtol=1e-5, atol=1e-6)


def test_attributes_of_layers_may_be_modules():
    class Mixed(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 5)
            self.dense = keras.layers.Dense(2)

        def call(self, x):
            return self.dense(self.linear(x))

    layer = Mixed()
    assert layer(X).shape == (32, 2)
    assert list(layer.state_dict()) == ["linear.weight", "linear.bias", "dense.kernel", "dense.bias"]
    assert len(layer.trainable_weights) == 4 and layer.linear.in_features == 4
    layer.trainable = False
    assert not layer.trainable_weights and not any(p.requires_grad for p in layer.linear.module.parameters())


def test_native_modules_take_part():
    class Native(dragon.nn.Module):
        def __init__(self):
            self.scale = dragon.nn.Parameter(dragon.ones((2,)))
            self.dense = keras.layers.Dense(2)
            self.dense.build((None, 4))

        def forward(self, x):
            return self.dense(x) * self.scale

    module = Native()
    assert [name for name, _ in module.named_parameters()] == ["scale", "dense.kernel", "dense.bias"]
    assert all(isinstance(parameter, dragon.Tensor) for parameter in module.parameters())


def test_wrong_modules():
    with pytest.raises(ValueError, match="Received: module=3"):
        keras.layers.TorchModuleWrapper(3)
