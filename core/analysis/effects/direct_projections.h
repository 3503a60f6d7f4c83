#pragma once

#include "core/checkpoint/architecture/architecture.h"

namespace headscope::analysis {

/// Whether queries, keys and values are projections of what the attention reads. Those of latent attention
/// are projections of norms of narrower vectors, so that its weights alone do not lead from a token to them.
bool has_direct_projections(const checkpoint::Architecture& architecture);
/// Throws Error(input) if they are not.
void require_direct_projections(const checkpoint::Architecture& architecture);

} // namespace headscope::analysis
