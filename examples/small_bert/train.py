"""Pre-train a small BERT by masking words of sentences from a small grammar, then fine-tune it on few labelled ones.

The task: was the hidden word of a sentence "is" or "are"? The noun that decides is the first one, not the nearest: "the dogs near
the old house [MASK] hungry". The same network is also trained on the task alone, without what it learned of words before.

    python train.py
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import warnings
from pathlib import Path

import tenfold
from tenfold import Tensor, optim
from tenfold.data import DataLoader
from tenfold.text import Encoder, Encoding, build_vocab_from_iterator
from tenfold.text.data import BucketSampler, mask_tokens
from tenfold.text.models import BertConfig, BertForMaskedLM, BertForTokenClassification

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
UNK, MASK = SPECIAL.index("[UNK]"), SPECIAL.index("[MASK]")
BATCH, LONGEST, LABELLED = 32, 16, 32
NOUNS = "dog cat house tree bird car river girl teacher friend boat garden".split()
ADJECTIVES = "small big old new green quiet hungry happy tired bright".split()
DOINGS, PLACES, ARTICLES, VERBS = (
    "sleep run sing wait move".split(),
    "near behind under before".split(),
    ["the", "my"],
    ("is", "are"),
)


def sentences(count: int, seed: int) -> list[str]:
    """Sentences about one or several things, near or behind one or several others; each once."""
    draw = random.Random(seed)

    def noun(plural: bool) -> str:
        return f"{draw.choice(ARTICLES)} {draw.choice(['', *ADJECTIVES])} {draw.choice(NOUNS)}{'s' if plural else ''}"

    def sentence() -> str:
        plural = draw.random() < 0.5
        beside = f"{draw.choice(PLACES)} {noun(draw.random() < 0.5)}" if draw.random() < 0.3 else ""
        verb = (
            f"{VERBS[plural]} {draw.choice(ADJECTIVES)}"
            if draw.random() < 0.7
            else f"{draw.choice(DOINGS)}{'' if plural else 's'}"
        )
        return " ".join(f"{noun(plural)} {beside} {verb} .".split())

    return list(dict.fromkeys(sentence() for _ in range(count)))


def small_config(words: int) -> BertConfig:
    return BertConfig(
        vocab_size=words, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
        max_position_embeddings=LONGEST, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip


def batches(encoder: Encoder, texts: list[str]) -> DataLoader:
    """Batches of sentences of about one length, so that little is padding."""
    lengths = [len(text.split()) for text in texts]

    def encoded(rows: list[str]) -> Encoding:
        return encoder(rows, truncation=True, max_length=LONGEST)

    return DataLoader(texts, batch_sampler=BucketSampler(lengths, BATCH), collate_fn=encoded)


def masked_loss(model: BertForMaskedLM, batch: Encoding) -> tuple[Tensor, float]:
    """The loss of guessing the hidden words, and the share that is guessed right."""
    ids, labels = mask_tokens(
        batch.input_ids, MASK, model.config.vocab_size, special_tokens_mask=batch.special_tokens_mask, probability=0.3
    )
    out = model(ids, batch.attention_mask, labels=labels)
    asked = labels != -100
    right = (out.logits.argmax(2)[asked] == labels[asked]).float()
    return out.loss, right.mean().item() if len(right) else 0.0


def pretrain(model: BertForMaskedLM, encoder: Encoder, texts: list[str], epochs: int) -> None:
    """Hide words and let the model guess them, anew in every epoch."""
    optimizer, loader, start = optim.AdamW(model.parameters(), lr=3e-3), batches(encoder, texts), time.monotonic()
    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=epochs * len(loader), pct_start=0.2)
    model.train()
    for epoch in range(1, epochs + 1):
        results = []
        for batch in loader:
            loss, right = masked_loss(model, batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            results.append((loss.item(), right))
        loss_mean, right_mean = (sum(column) / len(results) for column in zip(*results))
        print(
            f"epoch {epoch}  loss {loss_mean:.3f}  {right_mean:.1%} of hidden words guessed  {time.monotonic() - start:.0f} s",
            flush=True,
        )


def labelled(texts: list[str]) -> list[tuple[str, int]]:
    """(sentence with its only "is" or "are" hidden, 1 where it was "are"), as many of one kind as of the other."""
    kinds: list[list[tuple[str, int]]] = [[], []]
    for text in texts:
        words = text.split()
        verbs = [place for place, word in enumerate(words) if word in ("is", "are")]
        if len(verbs) == 1 and verbs[0] < LONGEST - 2:
            label = int(words[verbs[0]] == "are")
            kinds[label].append((" ".join([*words[: verbs[0]], "[MASK]", *words[verbs[0] + 1 :]]), label))
    count = min(map(len, kinds))
    return [sample for pair in zip(kinds[0][:count], kinds[1][:count]) for sample in pair]


def finetune(model: BertForTokenClassification, encoder: Encoder, samples: list[tuple[str, int]], epochs: int) -> None:
    """Train the whole network on the task."""
    optimizer = optim.AdamW(model.parameters(), lr=1e-3)
    model.train()
    for _ in range(epochs):
        for batch, labels in DataLoader(samples, batch_size=8, shuffle=True, collate_fn=lambda rows: asked(encoder, rows)):
            loss = model(**batch, labels=labels).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def asked(encoder: Encoder, samples: list[tuple[str, int]]) -> tuple[Encoding, Tensor]:
    """The sentences, and for each token what is asked of it: of the hidden one its label, of the others nothing (-100)."""
    texts, labels = zip(*samples)
    batch = encoder(texts, truncation=True, max_length=LONGEST)
    return batch, tenfold.where(batch.input_ids == MASK, tenfold.tensor(labels).unsqueeze(1), -100)


@tenfold.no_grad()
def accuracy(model: BertForTokenClassification, encoder: Encoder, samples: list[tuple[str, int]]) -> float:
    """The share of samples whose word is told."""
    batch, labels = asked(encoder, samples)
    told = model.eval()(**batch).logits.argmax(2)
    return (told == labels)[labels != -100].float().mean().item()


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=30, help="passes over the texts of the pre-training")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/small_bert"), help="folder for the models")
    args = parser.parse_args(argv)
    tenfold.set_num_threads(1)  # the matrices are small
    tenfold.manual_seed(args.seed)
    texts = sentences(3000, args.seed)
    tested = labelled([text for text in sentences(1000, args.seed + 1) if text not in set(texts)])
    taught = labelled(texts)[:LABELLED]
    vocabulary = build_vocab_from_iterator(map(str.split, texts), specials=SPECIAL)
    vocabulary.set_default_index(UNK)
    encoder = Encoder(str.split, vocabulary)
    model = BertForMaskedLM(small_config(len(vocabulary)))
    print(f"{len(texts)} sentences, {len(vocabulary)} words, {model.num_parameters():,} parameters; {len(taught)} with labels")
    pretrain(model, encoder, texts, args.epochs)
    model.save_pretrained(args.out)
    vocabulary.save(args.out / "vocab.txt")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the classifier is new, that is what is trained here
        tuned = BertForTokenClassification.from_pretrained(args.out)
    alone = BertForTokenClassification(tuned.config)
    for name, network in (("without pre-training", alone), ("test", tuned)):
        finetune(network, encoder, taught, epochs=40)
        print(f"{name} accuracy: {accuracy(network, encoder, tested):.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
