#!/usr/bin/env python3
"""Writes tests/data/config_cases.json: variations of the tiny models' config.json and what Hugging Face computes from them.

usage: make_config_cases.py ORACLE MODELS OUT.json
ORACLE: a script that takes FOLDER IDS OUT.npz, runs the folder with Hugging Face's own code in float64 and writes
"hidden" (L+1,B,T,D) and, for models with a head, "logits" (B,T,vocab); both sides of an encoder-decoder read the ids.
MODELS: tests/data/models. Cases that are in OUT.json already are kept: delete it to make all again.
A case that this program refuses has "refused", the words that its sentence names.
A case may have ids of its own, in place of IDS.
A case holds the last eight numbers of the last token's logits, or of its last hidden state where there is no head.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy

IDS = [5, 9, 13, 22, 31, 40, 51, 60, 7, 11, 19, 23, 5, 9]
LONG = [(7 * i * i + 3 * i + 5) % 80 for i in range(61)]
YARN = {"rope_type": "yarn", "factor": 4.0}
LLAMA3 = {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
SHORT = {"rope_type": "longrope", "short_factor": [1.0] * 4, "long_factor": [3.0] * 4}
CASES = [
    ("llama_tiny_untied", {"hidden_act": "gelu"}),
    ("llama_tiny_untied", {"rms_norm_eps": 0.1}),
    ("llama_tiny_untied", {"rope_theta": 500.0}),
    ("llama_tiny_untied", {"is_decoder": True}),
    ("llama_tiny_untied", {"is_causal": False}),
    ("llama_tiny_untied", {"rope_scaling": {"type": "linear", "factor": 3.0}}),
    ("llama_tiny_untied", {"rope_scaling": {"rope_type": "dynamic", "factor": 3.0}, "max_position_embeddings": 8}),
    ("llama_tiny_untied", {"rope_scaling": LLAMA3}),
    ("llama_tiny_untied", {"rope_scaling": {**LLAMA3, "original_max_position_embeddings": 8}}),
    ("llama_tiny_untied", {"rope_scaling": YARN, "original_max_position_embeddings": 16}),
    ("llama_tiny_untied", {"rope_scaling": {**YARN, "mscale": 0.7, "mscale_all_dim": 0}}),
    ("llama_tiny_untied", {"rope_scaling": {**YARN, "mscale": 0.7, "mscale_all_dim": 0.5}}),
    ("llama_tiny_untied", {"rope_scaling": {**YARN, "truncate": False, "original_max_position_embeddings": 16}}),
    ("llama_tiny_untied", {"rope_scaling": {**YARN, "attention_factor": 1.3}}),
    ("llama_tiny_untied", {"rope_scaling": {**YARN, "beta_fast": 8, "beta_slow": 2}}),
    ("llama_tiny_untied", {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 300.0}}),
    ("llama_tiny_untied", {"rope_scaling": {"rope_type": "linear", "factor": 4.0},
                           "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}}),
    ("llama_tiny_untied", {"partial_rotary_factor": 0.5}),
    ("llama_tiny_untied", {"sliding_window": 3}),
    ("llama_tiny_untied", {"pretraining_tp": 2}),
    ("mistral_tiny", {"sliding_window": None}),
    ("mistral_tiny", {"sliding_window": 3}),
    ("mistral_tiny", {"is_causal": False}),
    ("qwen2_tiny_bf16", {"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1}),
    ("qwen2_tiny_bf16", {"use_sliding_window": False, "sliding_window": 3}),
    ("qwen3_tiny", {"rms_norm_eps": 0.01}),
    ("qwen3_tiny", {"use_sliding_window": True, "sliding_window": 4, "max_window_layers": 1}),
    ("smollm3_tiny", {"no_rope_layer_interval": 2, "no_rope_layers": None}),
    ("smollm3_tiny", {"use_sliding_window": False, "sliding_window": 3,
                      "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"]}),
    ("phi3_tiny", {"rope_scaling": SHORT}),
    ("phi3_tiny", {"rope_scaling": {**SHORT, "factor": 8.0}}),
    ("phi3_tiny", {"rope_scaling": SHORT, "original_max_position_embeddings": 8}),
    ("phi3_tiny", {"sliding_window": 4}),
    ("phi_tiny", {"partial_rotary_factor": 0.25}),
    ("phi_tiny", {"qk_layernorm": True}),
    ("gpt2_tiny", {"scale_attn_weights": False}),
    ("gpt2_tiny", {"scale_attn_by_inverse_layer_idx": True}),
    ("gpt2_tiny", {"reorder_and_upcast_attn": True}),
    ("gpt2_tiny", {"activation_function": "relu"}),
    ("gpt2_tiny", {"layer_norm_epsilon": 0.1}),
    ("gpt_neo_tiny", {"window_size": 3}),
    ("gpt_neo_tiny", {"is_causal": False}),
    ("gpt_neox_tiny", {"use_parallel_residual": False}),
    ("gpt_neox_tiny", {"rotary_pct": 0.5}),
    ("gpt_neox_tiny", {"hidden_act": "gelu_new"}),
    ("gptj_tiny", {"rotary_dim": 4}),
    ("opt_tiny", {"is_causal": False}),
    ("opt_tiny", {"activation_function": "gelu"}),
    ("falcon_tiny", {"rope_theta": 200.0}),
    ("falcon_tiny", {"is_causal": False}),
    ("falcon_tiny", {"activation": "relu"}),
    ("bloom_tiny", {"activation_function": "relu"}),
    ("bloom_tiny", {"n_inner": 77}),
    ("bloom_tiny", {"apply_residual_connection_post_layernorm": True}),
    ("gemma2_tiny", {"query_pre_attn_scalar": 64}),
    ("gemma2_tiny", {"attn_logit_softcapping": None, "final_logit_softcapping": None}),
    ("gemma2_tiny", {"attn_logit_softcapping": 2.0, "sliding_window": 3}),
    ("gemma3_tiny", {"is_causal": False}),
    ("gemma3_tiny", {"use_bidirectional_attention": True}),
    ("gemma3_tiny", {"is_causal": False, "use_bidirectional_attention": True}),
    ("gemma3_tiny", {"rope_local_base_freq": 100.0}),
    ("olmo2_tiny", {"rms_norm_eps": 0.1}),
    ("gpt_oss_tiny", {"swiglu_limit": 3.0}),
    ("gpt_oss_tiny", {"swiglu_alpha": 1.0}),
    ("gpt_oss_tiny", {"sliding_window": 3}),
    ("bert_tiny", {"layer_norm_eps": 0.1}),
    ("bert_tiny", {"hidden_act": "relu"}),
    ("bert_tiny", {"is_decoder": True}),
    ("roberta_tiny", {"layer_norm_eps": 0.01}),
    ("modernbert_tiny", {"local_attention": 4}),
    ("modernbert_tiny", {"global_attn_every_n_layers": 1}),
    ("modernbert_tiny", {"hidden_activation": "relu"}),
    # Keys that interact with others: layer_types where the class ignores it, lists that another key makes, other names.
    ("phi3_tiny", {"sliding_window": 3, "layer_types": ["full_attention", "sliding_attention"]}),
    ("gpt_neo_tiny", {"attention_layers": ["local"] * 4, "window_size": 3}),
    ("modernbert_tiny", {"rope_scaling": {"rope_type": "linear", "factor": 4.0}}),
    ("modernbert_tiny", {"sliding_window": 2}),
    ("gemma3_tiny", {"attn_logit_softcapping": 2.0}),
    ("gemma3_tiny", {"rope_scaling": {"rope_type": "linear", "factor": 4.0}}),
    ("bloom_tiny", {"slow_but_exact": True, "pretraining_tp": 2}),
    ("bloom_tiny", {"is_causal": False}),
    ("gpt2_tiny", {"num_hidden_layers": 1}),
    ("falcon_tiny", {"n_layer": 1}),
    ("falcon_tiny", {"n_embed": 32, "hidden_size": 64}),
    ("t5_tiny", {"dense_act_fn": "silu"}),
    ("t5_tiny", {"num_hidden_layers": 1}),
    ("t5_tiny", {"relative_attention_max_distance": 12}),
    ("t5_tiny", {"scale_decoder_outputs": False}),
    ("bart_tiny", {"num_hidden_layers": 1}),
    ("bart_tiny", {"scale_embedding": True}),
    ("marian_tiny", {"activation_function": "relu"}),
    ("llama4_text_tiny", {}),
    ("llama4_text_tiny", {"use_qk_norm": False}),
    ("llama4_text_tiny", {"use_qk_norm": False, "rope_scaling": YARN}),
    ("llama4_text_tiny", {"rms_norm_eps": 0.1}),
    ("llama4_text_tiny", {"attn_temperature_tuning": False}),
    ("llama4_text_tiny", {"floor_scale": 3, "attn_scale": 0.7}),
    ("llama4_text_tiny", {"attention_chunk_size": 3}),
    ("llama4_text_tiny", {"attention_chunk_size": 20}),
    ("llama4_text_tiny", {"no_rope_layer_interval": 2}),
    ("llama4_text_tiny", {"no_rope_layers": [0, 1, 1, 0]}),
    ("llama4_text_tiny", {"no_rope_layers": []}),
    ("llama4_text_tiny", {"layer_types": ["full_attention", "chunked_attention", "full_attention", "chunked_attention"]}),
    ("llama4_text_tiny", {"moe_layers": [1, 3], "interleave_moe_layer_step": 1}),
    ("llama4_text_tiny", {"num_experts_per_tok": 2}),
    ("llama4_text_tiny", {"num_experts_per_tok": 3}),
    ("llama4_text_tiny", {"rope_scaling": {**LLAMA3, "original_max_position_embeddings": 8}}),
    ("llama4_text_tiny", {"rope_parameters": {"rope_type": "default", "rope_theta": 300.0}}),
    ("llama4_text_tiny", {"hidden_act": "gelu"}),
    # Many chunks, and many steps of the scale of the queries.
    ("llama4_text_tiny", {}, LONG),
    ("llama4_text_tiny", {"attention_chunk_size": 16, "floor_scale": 7, "attn_scale": 0.5,
                          "rope_scaling": {**LLAMA3, "original_max_position_embeddings": 16}}, LONG),
    ("gemma3n_text_tiny", {}),
    ("gemma3n_text_tiny", {"altup_active_idx": 2}),
    ("gemma3n_text_tiny", {"altup_correct_scale": False}),
    ("gemma3n_text_tiny", {"altup_coef_clip": 0.01}),
    ("gemma3n_text_tiny", {"num_kv_shared_layers": 0}),
    ("gemma3n_text_tiny", {"num_kv_shared_layers": 1}),
    ("gemma3n_text_tiny", {"layer_types": ["full_attention", "sliding_attention"] * 2 + ["full_attention"]}),
    ("gemma3n_text_tiny", {"layer_types": None, "num_kv_shared_layers": 0}),
    ("gemma3n_text_tiny", {"activation_sparsity_pattern": [0.0, 0.5, 0.95, 0.2, 0.99]}),
    ("gemma3n_text_tiny", {"activation_sparsity_pattern": None}),
    ("gemma3n_text_tiny", {"final_logit_softcapping": None}),
    ("gemma3n_text_tiny", {"hidden_activation": "silu"}),
    ("gemma3n_text_tiny", {"rms_norm_eps": 0.01}),
    ("gemma3n_text_tiny", {"sliding_window": 2}),
    ("gemma3n_text_tiny", {"rope_local_base_freq": 100.0, "rope_theta": 500.0}),
    ("gemma3n_text_tiny", {"rope_scaling": {"rope_type": "linear", "factor": 4.0}}),
    ("gemma3n_text_tiny", {"rope_scaling": {**LLAMA3, "original_max_position_embeddings": 8}}),
]
# Hugging Face's numbers are known and not computed here.
REFUSED = {"bloom_tiny": "slow_but_exact"}


def answer_of(oracle, models, name, change, ids):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        config = json.loads((models / name / "config.json").read_text())
        config.update(change)
        (folder / "config.json").write_text(json.dumps(config))
        (folder / "model.safetensors").symlink_to((models / name / "model.safetensors").resolve())
        out = folder / "out.npz"
        run = subprocess.run([sys.executable, oracle, str(folder), ",".join(map(str, ids)), str(out)],
                             capture_output=True, text=True, check=False)  # fmt: skip
        if run.returncode != 0:
            return None, run.stderr.strip().split("\n")[-1][:150]
        arrays = numpy.load(out)
        numbers = arrays["logits"] if "logits" in arrays else arrays["hidden"][-1]
        return [float(x) for x in numbers[0, -1, -8:]], ""


def main():
    oracle, models, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    cases = []
    former = json.loads(out.read_text())["cases"] if out.exists() else []
    known = {json.dumps([c["model"], c["change"], c.get("ids")]): c for c in former}
    for name, change, *own in CASES:
        key = json.dumps([name, change, own[0] if own else None])
        if key in known:
            cases.append(known[key])
            continue
        numbers, failure = answer_of(oracle, models, name, change, own[0] if own else IDS)
        if numbers is None:
            print(f"{name} {change}: the oracle fails: {failure}", file=sys.stderr)
            continue
        case = {"model": name, "change": change} | ({"ids": own[0]} if own else {}) | {"last": numbers}
        if (words := REFUSED.get(name)) in change:
            case["refused"] = words
        cases.append(case)
    rows = ",\n".join(json.dumps(case) for case in cases)
    out.write_text(json.dumps({"ids": IDS})[:-1] + ', "cases": [\n' + rows + "\n]}\n")


if __name__ == "__main__":
    main()
