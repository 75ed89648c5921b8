"""Train a character-level GPT on Python's help texts, then let it write.

python train.py                 # writes into runs/char_gpt
python train.py --resume        # goes on from the checkpoint there, to the same numbers as without a break
python sample.py --prompt "The statement "
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from checkpoint import Run, Settings, read, restore, save
from matplotlib.figure import Figure
from model import CharGPT, Config, continue_text
from tqdm import tqdm

import tenfold
from tenfold import Tensor, nn, optim
from tenfold.data import DataLoader, RandomSampler, Subset
from tenfold.text import Vocab
from tenfold.text.datasets import CharacterDataset, pydoc_topics

INTERRUPTED = 130  # the exit status that shells give to a program stopped with Ctrl-C
TEST_SHARE = 0.05  # of the text, from its end
REPORT_EVERY = 100  # steps
PEAK_LEARNING_RATE = 3e-3


def arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train a character-level GPT on Python's help texts, then let it write.")
    parser.add_argument("--steps", type=int, help=f"steps of the optimizer (default {Settings.steps})")
    parser.add_argument("--batch-size", type=int, help=f"stretches of text per step (default {Settings.batch_size})")
    parser.add_argument("--seed", type=int, help=f"decides the weights, the order and the sample (default {Settings.seed})")
    parser.add_argument("--out", type=Path, default=Path("runs/char_gpt"), help="folder for the results (default runs/char_gpt)")
    parser.add_argument("--length", type=int, default=400, help="characters to write at the end (default 400)")
    parser.add_argument("--threads", type=int, default=1, help="threads (default 1: the matrices are small)")
    parser.add_argument("--report-every", type=int, default=REPORT_EVERY, help="steps from report to report, and checkpoint")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in that folder")
    args = parser.parse_args(argv)
    for name in ("steps", "batch_size", "threads", "report_every"):
        if getattr(args, name) is not None and getattr(args, name) < 1:
            parser.error(f"--{name.replace('_', '-')} must be at least 1, got {getattr(args, name)}")
    return args


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


def new_run(settings: Settings, vocabulary: Vocab, trained_on: Subset) -> Run:
    """A model with AdamW, whose learning rate rises over the first steps and falls to nothing at the end."""
    tenfold.manual_seed(settings.seed)
    sampler = RandomSampler(trained_on, replacement=True, num_samples=settings.steps * settings.batch_size)
    batches = DataLoader(trained_on, batch_size=settings.batch_size, sampler=sampler)
    model = CharGPT(Config(vocabulary=len(vocabulary)))
    optimizer = optim.AdamW(model.parameters(), lr=PEAK_LEARNING_RATE, weight_decay=0.01)
    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, PEAK_LEARNING_RATE, total_steps=settings.steps, pct_start=0.1)
    return Run(settings, vocabulary, model, optimizer, scheduler, batches)


def train(run: Run, test: DataLoader, out: Path, report_every: int) -> None:
    """Train from wherever the run stands to its last step; a report, a checkpoint and a picture from time to time."""
    steps, done = run.settings.steps, run.history[-1][0] if run.history else 0
    recent: list[float] = []
    with tqdm(total=steps, initial=done, unit="step") as progress:
        for step, (ids, following) in enumerate(run.batches, done + 1):
            loss = loss_of(run.model, ids, following)
            run.optimizer.zero_grad()
            loss.backward()
            run.optimizer.step()
            run.scheduler.step()
            recent.append(loss.item())
            progress.update()
            if step % report_every == 0 or step == steps:
                run.history.append((step, sum(recent) / len(recent), test_loss(run.model, test)))
                recent.clear()
                progress.write("step {:5}  train loss {:.3f}  test loss {:.3f}".format(*run.history[-1]), file=sys.stdout)
                save(checkpoint_in(out), run)
                draw(out / "loss.png", run.history)


def checkpoint_in(out: Path) -> Path:
    """Where a run's checkpoint is."""
    return out / "checkpoint.safetensors"


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


def resumed_settings(args: argparse.Namespace, about: dict[str, Any]) -> Settings:
    """The checkpoint's settings; another value on the command line would change the numbers and is refused."""
    settings = Settings(**about["settings"])
    for name, value in asdict(settings).items():
        given = getattr(args, name)
        if given not in (None, value):
            option = f"--{name.replace('_', '-')}"
            raise RuntimeError(f"the checkpoint was made with {option} {value}, got {option} {given}; leave it out or start anew")
    return settings


def start(args: argparse.Namespace, text: CharacterDataset, trained_on: Subset) -> Run:
    """A new run, or with --resume the one in the checkpoint."""
    path = checkpoint_in(args.out)
    if not args.resume:
        given = {name: getattr(args, name) for name in asdict(Settings()) if getattr(args, name) is not None}
        return new_run(Settings(**given), text.vocab, trained_on)
    if not path.exists():
        raise RuntimeError(f"there is no checkpoint {path}; start without --resume")
    tensors, about = read(path)
    if about["characters"] != text.vocab.get_itos():
        raise RuntimeError(f"{path} is of another text: Python's help texts differ between its versions; start anew")
    run = new_run(resumed_settings(args, about), text.vocab, trained_on)
    restore(run, tensors, about)
    return run


def main(argv: list[str] | None = None) -> int:
    args = arguments(argv)
    tenfold.set_num_threads(args.threads)
    text = CharacterDataset(pydoc_topics(), block_size=Config.context)
    trained_on, tested_on = split(text)
    try:
        run = start(args, text, trained_on)
    except RuntimeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    every = max(len(tested_on) // 256, 1)
    test = DataLoader(Subset(tested_on, range(0, len(tested_on), every)), batch_size=64)
    weights = sum(p.numel() for p in run.model.parameters())
    print(f"{len(text.ids):,} characters, {text.vocab_size} different; {weights:,} parameters")
    args.out.mkdir(parents=True, exist_ok=True)
    try:
        train(run, test, args.out, args.report_every)
    except KeyboardInterrupt:
        return interrupted(run, checkpoint_in(args.out))
    prompt = text.encode("The ")
    print(f"wrote {checkpoint_in(args.out)} and loss.png beside it\n")
    print(text.decode(continue_text(run.model, prompt, args.length)))
    return 0


def interrupted(run: Run, path: Path) -> int:
    """Say what is left of a stopped run."""
    if run.history:
        done = f"{run.history[-1][0]} of {run.settings.steps} steps are in {path}"
        print(f"\nstopped; {done}; go on with --resume", file=sys.stderr)
    else:
        print("\nstopped before the first report; nothing was written", file=sys.stderr)
    return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
