#!/usr/bin/env python3
"""Writes tests/data/config_keys.json: the keys that Hugging Face's configuration classes and models know, by family.

usage: make_config_keys.py TRANSFORMERS OUT.json
TRANSFORMERS: the folder src/transformers of its sources (5.5), which are read as text and not run. A family has the
fields and other names of its configuration class, those that the class takes out of `kwargs`, and those that its model
reads from `config`.
"""
import ast
import json
import pathlib
import re
import sys

FAMILIES = (
    "gpt2 bert distilbert roberta llama mistral granite granitemoe mixtral olmoe qwen2 qwen2_moe qwen3 qwen3_moe qwen3_next "
    "smollm3 phi3 opt gpt_neo gpt_neox phi gptj falcon bloom modernbert gemma2 gemma3_text olmo olmo2 olmo3 gpt_oss "
    "t5 mt5 bart mbart marian gemma xlm-roberta camembert starcoder2 stablelm glm gpt_bigcode cohere mpt "
    "qwen2_vl_text qwen2_5_vl_text qwen3_vl_text qwen2_5_omni_text gemma3 mistral3 llava llava_next qwen2_vl "
    "qwen2_5_vl qwen3_vl qwen2_5_omni internvl_chat multi_modality cohere2 glm4 exaone4 xglm nemotron mpnet codegen "
    "electra albert llama4 llama4_text deberta-v2 gemma3n gemma3n_text"
).split()
# The model type that has a folder, where a file describes several classes: only the fields of the class itself count.
SHARED = {family: family.removesuffix("_text") for family in FAMILIES if family.endswith("_text")}
SHARED |= {family: family for family in ("gemma3", "qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen2_5_omni", "llama4", "gemma3n")}
# Types whose keys may also be those of their language model.
WITH_TEXT_AT_TOP = ("qwen2_vl", "qwen2_5_vl", "qwen3_vl")
TOKENS = ["bos_token_id", "eos_token_id", "pad_token_id", "tie_word_embeddings"]
# Published with code of their own, which transformers does not have.
PUBLISHED = {
    "internvl_chat": "downsample_ratio dynamic_image_size force_image_size hidden_size llm_config max_dynamic_patch "
                     "min_dynamic_patch pad2square ps_version select_layer system_message template use_backbone_lora "
                     "use_llm_lora use_thumbnail vision_config",
    "multi_modality": "aligner_config gen_aligner_config gen_head_config gen_vision_config language_config vision_config",
}  # fmt: skip
# Attributes of the objects that no file contains.
NOT_KEYS = {"model_type", "base_config_key", "has_no_defaults_at_init", "sub_configs", "keys_to_ignore_at_inference",
            "attribute_map", "base_model_tp_plan", "base_model_pp_plan", "base_model_ep_plan", "to_dict", "to_diff_dict",
            "get_text_config", "num_labels", "use_return_dict", "rope_parameters_type", "id2label", "label2id",
            "get", "vocab_size_or_config_json_file", "name_or_path"}  # fmt: skip
# Keys that modeling_rope_utils.py and masking_utils.py read for any model that calls them.
ROTARY = ["rope_parameters", "rope_theta", "rope_scaling", "partial_rotary_factor", "max_position_embeddings"]
MASKS = ["is_causal"]


def fields_of(tree, text, model_type):
    """Returns fields, attribute_map and names taken out of kwargs of the class with this model_type, or of its namesake."""
    keys = set()
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        values = {t.id: s.value for s in node.body if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)}
        named = values.get("model_type")
        if not isinstance(named, ast.Constant) or named.value != model_type:
            continue
        keys |= {s.target.id for s in node.body if isinstance(s, ast.AnnAssign)}
        if isinstance(values.get("attribute_map"), ast.Dict):
            keys |= {key.value for key in values["attribute_map"].keys}
        own = ast.get_source_segment(text, node)
        keys |= set(re.findall(r"kwargs\.(?:pop|get|setdefault)\(\s*\"(\w+)\"", own))
        keys |= set(re.findall(r"\bself\.(\w+) =", own))
        keys |= {s.target.attr for f in node.body if isinstance(f, ast.FunctionDef) for s in ast.walk(f)
                 if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Attribute)}  # fmt: skip
    return keys


def read_by_model(text):
    keys = set(re.findall(r"\bconfig\.(\w+)", text))
    return keys | set(re.findall(r"getattr\(\s*(?:self\.)?config,\s*\"(\w+)\"", text))


def main():
    root, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    base = (root / "configuration_utils.py").read_text()
    common = set()
    for node in ast.parse(base).body:
        if isinstance(node, ast.ClassDef) and node.name == "PreTrainedConfig":
            common = {s.target.id for s in node.body if isinstance(s, ast.AnnAssign)}
            made = next(s for s in node.body if isinstance(s, ast.FunctionDef) and s.name == "__post_init__")
            common |= set(re.findall(r"kwargs\.(?:pop|get|setdefault)\(\s*\"(\w+)\"", ast.get_source_segment(base, made)))
    families = {}
    for family in FAMILIES:
        if family in PUBLISHED:
            families[family] = sorted(PUBLISHED[family].split() + TOKENS)
            continue
        folder = root / "models" / SHARED.get(family, family).replace("-", "_")
        text = (folder / f"configuration_{folder.name}.py").read_text()
        tree = ast.parse(text)
        keys = fields_of(tree, text, family)
        model = (folder / f"modeling_{folder.name}.py").read_text()
        if family in WITH_TEXT_AT_TOP:
            keys |= fields_of(tree, text, family + "_text")
        if "text_config" in keys or "thinker_config" in keys:
            keys |= set(TOKENS)
        if family not in SHARED:
            keys |= read_by_model(model)
        elif family == "gemma3_text":  # the same file has the keys of the image model
            keys |= read_by_model(model)
            keys -= {"vision_config", "text_config", "mm_tokens_per_image", "image_token_id", "boi_token_index",
                     "eoi_token_index", "image_token_index"}  # fmt: skip
        if "vision_config" not in keys or family in WITH_TEXT_AT_TOP:
            keys |= set(ROTARY if "rope_parameters" in text + model else [])
        keys = {k for k in keys if not k.startswith("__") and k not in NOT_KEYS}
        families[family] = sorted(keys - (common - set(ROTARY)))
    # Keys inside rope_parameters or rope_scaling.
    utilities = (root / "modeling_rope_utils.py").read_text()
    inner = set(re.findall(r"(?:rope_parameters_dict|rope_parameters)(?:\[|\.get\()\"(\w+)\"", utilities))
    common = sorted(k for k in (common | set(MASKS)) - set(ROTARY) if k not in NOT_KEYS)
    families = {"every family": common, "inside rope_parameters": sorted(inner), **families}
    out.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in families.items()) + "\n}\n")


if __name__ == "__main__":
    main()
