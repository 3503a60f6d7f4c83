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

} // namespace headscope::analysis
