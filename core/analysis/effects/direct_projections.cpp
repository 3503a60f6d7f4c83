#include "core/analysis/effects/direct_projections.h"

#include "core/base/error.h"
#include "core/base/message.h"

namespace headscope::analysis {

bool has_one_stream(const checkpoint::Architecture& architecture) {
    return !architecture.copies;
}

void require_one_stream(const checkpoint::Architecture& architecture) {
    if (!has_one_stream(architecture))
        fail_input(tr("direct_projections.several_streams",
                      "layers of this {} model mix {} copies of the residual stream, so that it is not a sum "
                      "of what heads and MLPs write; look at the stages of its layers, or measure heads by "
                      "ablation or patching",
                      architecture.family, architecture.copies->count));
}

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
    return has_direct_projections(architecture) && has_one_stream(architecture) &&
           !architecture.has_gated_heads() && !architecture.delta;
}

void require_direct_circuits(const checkpoint::Architecture& architecture) {
    require_direct_projections(architecture);
    require_one_stream(architecture);
    if (!has_direct_circuits(architecture))
        fail_input(tr("direct_projections.gate_depends_on_text",
                      "in this {} model a gate that depends on the text multiplies each head output, so that "
                      "the parameters of a head alone do not say what it writes; choose another model, or "
                      "measure the head by its effects",
                      architecture.family));
}

} // namespace headscope::analysis
