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
    "gpt2 bert distilbert roberta llama mistral qwen2 qwen3 smollm3 phi3 opt gpt_neo gpt_neox phi gptj falcon bloom "
    "modernbert gemma2 gemma3_text olmo olmo2 olmo3 gpt_oss t5 mt5 bart mbart marian"
).split()
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
        folder = root / "models" / ("gemma3" if family == "gemma3_text" else family)
        path = folder / f"configuration_{folder.name}.py"
        text = path.read_text()
        keys = fields_of(ast.parse(text), text, family)
        model = (folder / f"modeling_{folder.name}.py").read_text()
        keys |= read_by_model(model) | set(ROTARY if "rope_parameters" in text + model else [])
        if family == "gemma3_text":  # the same file has the keys of the image model
            keys -= {"vision_config", "text_config", "mm_tokens_per_image", "image_token_id", "boi_token_index",
                     "eoi_token_index", "image_token_index"}  # fmt: skip
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
