"""The models of transformers and ours with the same random weights by key, in float64."""

from __future__ import annotations

import functools
import warnings

import pytest

import tenfold
from tenfold.text import models

torch = pytest.importorskip("torch")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    transformers = pytest.importorskip("transformers")
    import transformers.models.llama.modeling_llama as llama_code
    import transformers.models.t5.modeling_t5 as t5_code
transformers.logging.set_verbosity_error()

BERT = {
    "vocab_size": 60, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 24,
    "max_position_embeddings": 20, "num_labels": 3, "initializer_range": 0.5,
}  # fmt: skip
DISTIL = {
    "vocab_size": 60, "dim": 16, "n_layers": 2, "n_heads": 4, "hidden_dim": 24, "max_position_embeddings": 20, "num_labels": 3,
    "initializer_range": 0.5,
}  # fmt: skip
GPT2 = {
    "vocab_size": 60, "n_embd": 16, "n_layer": 2, "n_head": 4, "n_positions": 40, "initializer_range": 0.5, "bos_token_id": 1,
    "eos_token_id": 2,
}  # fmt: skip
LLAMA = {
    "vocab_size": 60, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 24, "initializer_range": 0.5, "max_position_embeddings": 64,
}  # fmt: skip
LONG = {
    "rope_type": "llama3", "rope_theta": 100.0, "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}  # fmt: skip
T5 = {"vocab_size": 60, "d_model": 16, "d_kv": 6, "d_ff": 24, "num_layers": 2, "num_heads": 3, "decoder_start_token_id": 0}

CASES = {
    "BertModel": ("Bert", BERT),
    "BertForMaskedLM": ("Bert", BERT),
    "BertForPreTraining": ("Bert", BERT),
    "BertForSequenceClassification": ("Bert", BERT),
    "BertForTokenClassification": ("Bert", {**BERT, "hidden_act": "gelu_new"}),
    "BertForQuestionAnswering": ("Bert", {**BERT, "num_labels": 2}),
    "BertForNextSentencePrediction": ("Bert", BERT),
    "BertForMultipleChoice": ("Bert", BERT),
    "RobertaModel": ("Roberta", BERT),
    "RobertaForTokenClassification": ("Roberta", BERT),
    "RobertaForQuestionAnswering": ("Roberta", {**BERT, "num_labels": 2}),
    "RobertaForMultipleChoice": ("Roberta", BERT),
    "XLMRobertaForSequenceClassification": ("XLMRoberta", BERT),
    "RobertaForMaskedLM": ("Roberta", BERT),
    "RobertaForSequenceClassification": ("Roberta", BERT),
    "DistilBertModel": ("DistilBert", DISTIL),
    "DistilBertForMaskedLM": ("DistilBert", DISTIL),
    "DistilBertForSequenceClassification": ("DistilBert", DISTIL),
    "DistilBertForTokenClassification": ("DistilBert", DISTIL),
    "BertLMHeadModel": ("Bert", {**BERT, "is_decoder": True}),
    "RobertaForCausalLM": ("Roberta", {**BERT, "is_decoder": True}),
    "DistilBertForMultipleChoice": ("DistilBert", DISTIL),
    "DistilBertForQuestionAnswering": ("DistilBert", {**DISTIL, "num_labels": 2}),
    "GPT2Model": ("GPT2", GPT2),
    "GPT2ForSequenceClassification": ("GPT2", {**GPT2, "pad_token_id": 0, "num_labels": 3}),
    "GPT2ForTokenClassification": ("GPT2", {**GPT2, "num_labels": 3}),
    "GPT2ForQuestionAnswering": ("GPT2", GPT2),
    "LlamaForTokenClassification": ("Llama", {**LLAMA, "num_labels": 3}),
    "LlamaForQuestionAnswering": ("Llama", {**LLAMA, "initializer_range": 0.2}),  # rotations are of float32 in both
    "LlamaForSequenceClassification": ("Llama", {**LLAMA, "pad_token_id": 0, "num_labels": 3}),
    "Qwen2ForSequenceClassification": ("Qwen2", {**LLAMA, "pad_token_id": 0, "num_labels": 3}),
    "GPT2LMHeadModel": ("GPT2", {**GPT2, "scale_attn_by_inverse_layer_idx": True}),
    "LlamaModel": ("Llama", LLAMA),
    "LlamaForCausalLM": ("Llama", LLAMA),
    "LlamaForCausalLM-long": (
        "Llama",
        {**LLAMA, "rope_parameters": LONG, "initializer_range": 0.1, "attention_bias": True, "mlp_bias": True, "head_dim": 6},
    ),
    "Qwen2ForCausalLM": ("Qwen2", {**LLAMA, "tie_word_embeddings": True}),
    "MistralForCausalLM": ("Mistral", LLAMA),
    "MistralForCausalLM-near": ("Mistral", {**LLAMA, "sliding_window": 3}),
    "Qwen2ForCausalLM-near": (
        "Qwen2",
        {**LLAMA, "use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1},
    ),
    "T5Model": ("T5", T5),
    "T5EncoderModel": ("T5", T5),
    "T5ForSequenceClassification": ("T5", {**T5, "num_labels": 3, "eos_token_id": 14}),
    "T5ForTokenClassification": ("T5", {**T5, "num_labels": 3}),
    "T5ForQuestionAnswering": ("T5", {**T5, "num_labels": 2}),
    "T5ForConditionalGeneration": ("T5", T5),
    "T5ForConditionalGeneration-gated": (
        "T5",
        {**T5, "feed_forward_proj": "gated-gelu", "num_decoder_layers": 3, "tie_word_embeddings": False},
    ),
}


@pytest.fixture(autouse=True)
def in_float64(monkeypatch):
    """Norms, which the oracle computes in float32 whatever the model's dtype, in float64 as everything else but rotations."""

    def norm(self, x):
        eps = getattr(self, "variance_epsilon", None)
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)

    import transformers.models.mistral.modeling_mistral as mistral_code
    import transformers.models.qwen2.modeling_qwen2 as qwen2_code

    for module, name in (
        (t5_code, "T5LayerNorm"), (llama_code, "LlamaRMSNorm"), (mistral_code, "MistralRMSNorm"), (qwen2_code, "Qwen2RMSNorm")
    ):  # fmt: skip
        monkeypatch.setattr(getattr(module, name), "forward", norm)


@functools.cache
def both(name, **more):
    """The two models with the same weights."""
    published = name.split("-")[0]
    kind, sizes = CASES[name]
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**sizes, **more)
    oracle = getattr(transformers, published)(config).double().eval()
    with torch.no_grad():
        for p in oracle.parameters():
            p.add_(torch.randn_like(p) * 0.1)
    ours_class = models.model_class(published)
    ours = ours_class(ours_class.config_class.from_dict(config.to_dict())).double().eval()
    state = {key: tenfold.tensor(value.numpy()) for key, value in oracle.state_dict().items()}
    assert set(ours.state_dict()) == set(state)
    assert {k: tuple(v.shape) for k, v in ours.state_dict().items()} == {k: tuple(v.shape) for k, v in state.items()}
    ours.load_state_dict(state)
    assert ours.num_parameters() == sum(p.numel() for p in oracle.parameters())
    return oracle, ours


IDS = [[3, 17, 42, 5, 9, 8, 7], [11, 12, 13, 14, 0, 0, 0]]
MASK = [[1] * 7, [1] * 4 + [0] * 3]


def inputs(name):
    """Two texts, the second padded; with labels where the model takes them."""
    ids = [[i or 1 for i in row] for row in IDS] if "Roberta" in name else IDS
    given = {"input_ids": ids, "attention_mask": MASK}
    if name.startswith("Bert"):
        given["token_type_ids"] = [[0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 0, 0, 0]]
    if "T5ForSequence" in name:
        given["input_ids"] = [[3, 17, 42, 5, 9, 8, 14], IDS[1]]  # which end
    if "ForSequence" in name:
        given["labels"] = [2, 0]
    elif "NextSentence" in name:
        given["labels"] = [1, 0]
    elif "MultipleChoice" in name:
        given = {key: [rows, rows[::-1]] for key, rows in given.items()} | {"labels": [1, 0]}
    elif "QuestionAnswering" in name:
        given |= {"start_positions": [1, 2], "end_positions": [3, 9]}
    elif "TokenClass" in name:
        given["labels"] = [[0, 1, 2, 0, 1, 2, -100], [1, 1, -100, 2, -100, -100, -100]]
    elif name == "T5Model":
        given["decoder_input_ids"] = [[0, 5, 6, 7], [0, 8, 1, 0]]
        given["decoder_attention_mask"] = [[1, 1, 1, 1], [1, 1, 1, 0]]
    elif name.startswith("T5ForConditional"):
        given["labels"] = [[5, 6, 7, 1], [8, 1, -100, -100]]
    elif not name.endswith("Model") or "LMHead" in name:
        given["labels"] = [[-100, 17, -100, 5, 9, -100, 7], [-100, 12, 13, -100, -100, -100, -100]]
    if "PreTraining" in name:
        given["next_sentence_label"] = [1, 0]
    return given


def close(ours, theirs, tolerance=1e-6):
    theirs = theirs.detach().numpy()
    assert ours.shape == theirs.shape
    assert abs(ours.detach().numpy() - theirs).max() <= tolerance * max(1.0, abs(theirs).max())
