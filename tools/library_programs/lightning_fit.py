"""Lightning on a GPU: fit with validation and a checkpoint, 32 bits, 16-mixed and bf16-mixed; test, predict; Fabric."""

import os
import sys
import tempfile
import warnings

import lightning
import torch
import torchmetrics
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
accelerator = "gpu" if os.environ["PROGRAM_DEVICE"] == "cuda" else "cpu"
precisions = sys.argv[1:]


class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.GELU(), nn.Linear(16, 3))
        self.accuracy = torchmetrics.Accuracy(task="multiclass", num_classes=3)

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, index):
        x, y = batch
        assert x.device.type == self.device.type == os.environ["PROGRAM_DEVICE"]
        loss = nn.functional.cross_entropy(self(x), y)
        self.log("loss", loss, prog_bar=True)
        print(f"loss {loss.item():.6f}")
        return loss

    def validation_step(self, batch, index):
        x, y = batch
        out = self(x)
        self.accuracy(out, y)
        self.log("val_loss", nn.functional.cross_entropy(out, y))
        self.log("accuracy", self.accuracy)

    test_step = validation_step

    def predict_step(self, batch, index):
        return self(batch[0])

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=1e-2)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]


for precision in precisions:
    lightning.seed_everything(3, verbose=False)
    x = torch.randn(24, 8)
    data = TensorDataset(x, x[:, :3].argmax(1))
    loader = DataLoader(data, 8, pin_memory=accelerator == "gpu")
    with tempfile.TemporaryDirectory() as folder:
        saved = lightning.pytorch.callbacks.ModelCheckpoint(folder, monitor="val_loss")
        trainer = lightning.Trainer(
            accelerator=accelerator, devices=1, precision=precision, max_epochs=2, logger=False, enable_model_summary=True,
            callbacks=[saved, lightning.pytorch.callbacks.EarlyStopping("val_loss")], gradient_clip_val=1.0,
            log_every_n_steps=1, default_root_dir=folder,
        )  # fmt: skip
        model = Net()
        trainer.fit(model, loader, loader)
        for name, value in trainer.test(model, loader, ckpt_path="best", verbose=False)[0].items():
            print(f"{name} {value:.5f}")
        print(f"sum {sum(p.float().sum().item() for p in trainer.predict(model, loader)):.4f}")
        again = Net.load_from_checkpoint(saved.best_model_path, map_location="cpu")
        assert all(p.device.type == "cpu" for p in again.parameters())

fabric = lightning.Fabric(accelerator=accelerator, devices=1)
fabric.launch()
fabric.seed_everything(5, verbose=False)
net = nn.Linear(8, 3)
net, optimizer = fabric.setup(net, torch.optim.SGD(net.parameters(), lr=0.1))
for batch in fabric.setup_dataloaders(DataLoader(TensorDataset(torch.randn(16, 8), torch.arange(16) % 3), 8)):
    loss = nn.functional.cross_entropy(net(batch[0]), batch[1])
    fabric.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
    print(f"fabric loss {loss.item():.6f}")
