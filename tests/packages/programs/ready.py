"""What readies a torchvision that does not fit, for packages that import it and use none of it here."""
import sys

import torch

if "dragon" not in torch.__file__:
    try:
        import torchvision  # noqa: F401
    except RuntimeError:
        # A torchvision whose compiled half does not fit this torch: what is compared here needs none of it.
        for name in [name for name in sys.modules if name.startswith("torchvision")]:
            del sys.modules[name]
        library = torch.library.Library("torchvision", "FRAGMENT")
        for operator in ("nms", "qnms"):
            library.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    except ImportError:
        pass
