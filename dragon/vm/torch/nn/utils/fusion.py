"""Put batch normalization into the weights of the layer before it, for evaluation."""
import copy

from dragon.vm.torch.core.tensor import ops
from dragon.vm.torch.nn.parameter import Parameter


def _fuse(weight, bias, mean, var, eps, bn_weight, bn_bias, axis):
    """Return weight and bias of a layer with the normalization in them."""
    bias = ops.zeros_like(mean) if bias is None else bias
    bn_weight = ops.ones_like(mean) if bn_weight is None else bn_weight
    bn_bias = ops.zeros_like(mean) if bn_bias is None else bn_bias
    scale = bn_weight * ops.rsqrt(var + eps)
    shape = [1] * weight.dim()
    shape[axis] = -1
    fused = ops.cast(weight * ops.reshape(scale, shape), weight.dtype)
    return (Parameter(fused, weight.requires_grad),
            Parameter(ops.cast((bias - mean) * scale + bn_bias, bias.dtype), bias.requires_grad))


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    """Return weight and bias of a convolution with the batch normalization after it in them."""
    return _fuse(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 1 if transpose else 0)


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    """Return weight and bias of a linear layer with the batch normalization after it in them."""
    return _fuse(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 0)


def _check(layer, bn):
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("Fusion only for a batch normalization with running statistics")
    return copy.deepcopy(layer)


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """Return a convolution that does what it and the batch normalization after it do in evaluation."""
    fused = _check(conv, bn)
    fused.weight, fused.bias = fuse_conv_bn_weights(fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps,
                                                    bn.weight, bn.bias, transpose)
    return fused


def fuse_linear_bn_eval(linear, bn):
    """Return a linear layer that does what it and the batch normalization after it do in evaluation."""
    fused = _check(linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    fused.weight, fused.bias = fuse_linear_bn_weights(fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps,
                                                      bn.weight, bn.bias)
    return fused
