"""Translate dates as people write them into ISO 8601 with a small T5 and beam search.

"Wednesday, 3rd of March 2021" and "3/3/21" both become "2021-03-03". The pairs are made here without end.

    python train.py
"""

from __future__ import annotations

import argparse
import calendar
import datetime
import random
import re
import sys
import time
from pathlib import Path

from picture import draw

import tenfold
from tenfold import Tensor, nn, optim
from tenfold.text import Encoder, Vocab
from tenfold.text.models import T5Config, T5ForConditionalGeneration

FORMS = ["%d %B %Y", "%B %d, %Y", "%A, %d %B %Y", "%d %b %y", "%m/%d/%y", "%a %d.%m.%Y", "{th} of %B %Y", "%B the {th}, %Y"]
NAMES = [*calendar.month_name[1:], *calendar.month_abbr[1:], *calendar.day_name, *calendar.day_abbr]
TOKENS = Vocab(dict.fromkeys(["<pad>", "</s>", *"0123456789,./-", "st", "nd", "rd", "th", "the", "of", *NAMES]))
read = Encoder(re.compile(r"[A-Za-z]+|\S").findall, TOKENS, begin=None, end="</s>", pad="<pad>")  # names whole, digit by digit
BATCH = 64
SHOWN = ["Wednesday, 3 March 2021", "July the 4th, 1976", "29 Feb 24", "12/31/99", "Fri 13.10.2023"]


def date(draw: random.Random) -> datetime.date:
    """A day of 1970 to 2069, for which two digits of a year are enough."""
    return datetime.date(1970, 1, 1) + datetime.timedelta(days=draw.randrange(36500))


def written(day: datetime.date, form: str) -> str:
    """A day in one of the forms; days and months without zeros in front."""
    ending = "th" if 10 < day.day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    text = day.strftime(form.replace("{th}", f"{day.day}{ending}"))
    return " ".join(part.lstrip("0") or "0" for part in text.split(" "))


def pairs(draw: random.Random, count: int) -> tuple[list[str], list[str]]:
    """Days as they are written, and in ISO's form."""
    days = [date(draw) for _ in range(count)]
    return [written(day, draw.choice(FORMS)) for day in days], [day.isoformat() for day in days]


def new_model() -> T5ForConditionalGeneration:
    return T5ForConditionalGeneration(
        T5Config(
            vocab_size=len(TOKENS), d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, dropout_rate=0.0,
            relative_attention_num_buckets=32, relative_attention_max_distance=32,
        )
    )  # fmt: skip


def loss_of(model: T5ForConditionalGeneration, sources: list[str], targets: list[str]) -> Tensor:
    given, wanted = read(sources), read(targets).input_ids
    labels = tenfold.where(wanted == TOKENS["<pad>"], -100, wanted)
    return model(given.input_ids, given.attention_mask, labels=labels).loss


def translate(model: T5ForConditionalGeneration, texts: list[str], beams: int) -> list[str]:
    given = read(texts)
    ids = model.generate(given.input_ids, given.attention_mask, max_new_tokens=12, num_beams=beams)
    return [read.decode(row, joined_by="") for row in ids.tolist()]


def accuracy(model: T5ForConditionalGeneration, draw: random.Random, count: int, beams: int) -> float:
    """The share of dates that are translated without a mistake."""
    texts, wanted = pairs(draw, count)
    return sum(map(str.__eq__, translate(model, texts, beams), wanted)) / count


def train(model: T5ForConditionalGeneration, steps: int, seed: int, report_every: int = 100) -> list[tuple[int, float, float]]:
    """Learn from new pairs at every step; gives (step, loss, accuracy) of the reports."""
    draw, history, start = random.Random(seed), list[tuple[int, float, float]](), time.monotonic()
    optimizer = optim.Adam(model.parameters(), lr=4e-3)
    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=steps, pct_start=0.2)
    for step in range(1, steps + 1):
        loss = loss_of(model.train(), *pairs(draw, BATCH))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        if step % report_every == 0 or step == steps:
            history.append((step, loss.item(), accuracy(model, random.Random(1), 100, beams=1)))
            took = time.monotonic() - start
            print("step {:4}  loss {:.3f}  {:.0%} of dates right".format(*history[-1]) + f"  {took:.0f} s", flush=True)
    return history


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/date_translation"), help="folder for the model")
    args = parser.parse_args(argv)
    tenfold.set_num_threads(1)  # the matrices are small
    tenfold.manual_seed(args.seed)
    model = new_model()
    train(model, args.steps, args.seed)
    for text, iso in zip(SHOWN, translate(model, SHOWN, beams=4)):
        print(f"{text:>26}  {iso}")
    model.save_pretrained(args.out)
    draw(args.out / "attention.png", model, read, list(zip(SHOWN[:3], translate(model, SHOWN[:3], beams=4))))
    TOKENS.save(args.out / "vocab.txt")
    print(f"test accuracy: {accuracy(model, random.Random(2), 200, beams=4):.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
