"""The layers of `torch.nn`, one file per family."""
from dragon.vm.torch.nn.modules.module import Module
from dragon.vm.torch.nn.modules.linear import Bilinear, Identity, LazyLinear, Linear
from dragon.vm.torch.nn.modules.activation import (
    CELU, ELU, GELU, GLU, Hardshrink, Hardsigmoid, Hardswish, Hardtanh, LeakyReLU, LogSigmoid, LogSoftmax, Mish,
    MultiheadAttention, PReLU, ReLU, ReLU6, RReLU, SELU, Sigmoid, SiLU, Softmax, Softmax2d, Softmin, Softplus,
    Softshrink, Softsign, Tanh, Tanhshrink, Threshold)
from dragon.vm.torch.nn.modules.adaptive import AdaptiveLogSoftmaxWithLoss
from dragon.vm.torch.nn.modules.batchnorm import (
    BatchNorm1d, BatchNorm2d, BatchNorm3d, LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d, SyncBatchNorm)
from dragon.vm.torch.nn.modules.channelshuffle import ChannelShuffle
from dragon.vm.torch.nn.modules.container import (
    Container, ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential)
from dragon.vm.torch.nn.modules.conv import (
    Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d, LazyConv1d, LazyConv2d, LazyConv3d,
    LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d)
from dragon.vm.torch.nn.modules.distance import CosineSimilarity, PairwiseDistance
from dragon.vm.torch.nn.modules.dropout import (
    AlphaDropout, Dropout, Dropout1d, Dropout2d, Dropout3d, FeatureAlphaDropout)
from dragon.vm.torch.nn.modules.flatten import Flatten, Unflatten
from dragon.vm.torch.nn.modules.fold import Fold, Unfold
from dragon.vm.torch.nn.modules.instancenorm import (
    InstanceNorm1d, InstanceNorm2d, InstanceNorm3d, LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d)
from dragon.vm.torch.nn.modules.loss import (
    BCELoss, BCEWithLogitsLoss, CosineEmbeddingLoss, CrossEntropyLoss, CTCLoss, GaussianNLLLoss, HingeEmbeddingLoss,
    HuberLoss, KLDivLoss, L1Loss, LinearCrossEntropyLoss, MarginRankingLoss, MSELoss, MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss, MultiMarginLoss, NLLLoss, NLLLoss2d, PoissonNLLLoss, SmoothL1Loss, SoftMarginLoss,
    TripletMarginLoss, TripletMarginWithDistanceLoss)
from dragon.vm.torch.nn.modules.normalization import (
    CrossMapLRN2d, GroupNorm, LayerNorm, LocalResponseNorm, RMSNorm)
from dragon.vm.torch.nn.modules.padding import (
    CircularPad1d, CircularPad2d, CircularPad3d, ConstantPad1d, ConstantPad2d, ConstantPad3d, ReflectionPad1d,
    ReflectionPad2d, ReflectionPad3d, ReplicationPad1d, ReplicationPad2d, ReplicationPad3d, ZeroPad1d, ZeroPad2d,
    ZeroPad3d)
from dragon.vm.torch.nn.modules.pixelshuffle import PixelShuffle, PixelUnshuffle
from dragon.vm.torch.nn.modules.pooling import (
    AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d, AdaptiveMaxPool1d, AdaptiveMaxPool2d, AdaptiveMaxPool3d,
    AvgPool1d, AvgPool2d, AvgPool3d, FractionalMaxPool2d, FractionalMaxPool3d, LPPool1d, LPPool2d, LPPool3d, MaxPool1d,
    MaxPool2d, MaxPool3d, MaxUnpool1d, MaxUnpool2d, MaxUnpool3d)
from dragon.vm.torch.nn.modules.rnn import GRU, GRUCell, LSTM, LSTMCell, RNN, RNNBase, RNNCell, RNNCellBase
from dragon.vm.torch.nn.modules.sparse import Embedding, EmbeddingBag
from dragon.vm.torch.nn.modules.transformer import (
    Transformer, TransformerDecoder, TransformerDecoderLayer, TransformerEncoder, TransformerEncoderLayer)
from dragon.vm.torch.nn.modules.upsampling import Upsample, UpsamplingBilinear2d, UpsamplingNearest2d
