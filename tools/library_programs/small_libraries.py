"""Libraries of layers and solvers on the device: x-transformers, torchdiffeq, torchsde, entmax, segmentation-models, einops, ema."""

import os
import sys

import torch
from torch import nn

device = os.environ["PROGRAM_DEVICE"]
torch.manual_seed(0)


def x_transformers():
    from x_transformers import AutoregressiveWrapper, Decoder, Encoder, TransformerWrapper, ViTransformerWrapper

    layers = Decoder(dim=32, depth=2, heads=4, attn_dim_head=8, rotary_pos_emb=True, use_rmsnorm=True, ff_glu=True)
    model = AutoregressiveWrapper(TransformerWrapper(num_tokens=30, max_seq_len=16, attn_layers=layers)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    x = torch.randint(0, 30, (2, 12)).to(device)
    for _ in range(2):
        loss = model(x)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"loss {loss.item():.5f}")
    print("loss", int(model.generate(x[:, :3], 4, temperature=0.0).sum()))
    flash = TransformerWrapper(
        num_tokens=30, max_seq_len=16, attn_layers=Encoder(dim=32, depth=1, heads=4, attn_dim_head=8, attn_flash=True)
    )
    print(f"loss {flash.to(device)(x, mask=torch.ones_like(x).bool()).abs().mean().item():.5f}")
    vit = ViTransformerWrapper(image_size=16, patch_size=8, num_classes=3, attn_layers=Encoder(dim=32, depth=1, heads=4))
    print(f"loss {vit.to(device)(torch.randn(1, 3, 16, 16).to(device)).abs().mean().item():.5f}")


def torchdiffeq():
    from torchdiffeq import odeint, odeint_adjoint

    net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2)).to(device)

    class Field(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net

        def forward(self, t, y):
            return self.net(y)

    y0, t = torch.randn(3, 2).to(device), torch.linspace(0, 1, 3).to(device)
    for method in ("euler", "rk4", "dopri5"):
        found = odeint(Field(), y0, t, method=method)
        found.square().mean().backward()
        print(f"{method} loss {found.sum().item():.5f} {net[0].weight.grad.sum().item():.4f}")
    odeint_adjoint(Field(), y0, t, method="dopri5").square().mean().backward()
    print(f"adjoint loss {net[0].weight.grad.sum().item():.4f}")


def torchsde():
    import torchsde as sde

    class Process(nn.Module):
        noise_type, sde_type = "diagonal", "ito"

        def __init__(self):
            super().__init__()
            self.mu, self.sigma = nn.Linear(2, 2), nn.Linear(2, 2)

        def f(self, t, y):
            return self.mu(y)

        def g(self, t, y):
            return self.sigma(y).sigmoid()

    process, y0 = Process().to(device), torch.randn(3, 2).to(device)
    t = torch.linspace(0, 1, 3).to(device)
    for method in ("euler", "milstein", "srk"):
        noise = sde.BrownianInterval(0.0, 1.0, size=(3, 2), device=device, entropy=1, levy_area_approximation="space-time")
        found = sde.sdeint(process, y0, t, bm=noise, dt=0.25, method=method)
        found.square().mean().backward()
        print(f"{method} loss {found.abs().mean().item():.5f}")


def entmax():
    import entmax as e

    x = torch.randn(4, 6).to(device).requires_grad_()
    y = torch.tensor([0, 2, 1, 5], device=device)
    for function in (e.sparsemax, e.entmax15, lambda x, dim: e.entmax_bisect(x, 1.3, dim)):
        found = function(x, dim=-1)
        (found * torch.arange(6.0, device=device)).sum().backward()
        print(f"loss {found.max().item():.5f} {x.grad.abs().sum().item():.5f}")
    for loss in (e.SparsemaxLoss(), e.Entmax15Loss(), e.EntmaxBisectLoss(1.4)):
        print(f"loss {loss(x, y).item():.5f}")


def segmentation():
    import segmentation_models_pytorch as smp

    for kind in (smp.Unet, smp.FPN):
        model = kind("resnet18", encoder_weights=None, classes=2).to(device).eval()
        x, y = torch.randn(1, 3, 32, 32).to(device), torch.randint(2, (1, 32, 32)).to(device)
        loss = smp.losses.DiceLoss("multiclass")(model(x), y)
        loss.backward()
        print(f"{kind.__name__} loss {loss.item():.5f}")


def einops():
    from einops import rearrange, reduce, repeat
    from einops.layers.torch import EinMix, Rearrange, Reduce

    x = torch.randn(2, 3, 8, 8).to(device)
    print(f"loss {rearrange(x, 'b c (h p) (w q) -> b (h w) (p q c)', p=2, q=2)[:, 1].sum().item():.5f}")
    print(
        f"loss {reduce(x, 'b c h w -> b c', 'max').sum().item():.5f} {repeat(x, 'b c h w -> (b r) c h w', r=2).sum().item():.4f}"
    )
    net = nn.Sequential(
        Rearrange("b c h w -> b (h w) c"), EinMix("b t c -> b t o", "c o", "o", c=3, o=5), Reduce("b t o -> b o", "mean")
    )
    print(f"loss {net.to(device)(x).abs().sum().item():.5f}")


def timm():
    import timm as models

    for name in ("resnet18", "vit_tiny_patch16_224", "mobilenetv3_small_050"):
        kwargs = {"img_size": 32} if "vit" in name else {}
        model = models.create_model(name, num_classes=4, **kwargs).to(device).eval()
        x = torch.randn(1, 3, 32, 32).to(device)
        out = model(x)
        out.square().mean().backward()
        print(f"{name} loss {out.abs().mean().item():.5f}", flush=True)


for name in sys.argv[1:]:
    globals()[name]()
