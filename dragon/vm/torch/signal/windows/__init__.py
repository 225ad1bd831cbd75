"""`torch.signal.windows`: windows, symmetric unless asked for one period."""
from dragon.vm.torch.signal.windows.windows import (
    bartlett, blackman, cosine, exponential, gaussian, general_cosine, general_hamming, hamming, hann, kaiser, nuttall)
