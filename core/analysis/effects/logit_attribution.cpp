#include "core/analysis/effects/logit_attribution.h"

#include "core/base/error.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace headscope::analysis {

namespace {

using checkpoint::WeightId;
using Vector = Eigen::VectorXd;
using Writer = LogitPart::Writer;

/// D numbers of a tensor from an offset on.
Vector numbers(const Tensor& tensor, std::int64_t first, std::int64_t count) {
    return Eigen::Map<const Eigen::VectorXf>(tensor.data() + first, count).cast<double>();
}

void require_plain(const checkpoint::Architecture& architecture, const checkpoint::Model& model) {
    if (architecture.norms.after_branch || architecture.norms.after_sum || !architecture.final_norm ||
        model.weight(WeightId::head_dense) != nullptr)
        fail_input(model.path() + " is a " + architecture.family +
                   " model, whose heads do not write straight into what the head reads; attribution to "
                   "logits needs norms before the branches and one before the head");
}

const Tensor& stage(const checkpoint::ForwardResult& run, std::int64_t l, TensorId id) {
    return *std::ranges::find_if(run.blocks, [&](const checkpoint::BlockRun& block) {
                return block.place.layer == l && block.id == id;
            })->tensor;
}

} // namespace

std::vector<LogitPart> logit_attribution(const checkpoint::Model& model, const checkpoint::ForwardResult& run,
                                         std::int64_t position, std::int64_t token,
                                         std::optional<std::int64_t> against) {
    const checkpoint::Architecture& architecture = model.architecture();
    require_plain(architecture, model);
    const std::int64_t D = architecture.D;
    const auto row = [&](const Tensor& of) { return numbers(of, position * D, D); };
    const auto weights_of = [&](std::int64_t l) {
        return checkpoint::with_edits(checkpoint::editable_weights(model, l),
                                      checkpoint::edits_of(run.edits, l));
    };
    const checkpoint::WeightSet last_layer = weights_of(architecture.layers - 1);
    const auto weight = [&](WeightId id) {
        return last_layer[id] == nullptr ? model.weight(id) : last_layer[id];
    };

    const TensorPtr table = weight(WeightId::output_table);
    Vector direction = numbers(*table, token * D, D);
    if (against)
        direction -= numbers(*table, *against * D, D);
    std::vector<LogitPart> parts;
    if (const TensorPtr bias = weight(WeightId::final_norm_bias))
        parts.push_back({.writer = Writer::norm_bias, .value = numbers(*bias, 0, D).dot(direction)});
    if (const TensorPtr bias = weight(WeightId::output_bias)) {
        const auto at = [&](std::int64_t id) { return static_cast<double>(bias->data()[id]); };
        parts.push_back({.writer = Writer::head_bias, .value = at(token) - (against ? at(*against) : 0.0)});
    }
    // What a writer adds to the residual stream meets the norm's weight, its scale and the direction.
    const bool centred = architecture.norm == checkpoint::NormKind::layer;
    Vector last = row(stage(run, architecture.layers - 1, TensorId::resid_out));
    if (centred)
        last.array() -= last.mean();
    if (const TensorPtr gamma = weight(WeightId::final_norm_weight))
        direction.array() *= numbers(*gamma, 0, D).array();
    direction /= std::sqrt(last.squaredNorm() / static_cast<double>(D) + architecture.norm_eps);
    if (centred)
        direction.array() -= direction.mean();

    const auto add = [&](Writer writer, std::int64_t layer, std::int64_t head, const Vector& written) {
        parts.push_back({writer, layer, head, written.dot(direction)});
    };
    add(Writer::embedding, -1, -1, row(stage(run, 0, TensorId::resid_in)));
    for (std::int64_t l = 0; l < architecture.layers; ++l) {
        const checkpoint::LayerRun& layer = run.layers[static_cast<std::size_t>(l)];
        const Tensor& written = *layer.trace.stage(TensorId::contributions);
        for (std::int64_t h = 0; h < architecture.H; ++h)
            add(Writer::head, l, h, numbers(written, written.offset(0, h, position, 0), D));
        if (const TensorPtr bias = weights_of(l)[WeightId::b_O])
            add(Writer::output_bias, l, -1, numbers(*bias, 0, D));
        add(Writer::mlp, l, -1, row(stage(run, l, TensorId::mlp_out)));
    }
    return parts;
}

} // namespace headscope::analysis
