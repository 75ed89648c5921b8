"""Train a small GPT-2 on the help texts of Python, save it as published models are, and let it write in several ways.

python train.py
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import tenfold
from tenfold import nn, optim
from tenfold.data import DataLoader, RandomSampler
from tenfold.text import Vocab
from tenfold.text.data import perplexity
from tenfold.text.datasets import CharacterDataset, pydoc_topics
from tenfold.text.generation import TextStreamer
from tenfold.text.models import GPT2Config, GPT2LMHeadModel, from_pretrained

CONTEXT, BATCH, TEST_SHARE = 48, 24, 0.05


class Letters:
    """Ids to text, for the streamer."""

    def __init__(self, vocabulary: Vocab) -> None:
        self.vocabulary = vocabulary

    def decode(self, ids: list[int]) -> str:
        return "".join(self.vocabulary.lookup_tokens(ids))


def new_model(characters: int) -> GPT2LMHeadModel:
    sizes = {"n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 4 * CONTEXT}
    dropouts = dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0.0)
    return GPT2LMHeadModel(GPT2Config(vocab_size=characters, bos_token_id=None, eos_token_id=None, **sizes, **dropouts))


def train(model: GPT2LMHeadModel, text: CharacterDataset, steps: int, report_every: int = 100) -> None:
    """Learn the next character of stretches of the text."""
    sampler, start = RandomSampler(text, replacement=True, num_samples=steps * BATCH), time.monotonic()
    optimizer = optim.AdamW(model.parameters(), lr=4e-3)
    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=steps, pct_start=0.1)
    for step, (ids, _) in enumerate(DataLoader(text, batch_size=BATCH, sampler=sampler), 1):
        loss = model(ids, labels=ids).loss
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        if step % report_every == 0 or step == steps:
            print(f"step {step:4}  loss {loss.item():.3f}  {time.monotonic() - start:.0f} s", flush=True)


@tenfold.no_grad()
def test_perplexity(model: GPT2LMHeadModel, text: CharacterDataset) -> float:
    """How many characters the model hesitates between, on stretches that it has not seen."""
    rows = tenfold.stack([text[i][0] for i in range(0, len(text), max(len(text) // 64, 1))])
    return perplexity(model.eval()(rows).logits[:, :-1], rows[:, 1:])


def show(model: Any, text: CharacterDataset, prompt: str, length: int) -> None:
    """What the model writes after the prompt, in several ways."""
    ids = text.encode(prompt).unsqueeze(0)
    ways: dict[str, dict[str, Any]] = {
        "the likeliest character": {},
        "five beams": {"num_beams": 5},
        "by chance, the likeliest 0.9": {"do_sample": True, "top_p": 0.9, "temperature": 0.8},
    }
    for name, settings in ways.items():
        print(f"\n{name}:\n{text.decode(model.generate(ids, max_new_tokens=length, **settings)[0])}")
    print("\nword by word, up to a full stop:")
    letters = Letters(text.vocab)
    model.generate(
        ids,
        max_new_tokens=4 * length,
        do_sample=True,
        top_k=5,
        stop_strings=".",
        tokenizer=letters,
        streamer=TextStreamer(letters),
    )


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--length", type=int, default=80, help="characters to write")
    parser.add_argument("--out", type=Path, default=Path("runs/small_gpt2"), help="folder for the model")
    args = parser.parse_args(argv)
    tenfold.set_num_threads(1)  # the matrices are small
    tenfold.manual_seed(args.seed)
    whole = pydoc_topics()
    border = int(len(whole) * (1 - TEST_SHARE))
    vocabulary = Vocab(sorted(set(whole)))
    text, test = (CharacterDataset(part, CONTEXT, vocabulary) for part in (whole[:border], whole[border:]))
    model = new_model(len(vocabulary))
    print(f"{len(whole):,} characters, {len(vocabulary)} different; {model.num_parameters():,} parameters")
    train(model, text, args.steps)
    model.save_pretrained(args.out)
    vocabulary.save(args.out / "vocab.json")
    model = from_pretrained(args.out)
    print(f"test perplexity: {test_perplexity(model, test):.2f}")
    show(model, text, "The ", args.length)
    return 0


if __name__ == "__main__":
    sys.exit(main())
