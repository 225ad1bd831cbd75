"""Models as estimators: fitted on clones, with targets in the form that scikit-learn hands over."""
import copy

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from dragon.vm.keras.models.cloning import clone_model
from dragon.vm.keras.models.model import Model


class TargetReshaper(TransformerMixin, BaseEstimator):
    """Make columns of rows of targets, and rows of what is predicted."""

    def fit(self, y):
        """Take note of the form of targets."""
        self.ndim_ = y.ndim
        return self

    def transform(self, y):
        """Return targets as columns."""
        return y.reshape(-1, 1) if y.ndim == 1 else y

    def inverse_transform(self, y):
        """Return columns in the form of the targets."""
        check_is_fitted(self)
        return np.squeeze(y, axis=1) if self.ndim_ == 1 and y.ndim == 2 else y


class Estimator(BaseEstimator):
    """Base of the wrappers.

    Parameters
    ----------
    model : Union[Model, Callable]
        A compiled model, of which clones are fitted, or what makes one of `X` and `y`.
    warm_start : bool, optional, default=False
        Kept for scikit-learn.
    model_kwargs : Dict[str, Any], optional
        Handed on to a callable.
    fit_kwargs : Dict[str, Any], optional
        Handed on to the model's `fit`.

    """

    def __init__(self, model, warm_start=False, model_kwargs=None, fit_kwargs=None):
        self.model = model
        self.warm_start = warm_start
        self.model_kwargs = model_kwargs
        self.fit_kwargs = fit_kwargs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags

    def __sklearn_clone__(self):
        model = self.model if callable(self.model) and not isinstance(self.model, Model) else copy.deepcopy(self.model)
        return type(self)(model=model, warm_start=self.warm_start, model_kwargs=self.model_kwargs,
                          fit_kwargs=self.fit_kwargs)

    @property
    def epoch_(self):
        """What the model's history says of epochs; 0 before it is fitted."""
        history = getattr(self, "history_", None)
        return 0 if history is None else history.epoch

    def _make_model(self, X, y):
        if not isinstance(self.model, Model):
            return self.model(X=X, y=y, **(self.model_kwargs or {}))
        made = clone_model(self.model)
        if self.model.compiled:
            made.compile_from_config(self.model.get_compile_config())
        return made

    def fit(self, X, y, **kwargs):
        """Fit a model.

        Parameters
        ----------
        X, y : numpy.ndarray
            Samples and targets.
        **kwargs : Any
            Handed on to the model's `fit`.

        Returns
        -------
        Estimator
            Itself.

        """
        X, y = validate_data(self, X, y, multi_output=True)
        y = self._process_target(y, reset=True)
        model = self._make_model(X, y)
        if not model.compiled or not model.loss or not model.optimizer:
            raise RuntimeError("Given model needs to be compiled, and have a loss and an optimizer. "
                               f"Received: {model}")
        self.history_ = model.fit(X, y, **{**(self.fit_kwargs or {}), **kwargs})
        self.model_ = model
        return self

    def _raw(self, X):
        check_is_fitted(self)
        return self.model_.predict(validate_data(self, X, reset=False))

    def predict(self, X):
        """Return what the model predicts, in the form of the targets."""
        return self._reverse_process_target(self._raw(X))

    def _process_target(self, y, reset=False):
        type_of_target(y, raise_unknown=True)
        if reset:
            self._target_encoder = TargetReshaper().fit(y)
        return self._target_encoder.transform(y)

    def _reverse_process_target(self, y):
        return self._target_encoder.inverse_transform(y)


class SKLearnClassifier(ClassifierMixin, Estimator):
    """A model as a classifier: it predicts vectors over classes; see `Estimator` for the parameters."""

    def decision_function(self, X):
        """Return the vectors."""
        return self._raw(X)

    def _process_target(self, y, reset=False):
        kind = type_of_target(y, raise_unknown=True)
        if kind not in ("binary", "multiclass"):
            raise ValueError(f"Only binary and multiclass target types are supported. Target type: {kind}. "
                             f"Received: targets of shape {y.shape}")
        if reset:
            self._target_encoder = make_pipeline(TargetReshaper(), OneHotEncoder(sparse_output=False)).fit(y)
            self.classes_ = np.unique(y)
            if len(self.classes_) == 1:
                raise ValueError("Classifier can't train when only one class is present. "
                                 f"Received: {self.classes_}")
        return self._target_encoder.transform(y)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class SKLearnRegressor(RegressorMixin, Estimator):
    """A model as a regressor; see `Estimator` for the parameters."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags


class SKLearnTransformer(TransformerMixin, Estimator):
    """A model as a step of a pipeline; see `Estimator` for the parameters."""

    def transform(self, X):
        """Return what the model makes of samples."""
        return self._raw(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
