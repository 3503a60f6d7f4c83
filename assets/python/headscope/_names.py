"""Names of activations: those of `headscope trace`, and hook names of TransformerLens."""

from __future__ import annotations

import re
from typing import NamedTuple, Optional, Tuple

# Hook names of a block, and the stages that hold the same numbers; the first stage that the model has is taken. An RMSNorm
# has hook_normalized before its weight in TransformerLens; the stages of norms include the weight.
_OF_BLOCK = {
    "hook_resid_pre": ("resid_in",),
    "hook_resid_mid": ("resid_mid",),
    "hook_resid_post": ("resid_out",),
    "hook_attn_out": ("attn_out",),
    "hook_mlp_out": ("mlp_out",),
    "ln1.hook_normalized": ("norm1",),
    "ln2.hook_normalized": ("norm2",),
    "attn.hook_q": ("q",),
    "attn.hook_k": ("k",),
    "attn.hook_v": ("v_heads",),
    "attn.hook_rot_q": ("q_heads",),
    "attn.hook_rot_k": ("k_heads",),
    "attn.hook_attn_scores": ("masked",),
    "attn.hook_pattern": ("weights",),
    "attn.hook_z": ("head_out",),
    "attn.hook_result": ("contributions",),
    "mlp.hook_pre": ("mlp_gate", "mlp_pre"),  # a gated MLP: its activation function reads mlp_gate
    "mlp.hook_pre_linear": ("mlp_pre",),
    "mlp.hook_post": ("mlp_act",),
}
_OF_MODEL = {"hook_embed": "embedding", "hook_pos_embed": "position", "ln_final.hook_normalized": "final_norm"}
_STACKS = ("", "decoder.")  # before the names of a model, and of an encoder-decoder if a name has no stack
_BY_HEAD = ("attn.hook_q", "attn.hook_k")  # joined in trace, split into heads by TransformerLens


class Wanted(NamedTuple):
    """An activation of a run."""

    tensors: Tuple[str, ...]  # its names in a file of trace; the first one that is there is taken
    stages: Tuple[str, ...]  # for --stages; empty: every file of trace has it
    layer: Optional[int]
    by_head: bool = False  # to be split into heads: (B, H, T, dk)


def wanted(name: str) -> Wanted:
    """Returns the activation of a name. Raises ValueError for a name of another form."""
    if not isinstance(name, str):
        raise TypeError(f"an activation is named by a text such as layers.3.mlp_act, not by {type(name).__name__}")
    hook = re.fullmatch(r"blocks\.(\d+)\.(.+)", name)
    if hook:
        layer, point = int(hook[1]), hook[2]
        if point not in _OF_BLOCK:
            raise ValueError(f"there is no hook {name} here; known for blocks.{layer}. are {', '.join(_OF_BLOCK)}")
        stages = _OF_BLOCK[point]
        tensors = (f"{stack}layers.{layer}.{stage}" for stage in stages for stack in _STACKS)
        return Wanted(tuple(tensors), stages, layer, point in _BY_HEAD)
    name = _OF_MODEL.get(name, name)
    if name == "logits" or re.fullmatch(r"((encoder|decoder)\.)?hidden\.\d+", name):
        return Wanted((name,), (), None)
    of_layer = re.fullmatch(r"(?:(?:encoder|decoder|cross)\.)?layers\.(\d+)\.([\w.]+)", name)
    if of_layer:
        stage = "weights" if of_layer[2] == "sink" else of_layer[2]  # both are written together
        return Wanted((name,), (stage,), int(of_layer[1]))
    around = re.fullmatch(r"(?:(?:encoder|decoder)\.)?([a-z_]+)", name)
    if around:
        return Wanted((name,) if "." in name else tuple(stack + name for stack in _STACKS), (around[1],), None)
    raise ValueError(f'"{name}" is not the name of an activation; write for example layers.3.mlp_act or blocks.3.mlp.hook_post')
