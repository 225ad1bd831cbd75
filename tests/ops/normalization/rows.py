"""Rows of softmax and of the normalisations."""
from harness import FLOATING, INTEGER, Given, Row, Sample, Wrong

AXES = [Sample((5,), 0), Sample((3, 4), -1), Sample((3, 4), 0), Sample((2, 3, 4), 1), Sample((3, 130), 1),
        Sample((130, 70), 0), Sample((), 0), Sample((2, 0), 1), Sample((0, 2), 1)]
INFINITE = [Sample(Given((4,), values=[0., float("-inf"), 1., float("-inf")], grad=False), 0),
            Sample(Given((2, 2), values=[[float("-inf"), 1.], [float("-inf"), 2.]], grad=False), 0)]
BAD = [Wrong((3, 4), 2, error=IndexError, says="axis"),
       Wrong(Given((3,), dtype=INTEGER[-1]), 0, error=TypeError, says="floating")]
POSITIVE = Given((3,), low=0.5, high=2.0)
RUNNING = dict(mean=Given((3,), grad=False), var=Given((3,), low=0.5, high=2.0, grad=False))


def batch_norm(torch, x, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    """Return torch's result and the running statistics it leaves behind."""
    y = torch.nn.functional.batch_norm(x, running_mean, running_var, weight, bias, training, momentum, eps)
    return y if running_mean is None else (y, running_mean, running_var)


def call_batch_norm(dragon, x, running_mean, running_var, *args, **kwargs):
    """Return dragon's result and the running statistics it leaves behind."""
    y = dragon.ops.batch_norm(x, running_mean, running_var, *args, **kwargs)
    return y if running_mean is None else (y, running_mean, running_var)


def local_response_norm(torch, x, size, alpha=1e-4, beta=0.75, k=1.0):
    """Return torch's local response norm."""
    return torch.nn.functional.local_response_norm(x, size, alpha, beta, k)


def instance_norm(torch, x, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True):
    """Return torch's instance norm."""
    return torch.nn.functional.instance_norm(x, running_mean, running_var, weight, bias, use_input_stats)


ROWS = [
    Row("softmax", AXES + INFINITE, dtypes=FLOATING, errors=BAD),
    Row("log_softmax", AXES + INFINITE[:1], dtypes=FLOATING, errors=BAD),
    Row("softmin", AXES, dtypes=FLOATING),
    Row("softmax_backward", [Sample((3, 4), (3, 4), 1), Sample((3, 4), (3, 4), 0)], dtypes=FLOATING,
        torch=lambda torch, dy, y, axis: y * (dy - (dy * y).sum(axis, keepdim=True))),
    Row("log_softmax_backward", [Sample((3, 4), (3, 4), 1), Sample((3, 4), (3, 4), 0)], dtypes=FLOATING,
        torch=lambda torch, dy, y, axis: dy - y.exp() * dy.sum(axis, keepdim=True)),
    Row("layer_norm", [Sample((3, 8), (8,)), Sample((3, 8), (8,), (8,)), Sample((3, 8), (8,), (8,), (8,)),
                       Sample((2, 3, 4), (3, 4), (3, 4), (3, 4), 1e-3), Sample((5, 130), (130,), None, (130,)),
                       Sample((130, 5), (5,), (5,), (5,)), Sample((0, 4), (4,), (4,), (4,))],
        dtypes=FLOATING, errors=[Wrong((3, 4), (3,), error=ValueError, says="last axes"),
                                 Wrong((3, 4), (4,), (3,), error=ValueError, says="weight")]),
    Row("rms_norm", [Sample((3, 8), (8,)), Sample((3, 8), (8,), (8,)), Sample((2, 3, 4), (3, 4), (3, 4), 1e-3)],
        dtypes=FLOATING),
    Row("group_norm", [Sample((2, 6, 3), 3), Sample((2, 6, 3, 2), 2, (6,), (6,)), Sample((3, 4), 2, (4,)),
                       Sample((2, 4, 40, 33), 2, (4,), (4,), 1e-3), Sample((0, 4, 3), 2, (4,), (4,))],
        dtypes=FLOATING, errors=[Wrong((2, 5, 3), 2, error=ValueError, says="divisor")]),
    Row("batch_norm", [Sample((4, 3), None, None, None, None, True), Sample((4, 3, 5), None, None, (3,), (3,), True),
                       Sample((2, 3, 4, 5), None, None, (3,), (3,), True, 0.1, 1e-3),
                       Sample((2, 3, 4, 5), RUNNING["mean"], RUNNING["var"], (3,), (3,), False),
                       Sample((2, 3, 4, 5), RUNNING["mean"], RUNNING["var"], (3,), None, True, 0.3),
                       Sample((2, 3, 40, 35), RUNNING["mean"], RUNNING["var"], None, (3,), True)],
        dtypes=FLOATING, torch=batch_norm, call=call_batch_norm,
        errors=[Wrong((1, 3), None, None, None, None, True, error=ValueError, says="more than one"),
                Wrong((4, 3), None, None, error=ValueError, says="running")]),
    Row("instance_norm", [Sample((2, 3, 5)), Sample((2, 3, 4, 5), None, None, (3,), (3,)),
                          Sample((2, 3, 4), RUNNING["mean"], RUNNING["var"], (3,), (3,), False)],
        dtypes=FLOATING, torch=instance_norm),
    Row("local_response_norm", [Sample((2, 5, 4), 3), Sample((2, 5, 4, 3), 2, 1e-2, 0.5, 2.0)], dtypes=FLOATING,
        torch=local_response_norm),
    Row("normalize", [Sample((3, 4)), Sample((3, 4), 1.0, 0), Sample((2, 3, 4), 2.0, 2)], dtypes=FLOATING,
        torch=lambda torch, x, p=2.0, axis=1: torch.nn.functional.normalize(x, p, axis)),
]
