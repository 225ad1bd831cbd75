"""A model that trains a student by labels and by a teacher's answers."""
from dragon.vm.keras import metrics as metrics_module
from dragon.vm.keras import ops
from dragon.vm.keras.core import tree
from dragon.vm.keras.distillation.losses import resolve_loss
from dragon.vm.keras.models import Model, Sequential
from dragon.vm.keras.saving import serialization

FINAL = "final_output"


def _check_shapes(one, other, kind):
    """Raise unless two shapes may be the same."""
    if len(one) != len(other):
        raise ValueError(f"Teacher and student {kind} shapes have different dimensions. "
                         f"Received: teacher {one}, student {other}.")
    if any(None not in pair and pair[0] != pair[1] for pair in zip(one, other)):
        raise ValueError(f"Teacher and student {kind} shapes are incompatible: all dimensions must match. "
                         f"Received: teacher {one}, student {other}.")


def _check_dtypes(one, other, kind):
    """Raise unless two dtypes are the same."""
    if one != other:
        raise ValueError(f"Teacher and student {kind} dtypes must match. Received: teacher {one}, student {other}.")


def _check_models(teacher, student):
    """Raise unless a student may answer to what its teacher answers to."""
    for kind, model in (("Teacher", teacher), ("Student", student)):
        if not isinstance(model, Model):
            raise ValueError(f"{kind} must be a keras.Model, got {type(model)}")
    for check, attribute in ((_check_shapes, "shape"), (_check_dtypes, "dtype")):
        for kind in ("input", "output"):
            theirs, ours = (getattr(model, kind + "s", None) for model in (teacher, student))
            if theirs is not None and ours is not None:
                tree.map_structure(lambda a, b: check(getattr(a, attribute), getattr(b, attribute), kind),
                                   theirs, ours)


def _feature_extractor(model, names):
    """Return a model of a model's output and of what some of its layers give; None without layers."""
    if not names:
        return None
    if getattr(model, "inputs", None) is None:
        raise ValueError(f"Features come from models with symbolic inputs only. Received: {model.name}")
    final = model.layers[-1].output if isinstance(model, Sequential) else model.output
    outputs = {FINAL: final, **{name: model.get_layer(name=name).output for name in names}}
    return Model(inputs=model.inputs, outputs=outputs, name=f"{model.name}_multi_feature_extractor")


class Distiller(Model):
    """A model that trains a student by labels and by what a teacher, which does not learn, answers.

    Parameters
    ----------
    teacher : Model
        The model to learn from; it is frozen.
    student : Model
        The model that learns.
    distillation_losses : DistillationLoss or List[DistillationLoss]
        What the student loses by answering otherwise.
    distillation_loss_weights : List[float], optional
        A weight for each loss; 1 without them.
    student_loss_weight : float, default=0.5
        The part that the labels have in the whole, between 0 and 1.
    name : str, default="distiller"
        The model's name.
    **kwargs : Any
        Further arguments of `Model`.

    """

    def __init__(self, teacher, student, distillation_losses, distillation_loss_weights=None,
                 student_loss_weight=0.5, name="distiller", **kwargs):
        super().__init__(name=name, **kwargs)
        _check_models(teacher, student)
        self.teacher, self.student = teacher, student
        if not isinstance(student_loss_weight, (int, float)):
            raise ValueError(f"student_loss_weight must be a number, got {type(student_loss_weight)}")
        if not 0.0 <= student_loss_weight <= 1.0:
            raise ValueError(f"student_loss_weight must be between 0.0 and 1.0, got {student_loss_weight}")
        self.student_loss_weight = student_loss_weight
        self._set_losses(distillation_losses, distillation_loss_weights)
        named = [(getattr(loss, "teacher_layer_name", None), getattr(loss, "student_layer_name", None))
                 for loss in self.distillation_losses]
        for loss in self.distillation_losses:
            loss.validate_model_compatibility(teacher, student)
        self._teacher_feature_extractor = _feature_extractor(teacher, list(dict.fromkeys(a for a, _ in named if a)))
        self._student_feature_extractor = _feature_extractor(student, list(dict.fromkeys(b for _, b in named if b)))
        self.teacher.trainable = False
        self.student_loss_tracker = metrics_module.Mean(name="student_loss")
        self.distillation_loss_tracker = metrics_module.Mean(name="distillation_loss")
        self.total_loss_tracker = metrics_module.Mean(name="total_loss")

    def _set_losses(self, found, weights):
        """Keep the losses between teacher and student, and how much each of them counts."""
        if found is None:
            raise ValueError("'distillation_losses' cannot be `None`: a loss (LogitsDistillation, "
                             "FeatureDistillation, ...) or a list of losses is needed. Received: None")
        if not isinstance(found, (list, tuple)):
            found, weights = [found], None
        if weights is None:
            weights = [1.0] * len(found)
        if len(weights) != len(found):
            raise ValueError(f"Number of distillation_loss_weights ({len(weights)}) must match number of "
                             f"distillation_losses ({len(found)})")
        self.distillation_losses, self.distillation_loss_weights = found, weights

    def compile(self, optimizer="adam", loss=None, metrics=None, **kwargs):
        """Say how to train.

        Parameters
        ----------
        optimizer : str or Optimizer, default="adam"
            The rule.
        loss : str or Loss or Any
            What the student loses by missing the labels, nested as its outputs are.
        metrics : List[Any], optional
            What else is measured of the student.
        **kwargs : Any
            Further arguments of `Model.compile`.

        """
        if loss is None:
            raise ValueError("'loss' cannot be `None`. Received: loss=None")
        if metrics is not None and not isinstance(metrics, (list, tuple)):
            raise ValueError(f"metrics must be a list or tuple, got {type(metrics)}")
        self._student_loss = tree.map_structure(resolve_loss, loss)
        self._student_loss_for_serialization = loss
        super().compile(optimizer=optimizer, loss=None, metrics=metrics, **kwargs)

    def call(self, inputs, training=None, **kwargs):
        """Return the student's answer."""
        return self.student(inputs, training=training, **kwargs)

    def _loss_of_labels(self, y, y_pred):
        """Return what the student loses by missing the labels."""
        if not self.student_loss_weight > 0.0 or y is None:
            return 0.0
        found = tree.flatten(tree.map_structure(lambda loss, true, told: loss(true, told),
                                                self._student_loss, y, y_pred))
        total = ops.sum(ops.stack(found)) if len(found) > 1 else found[0]
        return ops.mean(total) if len(total.shape) > 0 else total

    def _loss_of_answers(self, x, y_pred):
        """Return what the student loses by answering otherwise than its teacher."""
        if not self.student_loss_weight < 1.0:
            return 0.0
        extractors = self._teacher_feature_extractor, self._student_feature_extractor
        theirs = extractors[0](x, training=False) if extractors[0] else {FINAL: self.teacher(x, training=False)}
        ours = extractors[1](x, training=True) if extractors[1] else {FINAL: y_pred}
        total = 0.0
        for loss, weight in zip(self.distillation_losses, self.distillation_loss_weights):
            told, answered = theirs[FINAL], y_pred
            if getattr(loss, "teacher_layer_name", None) is not None:
                told = theirs[loss.teacher_layer_name]
                answered = ours[loss.student_layer_name or FINAL]
            loss.validate_outputs(told, answered)
            value = loss.compute_loss(told, answered)
            if len(getattr(value, "shape", ())) > 0:
                raise ValueError(f"{type(loss).__name__}.compute_loss must return a scalar tensor. "
                                 f"Received: a non-scalar loss with shape {tuple(value.shape)}")
            total = ops.add(total, ops.multiply(weight, value))
        return total

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        """Return both losses' weighted sum.

        Parameters
        ----------
        x : Any
            Inputs.
        y : Any, optional
            Labels.
        y_pred : Any, optional
            What the student answered; it is asked without it.
        sample_weight : Tensor, optional
            Accepted for `fit`; the losses do not weigh samples.
        training : bool, default=True
            How the student is asked.

        """
        if y_pred is None:
            y_pred = self(x, training=training)
        labels, answers = self._loss_of_labels(y, y_pred), self._loss_of_answers(x, y_pred)
        total = ops.add(ops.multiply(self.student_loss_weight, labels),
                        ops.multiply(1.0 - self.student_loss_weight, answers))
        self.student_loss_tracker.update_state(labels)
        self.distillation_loss_tracker.update_state(answers)
        self.total_loss_tracker.update_state(total)
        return total

    def reset_metrics(self):
        """Forget what was measured."""
        super().reset_metrics()
        for tracker in (self.student_loss_tracker, self.distillation_loss_tracker, self.total_loss_tracker):
            tracker.reset_state()

    @classmethod
    def from_config(cls, config):
        """Make a model from its configuration."""
        read = serialization.deserialize_keras_object
        return cls(**{**config, "teacher": read(config["teacher"]), "student": read(config["student"]),
                      "distillation_losses": [read(loss) for loss in config["distillation_losses"]]})
