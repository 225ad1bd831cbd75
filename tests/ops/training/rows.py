"""Rows of the optimizer updates: one first step each. Longer runs, options and states are in `tests/training`."""
import math

from harness import FLOATING, SINGLES, Row, Sample, Wrong

WRITES = "it writes into its arguments"


def update(name, optimizer, *states, dtypes=SINGLES, **options):
    """Return a row that compares one update with `torch.optim`.

    A state is the number it starts as, a string for one number per parameter, or None for an unused list.
    """
    def call(dragon, param, grad):
        lists = [[] if state is None else [dragon.ops.full_like(param, state)] if isinstance(state, int)
                 else [dragon.ops.full((), float(state), dtype="float32", device=param.device)] for state in states]
        getattr(dragon.ops, name)([param], [grad], *lists, **options)
        return param

    def oracle(torch, param, grad):
        param = torch.nn.Parameter(param.clone())
        param.grad = grad
        optimizer(torch)([param]).step()
        return param.detach()

    return Row(name, [Sample((3,), (3,)), Sample((2, 3), (2, 3)), Sample((0,), (0,)), Sample((), ())], call=call,
               torch=oracle, dtypes=dtypes, gradient=False, strided=WRITES, out=WRITES)


ROWS = [
    update("sgd_step", lambda torch: lambda p: torch.optim.SGD(p, 0.1, momentum=0.9), 0, lr=0.1, momentum=0.9,
           first=True),
    update("asgd_step", lambda torch: torch.optim.ASGD, 0, "0.01", "1", "0"),
    update("rprop_step", lambda torch: lambda p: torch.optim.Rprop(p, 1.0), 0, 1),
    update("adam_step", lambda torch: torch.optim.Adam, 0, 0, None, "0"),
    # The second of two steps of Adam, with a decay: the rate as Keras corrects it.
    Row("adam_scaled_step", [Sample((3,), (3,)), Sample((20, 3), (20, 3)), Sample((0,), (0,))], dtypes=SINGLES,
        gradient=False, strided=WRITES, out=WRITES, call=lambda dragon, p, g: (dragon.ops.adam_scaled_step(
            [p], [g], [g * 0.1], [g * g * 0.01], [], dragon.ops.full((), 0.0625, dtype="float32", device=p.device),
            dragon.ops.full((), 0.875, dtype="float32", device=p.device), eps=1e-3), p)[1],
        torch=lambda torch, p, g: 0.875 * p - 0.0625 * (0.19 * g) / ((0.01099 * g * g).sqrt() + 1e-3)),
    update("nadam_step", lambda torch: torch.optim.NAdam, 0, 0, "1", "0"),
    update("radam_step", lambda torch: torch.optim.RAdam, 0, 0, "0"),
    update("adamax_step", lambda torch: torch.optim.Adamax, 0, 0, "0"),
    update("rmsprop_step", lambda torch: torch.optim.RMSprop, 0, None, None),
    update("adagrad_step", lambda torch: torch.optim.Adagrad, 0, "0"),
    update("adadelta_step", lambda torch: torch.optim.Adadelta, 0, 0),
    # The first step of LAMB without decay: Adam's direction, as long as the parameter.
    Row("lamb_step", [Sample((3,), (3,)), Sample((20, 3), (20, 3))], dtypes=SINGLES, gradient=False, strided=WRITES,
        out=WRITES, call=lambda dragon, p, g: (dragon.ops.lamb_step(
            [p], [g], [dragon.ops.zeros_like(p)], [dragon.ops.zeros_like(p)], [dragon.ops.zeros((), device=p.device)],
            lr=0.1), p)[1],
        torch=lambda torch, p, g: p - 0.1 * p.norm() * (d := g / (g.abs() + 1e-6)) / d.norm()),
    Row("foreach_norm", [Sample([(3,), (2, 3), ()]), Sample([(3, 4)], 1.0), Sample([(3, 4)], math.inf), Sample([])],
        dtypes=FLOATING, gradient=False, errors=[Wrong([(3,)], -1.0, says="p")],
        torch=lambda torch, xs, p=2.0: torch.stack([torch.linalg.vector_norm(x, p) for x in xs]) if xs
        else torch.zeros(0)),
    Row("foreach_scale", [Sample((3,)), Sample((0, 2))], dtypes=FLOATING, gradient=False, strided=WRITES, out=WRITES,
        call=lambda dragon, x: (dragon.ops.foreach_scale([x], 0.5), x)[1], torch=lambda torch, x: x * 0.5),
    Row("clip_grad_norm", [Sample((3,)), Sample((5, 2))], dtypes=SINGLES, gradient=False, strided=WRITES, out=WRITES,
        call=lambda dragon, x: (dragon.ops.clip_grad_norm([x], 0.5), x),
        torch=lambda torch, x: (x.norm(), x * (0.5 / (x.norm() + 1e-6)).clamp(max=1.0))),
]
