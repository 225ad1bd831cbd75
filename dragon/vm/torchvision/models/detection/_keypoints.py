"""The key points of detected objects: from maps of a box's cells into the image, and the loss."""
from dragon.vm import torch

F = torch.nn.functional


def keypoints_to_heatmap(keypoints, rois, heatmap_size):
    """Return the cell of each point in its box, and 1 where it lies there and is seen, 0 otherwise."""
    cells = []
    for axis in (0, 1):
        start, end, at = rois[:, axis, None], rois[:, axis + 2, None], keypoints[..., axis]
        cell = ((at - start) * (heatmap_size / (end - start))).floor().long()
        cells.append(torch.where(at == end, torch.full_like(cell, heatmap_size - 1), cell))
    x, y = cells
    inside = (x >= 0) & (y >= 0) & (x < heatmap_size) & (y < heatmap_size)
    valid = (inside & (keypoints[..., 2] > 0)).long()
    return (y * heatmap_size + x) * valid, valid


def _points_of_box(maps, left, top, width, height):
    """Return (points, 3) and their scores: where the maps of a box are greatest, once they are as large as it."""
    size = int(height.ceil().item()), int(width.ceil().item())
    maps = F.interpolate(maps[:, None], size=size, mode="bicubic", align_corners=False)[:, 0]
    at = maps.reshape(len(maps), -1).argmax(dim=1)
    x, y = at % size[1], torch.div(at, size[1], rounding_mode="floor")
    across = (x.float() + 0.5) * (width / size[1]) + left
    down = (y.float() + 0.5) * (height / size[0]) + top
    scores = maps[torch.arange(len(maps), device=maps.device), y, x]
    return torch.stack((across, down, torch.ones_like(across)), dim=1), scores


def heatmaps_to_keypoints(maps, rois):
    """Return the points (N, K, 3) of boxes, and their scores (N, K), as floats of 32 bits whatever the maps are."""
    sides = (rois[:, 2:] - rois[:, :2]).clamp(min=1)
    made = [_points_of_box(*item) for item in zip(maps, rois[:, 0], rois[:, 1], sides[:, 0], sides[:, 1])]
    if not made:
        return maps.new_zeros((0, maps.shape[1], 3)).float(), maps.new_zeros((0, maps.shape[1])).float()
    points, scores = zip(*made)
    return torch.stack(points).float(), torch.stack(scores).float()


def keypointrcnn_loss(keypoint_logits, proposals, gt_keypoints, keypoint_matched_idxs):
    """Return the mean cross entropy of the cells of the points that are seen."""
    count, points, height, width = keypoint_logits.shape
    if height != width:
        raise ValueError("keypoint_logits height and width (last two elements of shape) should be equal. Instead got "
                         f"H = {height} and W = {width}")
    made = [keypoints_to_heatmap(found[index], boxes, height)
            for boxes, found, index in zip(proposals, gt_keypoints, keypoint_matched_idxs)]
    targets, seen = (torch.cat([item.view(-1) for item in part]) for part in zip(*made))
    seen = torch.where(seen)[0]
    if targets.numel() == 0 or len(seen) == 0:
        return keypoint_logits.sum() * 0
    return F.cross_entropy(keypoint_logits.view(count * points, height * width)[seen], targets[seen])


def keypointrcnn_inference(x, boxes):
    """Return, for each image, the points of its boxes and their scores."""
    parts = x.split([len(box) for box in boxes], dim=0)
    points, scores = zip(*(heatmaps_to_keypoints(*item) for item in zip(parts, boxes)))
    return list(points), list(scores)
