"""accelerate: training with accumulated gradients, clipping, mixed precision, a schedule; state saved and loaded."""

import os
import sys
import tempfile

import torch
from accelerate import Accelerator, init_empty_weights
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device, precision = os.environ["PROGRAM_DEVICE"], sys.argv[1]
set_seed(0)
accelerator = Accelerator(gradient_accumulation_steps=2, mixed_precision=precision, cpu=device == "cpu")
assert accelerator.device.type == device, accelerator.device
model = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 3))
optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
x = torch.randn(32, 8)
loader = DataLoader(TensorDataset(x, x[:, :3].argmax(1)), 8, shuffle=True)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: 0.9**n)
model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
for epoch in range(2):
    for a, b in loader:
        with accelerator.accumulate(model):
            loss = nn.functional.cross_entropy(model(a), b)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        print(f"loss {accelerator.gather(loss).mean().item():.6f}")
with tempfile.TemporaryDirectory() as folder:
    accelerator.save_state(folder)
    before = [p.detach().clone() for p in model.parameters()]
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()
    accelerator.load_state(folder)
    assert all(torch.equal(p, q) for p, q in zip(model.parameters(), before))
print(f"loss {sum(p.float().abs().sum().item() for p in accelerator.unwrap_model(model).parameters()):.5f}")
with init_empty_weights():
    assert nn.Linear(1000, 1000).weight.device.type == "meta"
