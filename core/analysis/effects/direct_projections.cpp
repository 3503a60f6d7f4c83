#include "core/analysis/effects/direct_projections.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/graph/model_stages.h"

namespace headscope::analysis {

namespace {

checkpoint::AttentionPlace first_attention(const checkpoint::Model& model) {
    using checkpoint::Stack;
    return {Stack::own, nearest_attention(model.config(), {Stack::own, 0})};
}

} // namespace

bool has_one_stream(const checkpoint::Model& model) {
    return model.config().stream_copies == 1;
}

void require_one_stream(const checkpoint::Model& model) {
    if (!has_one_stream(model))
        fail_input(tr("direct_projections.several_streams",
                      "layers of this {} model mix {} copies of the residual stream, so that it is not a sum "
                      "of what heads and MLPs write; look at the stages of its layers, or measure heads by "
                      "ablation or patching",
                      model.config().family, model.config().stream_copies));
}

bool has_direct_projections(const checkpoint::Model& model) {
    return !model.stages().has_latent_keys(first_attention(model));
}

void require_direct_projections(const checkpoint::Model& model) {
    if (!has_direct_projections(model))
        fail_input(
            tr("direct_projections.from_latent_vectors",
               "queries, keys and values of this {} model come from latent vectors, so that the weights of "
               "a head alone do not say what it reads and writes; choose another model, or measure the "
               "head by its effects",
               model.config().family));
}

bool has_relative_terms(const checkpoint::Model& model) {
    return model.stages().has_relative_terms(first_attention(model));
}

bool has_gates_of_heads(const checkpoint::Model& model) {
    return !model.config().delta_layers.empty() || model.stages().has(first_attention(model), TensorId::gate);
}

bool has_direct_circuits(const checkpoint::Model& model) {
    return has_direct_projections(model) && has_one_stream(model) && !has_gates_of_heads(model);
}

void require_direct_circuits(const checkpoint::Model& model) {
    require_direct_projections(model);
    require_one_stream(model);
    if (!has_direct_circuits(model))
        fail_input(tr("direct_projections.gate_depends_on_text",
                      "in this {} model a gate that depends on the text multiplies each head output, so that "
                      "the parameters of a head alone do not say what it writes; choose another model, or "
                      "measure the head by its effects",
                      model.config().family));
}

} // namespace headscope::analysis
