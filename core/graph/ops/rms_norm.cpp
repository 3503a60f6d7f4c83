#include "core/base/message.h"
#include "core/graph/ops/ops.h"
#include "core/graph/ops/row_norm.h"

namespace headscope::graph::ops {

namespace {

/// Inputs: x (..., D), and optionally weight (D). x / sqrt(mean of x² + eps) * weight (Zhang and Sennrich
/// 2019, "Root Mean Square Layer Normalization").
class RmsNorm final : public RowNorm {
public:
    RmsNorm() : RowNorm(false) {}
    std::string_view name() const override { return "rms_norm"; }
    std::string formula(const Call& call, const Names& names) const override {
        return names.out + " = " + names.in[0] + " ÷ √(" + tr("graph.mean_square", "mean of its squares") +
               " + ε)" + (call.has(1) ? " · " + names.in[1] : "");
    }
    std::string pytorch(const Call& call, const Names& names) const override {
        const std::string& x = names.in[0];
        return names.out + " = " + x + " * torch.rsqrt(" + x + ".square().mean(dim=-1, keepdim=True) + " +
               number_text(call.as<Norm>().eps) + ")" + (call.has(1) ? " * " + names.in[1] : "") + "\n";
    }
};

} // namespace

const Operation& rms_norm() {
    static const RmsNorm operation;
    return operation;
}

} // namespace headscope::graph::ops
