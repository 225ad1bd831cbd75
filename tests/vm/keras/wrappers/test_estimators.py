"""Models as estimators of scikit-learn, beside genuine Keras's."""
import numpy as np
import pytest

import dragon.vm.keras as keras
from harness import genuine

pytest.importorskip("sklearn")
RANDOM = np.random.RandomState(0)
X, LABELS = RANDOM.rand(40, 5), RANDOM.randint(0, 3, 40)


def maker(module, loss, outputs=None):
    """Return what makes a compiled model of samples and targets."""
    def make(X, y, units=8):
        inputs = module.Input(X.shape[1:])
        hidden = module.layers.Dense(units, activation="relu")(inputs)
        count = outputs or y.shape[1]
        made = module.layers.Dense(count, activation="softmax" if loss != "mse" else None)(hidden)
        model = module.Model(inputs, made)
        model.compile(optimizer="sgd", loss=loss)
        return model
    return make


def fit(module, kind, y, loss, outputs=None):
    module.utils.set_random_seed(1)
    wrapper = getattr(module.wrappers, kind)(maker(module, loss, outputs), model_kwargs={"units": 6},
                                             fit_kwargs={"epochs": 3, "verbose": 0})
    return wrapper.fit(X, y)


def test_classifier():
    found, wanted = (fit(module, "SKLearnClassifier", LABELS, "categorical_crossentropy")
                     for module in (keras, genuine.keras))
    np.testing.assert_allclose(found.decision_function(X), wanted.decision_function(X), 1e-5)
    assert found.predict(X).tolist() == wanted.predict(X).tolist()
    assert found.classes_.tolist() == [0, 1, 2] and found.score(X, LABELS) == wanted.score(X, LABELS)


def test_regressor_and_transformer():
    for y in (X.sum(1), np.stack([X.sum(1), X[:, 0]], 1)):
        found, wanted = (fit(module, "SKLearnRegressor", y, "mse") if y.ndim == 1 else None
                         for module in (keras, genuine.keras))
        if found is not None:
            assert found.predict(X).shape == y.shape
            np.testing.assert_allclose(found.predict(X), wanted.predict(X), 1e-4, 1e-5)
    found, wanted = (fit(module, "SKLearnTransformer", X.sum(1), "mse", 1) for module in (keras, genuine.keras))
    np.testing.assert_allclose(found.transform(X), wanted.transform(X), 1e-4, 1e-5)


def test_pipelines_and_clones():
    from sklearn.base import clone
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    wrapper = keras.wrappers.SKLearnClassifier(maker(keras, "categorical_crossentropy"), fit_kwargs={"verbose": 0})
    assert clone(wrapper).fit_kwargs == {"verbose": 0} and wrapper.epoch_ == 0
    scores = cross_val_score(make_pipeline(StandardScaler(), wrapper), X, LABELS, cv=2)
    assert scores.shape == (2,)


def test_a_model_is_cloned():
    model = maker(keras, "mse", 1)(X, X)
    wrapper = keras.wrappers.SKLearnRegressor(model, fit_kwargs={"verbose": 0}).fit(X, X.sum(1))
    assert wrapper.model_ is not model and len(wrapper.history_.epoch) == 1


@pytest.mark.parametrize("y, says", [(np.zeros(40, int), "one class"), (X[:, 0], "Target type")])
def test_errors(y, says):
    with pytest.raises(ValueError, match=says):
        keras.wrappers.SKLearnClassifier(maker(keras, "categorical_crossentropy")).fit(X, y)
    with pytest.raises(RuntimeError, match="compiled"):
        keras.wrappers.SKLearnRegressor(lambda X, y: keras.Sequential([keras.layers.Dense(1)])).fit(X, X[:, 0])
