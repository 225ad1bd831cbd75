"""Reading and setting the learning rates of a model's optimizer, or of the several inside of it."""


def list_optimizers(model):
    """Return (optimizer, suffix of its name in logs) for each optimizer that has a learning rate."""
    inner = getattr(model.optimizer, "optimizers", None)
    return [(model.optimizer, "")] if inner is None else [(optimizer, f"_{optimizer.name}") for optimizer in inner]


def read(optimizer):
    """Return an optimizer's learning rate as a float."""
    return float(optimizer.learning_rate)


def log(model, logs):
    """Put the learning rates into logs."""
    for optimizer, suffix in list_optimizers(model):
        logs["learning_rate" + suffix] = read(optimizer)
