"""Train a character-level GPT on Python's help texts, then let it write.

python train.py
python sample.py --prompt "The statement "
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from checkpoint import save
from matplotlib.figure import Figure
from model import CharGPT, Config, continue_text
from tqdm import tqdm

import tenfold
from tenfold import Tensor, nn, optim
from tenfold.data import DataLoader, RandomSampler, Subset
from tenfold.text.datasets import CharacterDataset, pydoc_topics

TEST_SHARE = 0.05  # of the text, from its end
REPORT_EVERY = 100  # steps
PEAK_LEARNING_RATE = 3e-3


def arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train a character-level GPT on Python's help texts, then let it write.")
    parser.add_argument("--steps", type=int, default=1000, help="steps of the optimizer (default 1000)")
    parser.add_argument("--batch-size", type=int, default=24, help="stretches of text per step (default 24)")
    parser.add_argument("--seed", type=int, default=0, help="decides the weights, the order and the sample (default 0)")
    parser.add_argument("--out", type=Path, default=Path("runs/char_gpt"), help="folder for the results (default runs/char_gpt)")
    parser.add_argument("--length", type=int, default=400, help="characters to write at the end (default 400)")
    return parser.parse_args(argv)


def split(text: CharacterDataset) -> tuple[Subset, Subset]:
    """Samples of the text's beginning for training, of its end for testing; none lies in both."""
    border = int(len(text) * (1 - TEST_SHARE))
    return Subset(text, range(border)), Subset(text, range(border + text.block_size, len(text)))


def loss_of(model: CharGPT, ids: Tensor, following: Tensor) -> Tensor:
    """The mean cross entropy of the next character, in nats. Shapes: (B, T), (B, T) -> ()."""
    return nn.functional.cross_entropy(model(ids).flatten(0, 1), following.flatten())


@tenfold.no_grad()
def test_loss(model: CharGPT, batches: DataLoader) -> float:
    """The mean loss over test samples."""
    model.eval()
    losses = [loss_of(model, ids, following).item() for ids, following in batches]
    model.train()
    return sum(losses) / len(losses)


def train(model: CharGPT, batches: DataLoader, test: DataLoader) -> Iterator[tuple[int, float, float]]:
    """Train on every batch; yields (step, training loss, test loss) from time to time."""
    optimizer = optim.AdamW(model.parameters(), lr=PEAK_LEARNING_RATE, weight_decay=0.01)
    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, PEAK_LEARNING_RATE, total_steps=len(batches), pct_start=0.1)
    recent: list[float] = []
    progress = tqdm(batches, unit="step")
    for step, (ids, following) in enumerate(progress, 1):
        loss = loss_of(model, ids, following)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        recent.append(loss.item())
        if step % REPORT_EVERY == 0 or step == len(batches):
            row = step, sum(recent) / len(recent), test_loss(model, test)
            progress.write(f"step {step:5}  train loss {row[1]:.3f}  test loss {row[2]:.3f}", file=sys.stdout)
            recent.clear()
            yield row


def draw(path: Path, history: list[tuple[int, float, float]]) -> None:
    """The loss over the steps."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    steps, trained, tested = zip(*history)
    axes.plot(steps, trained, marker=".", label="train")
    axes.plot(steps, tested, marker=".", label="test")
    axes.set(xlabel="step", ylabel="loss (nats a character)")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=110)


def main(argv: list[str] | None = None) -> int:
    args = arguments(argv)
    tenfold.manual_seed(args.seed)
    text = CharacterDataset(pydoc_topics(), block_size=Config.context)
    trained_on, tested_on = split(text)
    sampler = RandomSampler(trained_on, replacement=True, num_samples=args.steps * args.batch_size)
    batches = DataLoader(trained_on, batch_size=args.batch_size, sampler=sampler)
    every = max(len(tested_on) // 256, 1)
    test = DataLoader(Subset(tested_on, range(0, len(tested_on), every)), batch_size=64)
    model = CharGPT(Config(vocabulary=text.vocab_size))
    print(f"{len(text.ids):,} characters, {text.vocab_size} different; {sum(p.numel() for p in model.parameters()):,} parameters")
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / "checkpoint.safetensors"
    history = []
    try:
        for row in train(model, batches, test):
            history.append(row)
            save(path, model, text.vocab)
            draw(args.out / "loss.png", history)
    except KeyboardInterrupt:
        print(f"\nstopped; the model of step {history[-1][0]} is in {path}" if history else "\nstopped; nothing was written")
        return 130
    prompt = text.encode("The ")
    print(f"wrote {path} and loss.png beside it\n\n{text.decode(continue_text(model, prompt, args.length))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
