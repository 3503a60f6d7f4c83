#pragma once

#include "core/checkpoint/model/model.h"

namespace headscope::analysis {

/// Returns true if the outputs of attention and MLP add up to the residual stream. Those of models with
/// several copies of it do not: layers predict and correct each copy from the others.
bool has_one_stream(const checkpoint::Model& model);
/// Throws Error(input) if they do not.
void require_one_stream(const checkpoint::Model& model);

/// Whether queries, keys and values are projections of what the attention reads. Those of latent attention
/// are projections of norms of narrower vectors, so that its weights alone do not lead from a token to them.
bool has_direct_projections(const checkpoint::Model& model);
/// Throws Error(input) if they are not.
void require_direct_projections(const checkpoint::Model& model);

/// Returns true if scores have terms by relative position beside the product of query and key.
bool has_relative_terms(const checkpoint::Model& model);

/// Returns true if a gate that depends on the text multiplies the output of heads or of delta layers.
bool has_gates_of_heads(const checkpoint::Model& model);

/// Returns true if the parameters of every head alone say what it reads and writes: projections are direct,
/// no gate on the head outputs depends on the text, every layer has attention, and there is one stream.
bool has_direct_circuits(const checkpoint::Model& model);
/// Throws Error(input) if they do not.
void require_direct_circuits(const checkpoint::Model& model);

} // namespace headscope::analysis
