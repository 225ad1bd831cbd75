"""Steps of optimizers, for models of functions that train."""
from dragon.onnx.table import maps


@maps("adam_scaled_step")
def adam_scaled_step(w, params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, rate, kept, beta1, beta2, eps, amsgrad):
    made = [[], [], [], []]
    for place, (param, grad, mean, square) in enumerate(zip(params, grads, exp_avgs, exp_avg_sqs)):
        mean = w.Add(w.Mul(mean, beta1), w.Mul(grad, 1 - beta1))
        square = w.Add(w.Mul(square, beta2), w.Mul(w.Mul(grad, grad), 1 - beta2))
        most = square
        if amsgrad:
            most = w.Max(max_exp_avg_sqs[place], square)
            made[3].append(most)
        step = w.Div(w.Mul(mean, w.cast(rate, param.dtype)), w.Add(w.Sqrt(most), eps))
        made[0].append(w.Sub(w.Mul(param, w.cast(kept, param.dtype)), step))
        made[1].append(mean)
        made[2].append(square)
    return [value for group in made for value in group]


@maps("sgd_step")
def sgd_step(w, params, grads, momentum_buffers, lr, momentum, dampening, weight_decay, nesterov, maximize, first):
    made, buffers = [], []
    for place, (param, step) in enumerate(zip(params, grads)):
        step = w.Neg(step) if maximize else step
        if weight_decay:
            step = w.Add(step, w.Mul(param, weight_decay))
        if momentum:
            kept = step if first else w.Add(w.Mul(momentum_buffers[place], momentum), w.Mul(step, 1 - dampening))
            buffers.append(kept)
            step = w.Add(step, w.Mul(kept, momentum)) if nesterov else kept
        made.append(w.Sub(param, w.Mul(step, lr)))
    return [*made, *buffers]
