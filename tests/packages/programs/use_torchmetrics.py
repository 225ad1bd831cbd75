"""torchmetrics: functional metrics, and modules that accumulate."""
from report import finish, note  # first: it readies torchvision

import torch
import torchmetrics
from torchmetrics import functional as metrics

torch.manual_seed(0)
scores, target = torch.rand(40, 5), torch.randint(0, 5, (40,))
other, binary = torch.rand(40), torch.randint(0, 2, (40,))
options = {"task": "multiclass", "num_classes": 5}
for name in ("accuracy", "precision", "recall", "f1_score", "auroc", "average_precision", "cohen_kappa", "specificity",
             "matthews_corrcoef", "confusion_matrix", "calibration_error", "jaccard_index", "hamming_distance"):
    note(name, getattr(metrics, name)(scores, target, **options))
    if name not in ("calibration_error",):
        note("binary " + name, getattr(metrics, name)(other, binary, task="binary"))
real = torch.rand(40)
for name in ("mean_squared_error", "mean_absolute_error", "r2_score", "explained_variance", "pearson_corrcoef",
             "spearman_corrcoef", "mean_absolute_percentage_error", "concordance_corrcoef", "kendall_rank_corrcoef"):
    note(name, getattr(metrics, name)(other, real))
images = torch.rand(2, 3, 32, 32)
blurred = images * 0.8 + torch.rand(2, 3, 32, 32) * 0.1
note("psnr", metrics.image.peak_signal_noise_ratio(images, blurred, data_range=1.0))
note("ssim", metrics.image.structural_similarity_index_measure(images, blurred))
note("cosine", metrics.pairwise_cosine_similarity(scores[:4], scores[4:9]))
note("bleu", metrics.text.bleu_score(["the cat sat on the mat"], [["a cat sat on the mat"]]))
collection = torchmetrics.MetricCollection([torchmetrics.Accuracy(**options), torchmetrics.F1Score(**options),
                                            torchmetrics.ConfusionMatrix(**options)])
for part in range(4):
    collection.update(scores[part * 10:part * 10 + 10], target[part * 10:part * 10 + 10])
note("collection", collection.compute())
mean = torchmetrics.MeanMetric()
mean.update(1.0), mean.update(torch.tensor([2.0, 4.0]))
note("mean", mean.compute())
gradient = scores.clone().requires_grad_()
metrics.image.structural_similarity_index_measure(images * gradient.mean(), blurred).backward()
note("gradient", gradient.grad)
finish()
