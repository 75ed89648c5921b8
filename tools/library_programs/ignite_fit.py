"""Ignite: a supervised trainer with and without amp, an evaluator's metrics, checkpoints."""

import os
import tempfile

import torch
from ignite.contrib.handlers import ProgressBar
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.handlers import Checkpoint, DiskSaver, EarlyStopping
from ignite.metrics import Accuracy, ConfusionMatrix, Loss, RunningAverage
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = os.environ["PROGRAM_DEVICE"]
for amp in (None, "amp") if device == "cuda" else (None, None):
    torch.manual_seed(0)
    x = torch.randn(32, 8)
    loader = DataLoader(TensorDataset(x, x[:, :3].argmax(1)), 8)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    trainer = create_supervised_trainer(
        model, optimizer, nn.CrossEntropyLoss(), device=device, non_blocking=True, amp_mode=amp, scaler=bool(amp)
    )
    RunningAverage(output_transform=float).attach(trainer, "loss")
    metrics = {"accuracy": Accuracy(), "loss": Loss(nn.CrossEntropyLoss()), "cm": ConfusionMatrix(3)}
    evaluator = create_supervised_evaluator(model, metrics, device=device)
    ProgressBar().attach(trainer, ["loss"])
    with tempfile.TemporaryDirectory() as folder:
        keep = Checkpoint({"model": model, "optimizer": optimizer}, DiskSaver(folder, create_dir=True), n_saved=1)
        trainer.add_event_handler(Events.EPOCH_COMPLETED, keep)
        evaluator.add_event_handler(Events.COMPLETED, EarlyStopping(3, lambda e: -e.state.metrics["loss"], trainer))
        trainer.add_event_handler(Events.ITERATION_COMPLETED, lambda e: print(f"loss {e.state.output:.5f}"))
        trainer.add_event_handler(Events.EPOCH_COMPLETED, lambda e: evaluator.run(loader))
        trainer.run(loader, max_epochs=2)
        saved = torch.load(os.path.join(folder, str(keep.last_checkpoint)))
        Checkpoint.load_objects({"model": model, "optimizer": optimizer}, saved)
    print(f"accuracy {evaluator.state.metrics['accuracy']:.4f} loss {evaluator.state.metrics['loss']:.5f}")
    print("confusion loss", evaluator.state.metrics["cm"].sum().item())
