"""diffusers on the device: small networks trained for a step, schedules, a pipeline."""

import os

import torch
from diffusers import (
    AutoencoderKL,
    DDIMPipeline,
    DDIMScheduler,
    DDPMScheduler,
    DPMSolverMultistepScheduler,
    EulerDiscreteScheduler,
    UNet2DConditionModel,
    UNet2DModel,
)

device = os.environ["PROGRAM_DEVICE"]
torch.manual_seed(0)
unet = UNet2DModel(
    sample_size=4, in_channels=3, out_channels=3, layers_per_block=1, block_out_channels=(8, 8), norm_num_groups=4,
    down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"), attention_head_dim=4,
).to(device)  # fmt: skip
schedule = DDPMScheduler(20)
optimizer = torch.optim.AdamW(unet.parameters(), 1e-3)
for _ in range(2):
    clean, noise = torch.randn(2, 3, 4, 4).to(device), torch.randn(2, 3, 4, 4).to(device)
    steps = torch.randint(0, 20, (2,)).to(device)
    loss = torch.nn.functional.mse_loss(unet(schedule.add_noise(clean, noise, steps), steps).sample, noise)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(unet.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    print(f"unet loss {loss.item():.6f}")
text = UNet2DConditionModel(
    sample_size=4, layers_per_block=1, block_out_channels=(8, 8), norm_num_groups=4, cross_attention_dim=12, attention_head_dim=4,
    down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
).to(device)  # fmt: skip
out = text(torch.randn(1, 4, 4, 4).to(device), torch.tensor([3], device=device), torch.randn(1, 5, 12).to(device)).sample
out.square().mean().backward()
print(
    f"conditional loss {out.abs().mean().item():.6f} {sum(p.grad.abs().sum().item() for p in text.parameters() if p.grad is not None):.3f}"
)
auto = AutoencoderKL(
    block_out_channels=(8, 8),
    norm_num_groups=4,
    down_block_types=("DownEncoderBlock2D",) * 2,
    up_block_types=("UpDecoderBlock2D",) * 2,
).to(device)
x = torch.randn(1, 3, 8, 8).to(device)
loss = (auto(x).sample - x).square().mean()
loss.backward()
print(f"autoencoder loss {loss.item():.6f}")
for kind in (DDPMScheduler, DDIMScheduler, EulerDiscreteScheduler, DPMSolverMultistepScheduler):
    schedule = kind(20)
    schedule.set_timesteps(2, device=device)
    sample = torch.randn(1, 3, 8, 8, generator=torch.Generator().manual_seed(1)).to(device) * schedule.init_noise_sigma
    with torch.no_grad():
        for step in schedule.timesteps:
            noise = unet(schedule.scale_model_input(sample, step), step).sample
            more = {"generator": torch.Generator().manual_seed(2)} if kind in (DDPMScheduler, DDIMScheduler) else {}
            sample = schedule.step(noise, step, sample, **more).prev_sample
    print(f"{kind.__name__} loss {sample.abs().mean().item():.5f}")
pipeline = DDIMPipeline(unet, DDIMScheduler(20)).to(device)
pipeline.set_progress_bar_config(disable=True)
image = pipeline(batch_size=1, num_inference_steps=2, generator=torch.Generator().manual_seed(0), output_type="np").images
print(f"pipeline loss {image.mean():.5f}")
