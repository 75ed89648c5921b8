"""peft on the device: LoRA, IA3, prompt tuning and DoRA on a small Llama; saving, loading, merging. Then sentence-transformers."""

import os
import tempfile

import torch
from peft import IA3Config, LoraConfig, PeftModel, PromptTuningConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

device = os.environ["PROGRAM_DEVICE"]


def base():
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2, intermediate_size=24
    )
    return LlamaForCausalLM(config).to(device)


ids = torch.randint(0, 50, (2, 7), generator=torch.Generator().manual_seed(1)).to(device)
for config in (
    LoraConfig(r=4, target_modules=["q_proj", "v_proj"], lora_dropout=0.1, task_type="CAUSAL_LM"),
    LoraConfig(r=4, target_modules=["q_proj"], use_dora=True, task_type="CAUSAL_LM"),
    IA3Config(target_modules=["k_proj", "down_proj"], feedforward_modules=["down_proj"], task_type="CAUSAL_LM"),
    PromptTuningConfig(num_virtual_tokens=3, task_type="CAUSAL_LM"),
):
    model = get_peft_model(base(), config)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], 1e-2)
    for _ in range(3):
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"{type(config).__name__} loss {loss.item():.6f}")
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        again = PeftModel.from_pretrained(base(), folder).eval()
        want = model.eval()(input_ids=ids).logits
        assert torch.allclose(again(input_ids=ids).logits, want, atol=1e-5)
        if isinstance(config, LoraConfig):
            assert torch.allclose(again.merge_and_unload()(input_ids=ids).logits, want, atol=1e-4)
