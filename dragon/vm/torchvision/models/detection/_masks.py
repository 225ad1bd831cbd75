"""The masks of detected objects: from a box's few cells into the image, and the loss."""
from dragon.vm import torch
from dragon.vm.torchvision.ops import roi_align

F = torch.nn.functional


def maskrcnn_inference(x, labels):
    """Return, for each image, the masks (N, 1, M, M) of the classes found."""
    counts, chosen = [len(label) for label in labels], torch.cat(labels)
    rows = torch.arange(len(x), device=chosen.device)
    return x.sigmoid()[rows, chosen][:, None].split(counts, dim=0)


def project_masks_on_boxes(gt_masks, boxes, matched_idxs, M):
    """Return the parts of masks that lie in boxes, M by M cells."""
    rows = torch.cat([matched_idxs.to(boxes)[:, None], boxes], dim=1)
    return roi_align(gt_masks[:, None].to(rows), rows, (M, M), 1.0)[:, 0]


def maskrcnn_loss(mask_logits, proposals, gt_masks, gt_labels, mask_matched_idxs):
    """Return the mean cross entropy of the cells of masks."""
    labels = torch.cat([label[index] for label, index in zip(gt_labels, mask_matched_idxs)])
    targets = torch.cat([project_masks_on_boxes(*item, mask_logits.shape[-1])
                         for item in zip(gt_masks, proposals, mask_matched_idxs)])
    if targets.numel() == 0:
        return mask_logits.sum() * 0
    rows = torch.arange(labels.shape[0], device=labels.device)
    return F.binary_cross_entropy_with_logits(mask_logits[rows, labels], targets)


def expand_boxes(boxes, scale):
    """Return boxes stretched around their centres."""
    near, far = boxes[:, :2], boxes[:, 2:]
    centre, half = (far + near) * 0.5, (far - near) * 0.5 * scale
    return torch.cat((centre - half, centre + half), dim=1)


def expand_masks(mask, padding):
    """Return masks with zeros around, and how much longer they became."""
    cells = mask.shape[-1]
    return F.pad(mask, (padding,) * 4), float(cells + 2 * padding) / cells


def paste_mask_in_image(mask, box, im_h, im_w):
    """Return a mask of an image's size from that of a box of whole pixels."""
    left, top, right, bottom = (int(side) for side in box)
    size = max(bottom - top + 1, 1), max(right - left + 1, 1)
    mask = F.interpolate(mask.expand((1, 1, -1, -1)), size=size, mode="bilinear", align_corners=False)[0][0]
    image = torch.zeros((im_h, im_w), dtype=mask.dtype, device=mask.device)
    x0, x1, y0, y1 = max(left, 0), min(right + 1, im_w), max(top, 0), min(bottom + 1, im_h)
    image[y0:y1, x0:x1] = mask[y0 - top:y1 - top, x0 - left:x1 - left]
    return image


def paste_masks_in_image(masks, boxes, img_shape, padding=1):
    """Return masks (N, 1, H, W) of an image's size from those of boxes."""
    masks, scale = expand_masks(masks, padding=padding)
    boxes = expand_boxes(boxes, scale).to(dtype=torch.int64).tolist()
    pasted = [paste_mask_in_image(mask[0], box, *img_shape) for mask, box in zip(masks, boxes)]
    return torch.stack(pasted, dim=0)[:, None] if pasted else masks.new_empty((0, 1, *img_shape))
