"""transformers on the device: tiny models with random weights, a step of each, generation, saving and loading."""

import os
import sys
import tempfile

import torch
import transformers as t

device = os.environ["PROGRAM_DEVICE"]
names = sys.argv[1:]
small = {"vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 37}
MODELS = {
    "bert": lambda: t.BertForSequenceClassification(t.BertConfig(**small, num_labels=3)),
    "bert_mlm": lambda: t.BertForMaskedLM(t.BertConfig(**small)),
    "roberta": lambda: t.RobertaForSequenceClassification(t.RobertaConfig(**small, num_labels=3)),
    "distilbert": lambda: t.DistilBertForSequenceClassification(
        t.DistilBertConfig(vocab_size=99, dim=32, n_layers=2, n_heads=4, hidden_dim=37, num_labels=3)
    ),
    "gpt2": lambda: t.GPT2LMHeadModel(t.GPT2Config(vocab_size=99, n_embd=32, n_layer=2, n_head=4, n_positions=64)),
    "gpt_neox": lambda: t.GPTNeoXForCausalLM(t.GPTNeoXConfig(**small)),
    "opt": lambda: t.OPTForCausalLM(
        t.OPTConfig(vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=37, word_embed_proj_dim=32)
    ),
    "llama": lambda: t.LlamaForCausalLM(t.LlamaConfig(**small, num_key_value_heads=2)),
    "mistral": lambda: t.MistralForCausalLM(t.MistralConfig(**small, num_key_value_heads=2, sliding_window=8)),
    "qwen2": lambda: t.Qwen2ForCausalLM(t.Qwen2Config(**small, num_key_value_heads=2)),
    "gemma": lambda: t.GemmaForCausalLM(t.GemmaConfig(**small, num_key_value_heads=2, head_dim=8)),
    "mixtral": lambda: t.MixtralForCausalLM(t.MixtralConfig(**small, num_key_value_heads=2, num_local_experts=2)),
    "phi": lambda: t.PhiForCausalLM(t.PhiConfig(**small)),
    "mamba": lambda: t.MambaForCausalLM(t.MambaConfig(vocab_size=99, hidden_size=32, num_hidden_layers=2)),
    "t5": lambda: t.T5ForConditionalGeneration(
        t.T5Config(vocab_size=99, d_model=32, d_kv=8, d_ff=37, num_layers=2, num_heads=4, decoder_start_token_id=0)
    ),
    "bart": lambda: t.BartForConditionalGeneration(
        t.BartConfig(
            vocab_size=99, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4,
            encoder_ffn_dim=37, decoder_ffn_dim=37, max_position_embeddings=64,
        )
    ),
    "vit": lambda: t.ViTForImageClassification(
        t.ViTConfig(
            image_size=16, patch_size=8, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=37, num_labels=3
        )
    ),
    "resnet": lambda: t.ResNetForImageClassification(
        t.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic", num_labels=3)
    ),
    "wav2vec2": lambda: t.Wav2Vec2ForCTC(
        t.Wav2Vec2Config(
            **small, conv_dim=(16, 16), conv_kernel=(8, 4), conv_stride=(4, 2), num_feat_extract_layers=2,
            num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=2, apply_spec_augment=False,
        )
    ),
    "whisper": lambda: t.WhisperForConditionalGeneration(
        t.WhisperConfig(
            vocab_size=99, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4,
            encoder_ffn_dim=37, decoder_ffn_dim=37, num_mel_bins=8, max_source_positions=16, max_target_positions=32,
            pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
        )
    ),
}  # fmt: skip


def inputs_of(name):
    ids = torch.randint(3, 99, (2, 9)).to(device)
    if name in ("vit", "resnet"):
        return {"pixel_values": torch.randn(2, 3, 16, 16).to(device), "labels": torch.tensor([0, 2], device=device)}
    if name == "wav2vec2":
        return {"input_values": torch.randn(2, 400).to(device), "labels": ids[:, :4]}
    if name == "whisper":
        return {"input_features": torch.randn(2, 8, 32).to(device), "labels": ids}
    if name in ("bert", "roberta", "distilbert"):
        mask = torch.ones_like(ids)
        mask[1, 6:] = 0
        return {"input_ids": ids, "attention_mask": mask, "labels": torch.tensor([0, 2], device=device)}
    return {"input_ids": ids, "labels": ids}


for name in names or MODELS:
    torch.manual_seed(0)
    t.set_seed(0)
    model = MODELS[name]().to(device)
    given = inputs_of(name)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    for _ in range(2):
        loss = model(**given).loss
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        print(f"{name} loss {loss.item():.5f} norm {norm.item():.4f}", flush=True)
    model.eval()
    if model.can_generate() and name != "whisper":
        ids = given["input_ids"]
        with torch.inference_mode():
            for how in (
                {"do_sample": False},
                {"num_beams": 2},
                {"do_sample": True, "top_k": 5, "top_p": 0.9, "temperature": 0.8},
            ):
                torch.manual_seed(1)
                found = model.generate(ids, max_new_tokens=4, pad_token_id=0, **how)
                print(name, "tokens loss", int(found.sum()), tuple(found.shape), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        again = type(model).from_pretrained(folder, device_map=device if name == "bert" else None).to(device)
        for (k, p), q in zip(model.state_dict().items(), again.state_dict().values()):
            assert torch.equal(p, q), k
    with torch.autocast(device, torch.bfloat16):
        model.train()
        model(**given).loss.backward()
    half = model.to(torch.bfloat16)
    given = {k: v.bfloat16() if v.is_floating_point() else v for k, v in given.items()}
    print(f"{name} half {half(**given).loss.item():.1f}", flush=True)
