"""Train a convolutional network on real handwritten digits.

python train.py                 # writes into runs/digits
python train.py --resume        # goes on from the checkpoint there, to the same numbers as without a break
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

from checkpoint import Run, Settings, read, restore, save
from network import DigitNet
from pictures import draw_loss, draw_predictions
from tqdm import tqdm

import tenfold
from tenfold import Tensor, nn, optim
from tenfold.data import DataLoader
from tenfold.vision import transforms
from tenfold.vision.datasets import Digits

INTERRUPTED = 130  # the exit status that shells give to a program stopped with Ctrl-C
PEAK_LEARNING_RATE = 4e-3


def training_batches(settings: Settings) -> DataLoader:
    """The training images in random order, each turned, moved and scaled a little."""
    augment = transforms.RandomAffine(
        degrees=10, translate=(0.08, 0.08), scale=(0.9, 1.1), interpolation=transforms.InterpolationMode.BILINEAR
    )
    digits = Digits(train=True, split_seed=settings.seed, transform=transforms.Compose([augment, transforms.ToTensor()]))
    return DataLoader(digits, batch_size=settings.batch_size, shuffle=True)


def test_images(settings: Settings) -> tuple[Tensor, Tensor]:
    """The images kept for testing, in one batch. Shapes: (N, 1, 8, 8) from 0 to 1, (N)."""
    digits = Digits(train=False, split_seed=settings.seed)
    return digits.data.unsqueeze(1).float() / 255, digits.targets


def new_run(settings: Settings, batches: int) -> Run:
    """A network with Adam, whose learning rate rises over the first epochs and falls to nothing at the end."""
    tenfold.manual_seed(settings.seed)
    model = DigitNet()
    optimizer = optim.Adam(model.parameters(), lr=PEAK_LEARNING_RATE)
    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, PEAK_LEARNING_RATE, total_steps=settings.epochs * batches)
    return Run(settings, model, optimizer, scheduler)


def train_epoch(run: Run, batches: DataLoader, progress: tqdm) -> dict[str, float]:
    """One pass over the training images; returns their mean loss and accuracy (in %) on the way."""
    run.model.train()
    total_loss, correct, seen = 0.0, 0, 0
    for images, truth in batches:
        scores = run.model(images)
        loss = nn.functional.cross_entropy(scores, truth)
        run.optimizer.zero_grad()
        loss.backward()
        run.optimizer.step()
        run.scheduler.step()
        total_loss += loss.item() * len(truth)
        correct += int((scores.argmax(1) == truth).sum())
        seen += len(truth)
        progress.update()
    return {"train_loss": total_loss / seen, "train_accuracy": 100 * correct / seen}


@tenfold.no_grad()
def evaluate(model: nn.Module, images: Tensor, truth: Tensor) -> tuple[Tensor, dict[str, float]]:
    """The network's scores for test images, and their mean loss and accuracy (in %)."""
    model.eval()
    scores = model(images)
    loss = nn.functional.cross_entropy(scores, truth)
    accuracy = 100 * int((scores.argmax(1) == truth).sum()) / len(truth)
    return scores, {"test_loss": loss.item(), "test_accuracy": accuracy}


def train(run: Run, batches: DataLoader, test: tuple[Tensor, Tensor], path: Path) -> None:
    """Train from wherever the run stands to its last epoch, with a checkpoint after each."""
    epochs, done = run.settings.epochs, len(run.history)
    with tqdm(total=epochs * len(batches), initial=done * len(batches), unit="batch") as progress:
        for epoch in range(done + 1, epochs + 1):
            progress.set_description(f"epoch {epoch}/{epochs}")
            row = train_epoch(run, batches, progress)
            row |= evaluate(run.model, *test)[1]
            run.history.append(row)
            save(path, run)
            progress.set_postfix_str(f"loss {row['train_loss']:.3f}, test {row['test_accuracy']:.2f} %")


def arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train a convolutional network on real handwritten digits.")
    parser.add_argument("--epochs", type=int, help=f"passes over the training images (default {Settings.epochs})")
    parser.add_argument("--batch-size", type=int, help=f"images per step (default {Settings.batch_size})")
    parser.add_argument("--seed", type=int, help=f"decides the split, the weights and the order (default {Settings.seed})")
    parser.add_argument("--out", type=Path, default=Path("runs/digits"), help="folder for the results (default runs/digits)")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in that folder")
    args = parser.parse_args(argv)
    for name in ("epochs", "batch_size"):
        if getattr(args, name) is not None and getattr(args, name) < 1:
            parser.error(f"--{name.replace('_', '-')} must be at least 1, got {getattr(args, name)}")
    return args


def resumed_settings(args: argparse.Namespace, state: dict[str, dict[str, int]]) -> Settings:
    """The checkpoint's settings; another value on the command line would change the numbers and is refused."""
    settings = Settings(**state["settings"])
    for name, value in asdict(settings).items():
        given = getattr(args, name)
        if given not in (None, value):
            option = f"--{name.replace('_', '-')}"
            raise RuntimeError(f"the checkpoint was made with {option} {value}, got {option} {given}; leave it out or start anew")
    return settings


def start(args: argparse.Namespace, path: Path) -> tuple[Run, DataLoader]:
    """A new run, or with --resume the one in the checkpoint, and its training images."""
    if not args.resume:
        settings = Settings(**{name: getattr(args, name) for name in asdict(Settings()) if getattr(args, name) is not None})
        batches = training_batches(settings)
        return new_run(settings, len(batches)), batches
    if not path.exists():
        raise RuntimeError(f"there is no checkpoint {path}; start without --resume")
    tensors, state = read(path)
    settings = resumed_settings(args, state)
    batches = training_batches(settings)
    run = new_run(settings, len(batches))
    restore(run, tensors, state)
    return run, batches


def main(argv: list[str] | None = None) -> int:
    args = arguments(argv)
    path = args.out / "checkpoint.safetensors"
    try:
        run, batches = start(args, path)
    except RuntimeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    args.out.mkdir(parents=True, exist_ok=True)
    test = test_images(run.settings)
    try:
        train(run, batches, test, path)
    except KeyboardInterrupt:
        return interrupted(run, path)
    scores, figures = evaluate(run.model, *test)
    draw_loss(args.out / "loss.png", run.history)
    draw_predictions(args.out / "predictions.png", *test, scores)
    print(f"wrote {path}, loss.png and predictions.png beside it")
    print(f"test accuracy: {figures['test_accuracy']:.2f} %")
    return 0


def interrupted(run: Run, path: Path) -> int:
    """Say what is left of a stopped run."""
    done = len(run.history)
    if done:
        print(f"\nstopped; {done} of {run.settings.epochs} epochs are in {path}; go on with --resume", file=sys.stderr)
    else:
        print("\nstopped during the first epoch; nothing was written", file=sys.stderr)
    return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
