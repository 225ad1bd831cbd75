"""Tools that go with layers."""
from dragon.vm.torch.nn.utils import parametrizations, parametrize, rnn, stateless
from dragon.vm.torch.nn.utils.clip_grad import _clip_grads_with_norm_ as clip_grads_with_norm_
from dragon.vm.torch.nn.utils.clip_grad import _get_total_norm as get_total_norm
from dragon.vm.torch.nn.utils.clip_grad import clip_grad_norm, clip_grad_norm_, clip_grad_value_
from dragon.vm.torch.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters
from dragon.vm.torch.nn.utils.fusion import (fuse_conv_bn_eval, fuse_conv_bn_weights, fuse_linear_bn_eval,
                                             fuse_linear_bn_weights)
from dragon.vm.torch.nn.utils.init import skip_init
from dragon.vm.torch.nn.utils.memory_format import (convert_conv2d_weight_memory_format,
                                                    convert_conv3d_weight_memory_format)
from dragon.vm.torch.nn.utils.spectral_norm import remove_spectral_norm, spectral_norm
from dragon.vm.torch.nn.utils.weight_norm import remove_weight_norm, weight_norm
