#include "core/base/message.h"
#include "core/graph/ops/ops.h"
#include "core/graph/ops/row_norm.h"

namespace headscope::graph::ops {

namespace {

/// Inputs: x (..., D), and optionally weight (D) and bias (D). (x - mean) / sqrt(variance + eps) * weight +
/// bias (Ba et al. 2016, "Layer Normalization").
class LayerNorm final : public RowNorm {
public:
    LayerNorm() : RowNorm(true) {}
    std::string_view name() const override { return "layer_norm"; }
    std::string formula(const Call& call, const Names& names) const override {
        return names.out + " = (" + names.in[0] + " − " + tr("graph.mean", "mean") + ") ÷ √(" +
               tr("graph.variance", "variance") + " + ε)" + (call.has(1) ? " · " + names.in[1] : "") +
               (call.has(2) ? " + " + names.in[2] : "");
    }
    std::string pytorch(const Call& call, const Names& names) const override {
        return names.out + " = torch.nn.functional.layer_norm(" + names.in[0] + ", " + names.in[0] +
               ".shape[-1:], " + (call.has(1) ? names.in[1] : "None") + ", " +
               (call.has(2) ? names.in[2] : "None") + ", " + number_text(call.as<Norm>().eps) + ")\n";
    }
};

} // namespace

const Operation& layer_norm() {
    static const LayerNorm operation;
    return operation;
}

} // namespace headscope::graph::ops
