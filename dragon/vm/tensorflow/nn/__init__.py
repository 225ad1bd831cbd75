"""`tf.nn`: what nets are made of."""
from dragon.vm.shared.arrays.array import space_to_batch
from dragon.vm.tensorflow.nn.activations import (crelu, elu, gelu, leaky_relu, log_softmax, relu, relu6, selu, sigmoid,
                                                 silu, softmax, softplus, softsign, swish, tanh)
from dragon.vm.tensorflow.nn.convolutions import (atrous_conv2d, conv1d, conv1d_transpose, conv2d, conv2d_transpose,
                                                  conv3d, conv3d_transpose, conv_transpose, convolution,
                                                  depthwise_conv2d, separable_conv2d)
from dragon.vm.tensorflow.nn.lookup import (bias_add, depth_to_space, dropout, embedding_lookup, in_top_k,
                                            space_to_depth, top_k, zero_fraction)
from dragon.vm.tensorflow.nn.losses import (compute_average_loss, ctc_greedy_decoder, ctc_loss, l2_loss,
                                            log_poisson_loss, scale_regularization_loss,
                                            sigmoid_cross_entropy_with_logits, softmax_cross_entropy_with_logits,
                                            sparse_softmax_cross_entropy_with_logits,
                                            weighted_cross_entropy_with_logits)
from dragon.vm.tensorflow.nn.norms import (batch_norm_with_global_normalization, batch_normalization, l2_normalize,
                                           local_response_normalization, lrn, moments, normalize_moments,
                                           sufficient_statistics, weighted_moments)
from dragon.vm.tensorflow.nn.pools import (avg_pool, avg_pool1d, avg_pool2d, avg_pool3d, max_pool, max_pool1d,
                                           max_pool2d, max_pool3d, pool)
