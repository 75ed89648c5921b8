"""torchmetrics on tensors of the device: classification, regression, images, text; collections."""

import os

import torch
import torchmetrics
from torchmetrics import classification as c, image, regression as r, text

device = os.environ["PROGRAM_DEVICE"]
torch.manual_seed(0)
scores, labels = torch.randn(40, 4).softmax(-1).to(device), torch.randint(4, (40,)).to(device)
binary, flags = torch.rand(40).to(device), torch.randint(2, (40,)).to(device)
a, b = torch.randn(30).to(device), torch.randn(30).to(device)
many = {"num_classes": 4}
for metric, given in [
    (c.MulticlassAccuracy(**many), (scores, labels)), (c.MulticlassF1Score(**many), (scores, labels)),
    (c.MulticlassConfusionMatrix(**many), (scores, labels)), (c.MulticlassAUROC(**many), (scores, labels)),
    (c.MulticlassAveragePrecision(**many), (scores, labels)), (c.MulticlassCalibrationError(**many), (scores, labels)),
    (c.MulticlassCohenKappa(**many), (scores, labels)), (c.MulticlassMatthewsCorrCoef(**many), (scores, labels)),
    (c.MulticlassStatScores(**many), (scores, labels)), (c.MulticlassJaccardIndex(**many), (scores, labels)),
    (c.BinaryAUROC(), (binary, flags)), (c.BinaryAveragePrecision(), (binary, flags)), (c.BinaryF1Score(), (binary, flags)),
    (c.BinaryAUROC(thresholds=5), (binary, flags)), (c.BinarySpecificity(), (binary, flags)), (c.BinaryROC(), (binary, flags)),
    (c.BinaryPrecisionRecallCurve(), (binary, flags)), (r.MeanSquaredError(), (a, b)), (r.MeanAbsoluteError(), (a, b)),
    (r.R2Score(), (a, b)), (r.PearsonCorrCoef(), (a, b)), (r.SpearmanCorrCoef(), (a, b)), (r.KendallRankCorrCoef(), (a, b)),
    (r.CosineSimilarity(), (a[None], b[None])), (r.ExplainedVariance(), (a, b)), (r.ConcordanceCorrCoef(), (a, b)),
    (torchmetrics.MeanMetric(), (a,)), (torchmetrics.MaxMetric(), (a,)), (torchmetrics.CatMetric(), (a,)),
    (image.PeakSignalNoiseRatio(data_range=1.0), (binary.view(1, 1, 5, 8), binary.flip(0).view(1, 1, 5, 8))),
    (image.TotalVariation(), (a.view(1, 1, 5, 6),)),
    (image.StructuralSimilarityIndexMeasure(data_range=1.0), (torch.rand(1, 1, 16, 16).to(device), torch.rand(1, 1, 16, 16).to(device))),
    (text.Perplexity(), (torch.randn(2, 5, 4).to(device), torch.randint(4, (2, 5)).to(device))),
    (text.WordErrorRate(), (["a b c"], ["a c c"])), (text.BLEUScore(2), (["a b c"], [["a b d"]])),
]:  # fmt: skip
    metric = metric.to(device)
    metric.update(*given)
    metric.update(*given)
    found = metric.compute()
    found = torch.cat([torch.as_tensor(x).float().flatten() for x in (found if isinstance(found, (tuple, list)) else [found])])
    assert found.device.type == device, (type(metric).__name__, found.device)
    print(type(metric).__name__, f"value {found.nan_to_num().sum().item():.6f}")
group = torchmetrics.MetricCollection([c.MulticlassAccuracy(**many), c.MulticlassPrecision(**many)]).to(device)
print({k: f"value {v.item():.5f}" for k, v in group(scores, labels).items()})
