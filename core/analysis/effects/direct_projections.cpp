#include "core/analysis/effects/direct_projections.h"

#include "core/base/error.h"
#include "core/base/message.h"

namespace headscope::analysis {

bool has_direct_projections(const checkpoint::Architecture& architecture) {
    return !architecture.latent;
}

void require_direct_projections(const checkpoint::Architecture& architecture) {
    if (!has_direct_projections(architecture))
        fail_input(
            tr("direct_projections.from_latent_vectors",
               "queries, keys and values of this {} model come from latent vectors, so that the weights of "
               "a head alone do not say what it reads and writes; choose another model, or measure the "
               "head by its effects",
               architecture.family));
}

bool has_direct_circuits(const checkpoint::Architecture& architecture) {
    return has_direct_projections(architecture) && !architecture.has_gated_heads() && !architecture.delta;
}

void require_direct_circuits(const checkpoint::Architecture& architecture) {
    require_direct_projections(architecture);
    if (!has_direct_circuits(architecture))
        fail_input(tr("direct_projections.gate_depends_on_text",
                      "in this {} model a gate that depends on the text multiplies each head output, so that "
                      "the parameters of a head alone do not say what it writes; choose another model, or "
                      "measure the head by its effects",
                      architecture.family));
}

} // namespace headscope::analysis
