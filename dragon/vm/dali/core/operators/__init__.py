"""The operators, a file per family; importing this enters them all."""
from dragon.vm.dali.core.operators import arithmetic, audio, batches, boxes, choosing, colours, decoding, filtering
from dragon.vm.dali.core.operators import noise, normalizing, random, reductions, regions, resizing, segmentation
from dragon.vm.dali.core.operators import shaping, transforms, warping
