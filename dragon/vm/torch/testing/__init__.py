"""Comparing results and making inputs for tests: `torch.testing`."""
from dragon.vm.torch.testing._comparison import assert_allclose, assert_close
from dragon.vm.torch.testing._creation import make_tensor
