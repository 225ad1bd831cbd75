"""What a student loses by answering otherwise than its teacher."""
from dragon.vm.keras import losses, ops
from dragon.vm.keras.core import tree
from dragon.vm.keras.core.configuration import Configured
from dragon.vm.keras.saving import serialization


def resolve_loss(loss):
    """Return a loss of which the name, the function or the object is given; None stays None."""
    return losses.get(loss) if isinstance(loss, str) else loss


def summed(values):
    """Return the sum of scalars."""
    return ops.sum(ops.stack(tree.flatten(values)))


class DistillationLoss(Configured):
    """Base of the losses between a teacher's outputs and a student's."""

    def compute_loss(self, teacher_outputs, student_outputs, **kwargs):
        """Return the loss as a scalar.

        Parameters
        ----------
        teacher_outputs : Any
            Nested outputs of the teacher.
        student_outputs : Any
            Nested outputs of the student.

        """
        raise NotImplementedError(f"compute_loss: a subclass has to define it. Received: {type(self).__name__}")

    def validate_outputs(self, teacher_outputs, student_outputs):
        """Raise unless two outputs are nested alike."""
        tree.assert_same_structure(teacher_outputs, student_outputs)

    def validate_model_compatibility(self, teacher, student):
        """Raise if two models do not go with this loss."""

    @classmethod
    def from_config(cls, config):
        """Make a loss from its configuration."""
        return cls(**{name: serialization.deserialize_keras_object(value) for name, value in config.items()})


class FeatureDistillation(DistillationLoss):
    """A distance between what a layer of the teacher gives and what a layer of the student gives.

    Parameters
    ----------
    loss : str or Loss or Any, default="mse"
        The distance, nested as the outputs are; None for an output that does not count.
    teacher_layer_name, student_layer_name : str, optional
        The layers; the models' outputs without them.

    """

    def __init__(self, loss="mse", teacher_layer_name=None, student_layer_name=None):
        self.teacher_layer_name = teacher_layer_name
        self.student_layer_name = student_layer_name
        self.loss = tree.map_structure(resolve_loss, loss)
        if all(one is None for one in tree.flatten(self.loss)):
            raise ValueError("The `loss` argument in `FeatureDistillation` must contain at least one non-`None` "
                             f"value. Received: {loss}")

    def validate_model_compatibility(self, teacher, student):
        """Raise if a layer that is named is not there."""
        models = {"teacher": (teacher, self.teacher_layer_name), "student": (student, self.student_layer_name)}
        if all(layer is None for _, layer in models.values()):
            return
        without_graph = [kind for kind, (model, _) in models.items() if getattr(model, "inputs", None) is None]
        if without_graph:
            raise ValueError("FeatureDistillation with specific layer names requires Functional or Sequential models: "
                             f"leave the names out or use LogitsDistillation. Received: "
                             f"{' and '.join(without_graph)} without symbolic inputs and outputs (subclassed)")
        for kind, (model, layer) in models.items():
            if layer is not None:
                try:
                    model.get_layer(name=layer)
                except ValueError as error:
                    raise ValueError(f"In {kind} model: {error}") from None

    def validate_outputs(self, teacher_outputs, student_outputs):
        """Raise unless two outputs, and the losses for them, are nested alike."""
        super().validate_outputs(teacher_outputs, student_outputs)
        try:
            tree.assert_same_structure(self.loss, teacher_outputs)
        except ValueError as error:
            raise ValueError(f"Loss structure mismatch. Received: loss={self.loss}, outputs={teacher_outputs} "
                             f"({error})") from None

    def compute_loss(self, teacher_outputs, student_outputs, **kwargs):
        """Return the sum of the distances, each averaged, as a scalar."""
        def distance(loss, teacher_features, student_features):
            return 0.0 if loss is None else ops.mean(loss(teacher_features, student_features))
        return summed(tree.map_structure(distance, self.loss, teacher_outputs, student_outputs))


class LogitsDistillation(DistillationLoss):
    """A distance between a teacher's and a student's logits, both softened by a temperature.

    Parameters
    ----------
    temperature : float, default=3.0
        What the logits are divided by.
    loss : str or Loss or Any, default="kl_divergence"
        The distance, nested as the outputs are; None for an output that does not count.

    """

    def __init__(self, temperature=3.0, loss="kl_divergence"):
        self.temperature = temperature
        self.loss = tree.map_structure(resolve_loss, loss)
        if all(one is None for one in tree.flatten(self.loss)):
            raise ValueError(f"At least one loss must be non-`None`. Received: loss={loss}")
        if not isinstance(temperature, (int, float)):
            raise ValueError(f"temperature must be a number, got {type(temperature)}")
        if temperature <= 0.0:
            raise ValueError(f"temperature must be positive. Received: temperature={temperature}")

    def compute_loss(self, teacher_outputs, student_outputs, **kwargs):
        """Return the sum of the distances, each averaged, as a scalar."""
        def distance(loss, teacher_logits, student_logits):
            if loss is None:
                return 0.0
            teacher_logits, student_logits = teacher_logits / self.temperature, student_logits / self.temperature
            if not isinstance(loss, losses.KLDivergence):
                return ops.mean(loss(teacher_logits, student_logits))
            # The gradients of softened probabilities shrink with the temperature's square: it is given back.
            apart = loss(ops.softmax(teacher_logits, axis=-1), ops.softmax(student_logits, axis=-1))
            return ops.mean(apart) * (self.temperature ** 2)
        return summed(tree.map_structure(distance, self.loss, teacher_outputs, student_outputs))
