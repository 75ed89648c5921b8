"""sentence-transformers on the device: encoding, similarities, a step of training."""

import os
import tempfile

import torch
from sentence_transformers import SentenceTransformer, losses, models, util
from transformers import BertConfig, BertModel, BertTokenizer

device = os.environ["PROGRAM_DEVICE"]
with tempfile.TemporaryDirectory() as folder:
    with open(f"{folder}/vocab.txt", "w") as file:
        file.write(
            "\n".join(
                ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz", *"the cat dog runs sleeps".split()]
            )
        )
    BertTokenizer(f"{folder}/vocab.txt").save_pretrained(folder)
    torch.manual_seed(0)
    BertModel(
        BertConfig(vocab_size=60, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=20)
    ).save_pretrained(folder)
    word = models.Transformer(folder, max_seq_length=12)
    model = SentenceTransformer(modules=[word, models.Pooling(16), models.Normalize()], device=device)
    texts = ["the cat sleeps", "the dog runs", "a cat runs"]
    found = model.encode(texts, convert_to_tensor=True)
    assert found.device.type == device
    print(
        f"loss {util.cos_sim(found, found).sum().item():.5f} {util.semantic_search(found[:1], found, top_k=2)[0][1]['score']:.5f}"
    )
    print(f"loss {model.encode(texts).sum():.5f}")
    loss = losses.MultipleNegativesRankingLoss(model)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    model.eval()
    for _ in range(2):
        pairs = [
            {k: v.to(device) if hasattr(v, "to") else v for k, v in model.tokenize(t).items()} for t in (texts[:2], texts[1:])
        ]
        value = loss(pairs, torch.zeros(2, device=device))
        value.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"loss {value.item():.5f}")
    model.save(f"{folder}/saved")
    again = SentenceTransformer(f"{folder}/saved", device=device)
    assert abs(again.encode(texts) - model.encode(texts)).max() < 1e-5
