#include "core/export/pytorch_layer.h"

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/checkpoint/model/block_stages.h"

#include <algorithm>
#include <array>
#include <sstream>

namespace headscope::exporting {

namespace {

using checkpoint::WeightId;

/// Weights around attention, by the names of the script.
struct Named {
    WeightId id;
    const char* name;
    const char* axes;
};
constexpr std::array<Named, 12> names{{{WeightId::norm1_weight, "norm1_weight", "D"},
                                       {WeightId::norm1_bias, "norm1_bias", "D"},
                                       {WeightId::norm1_after_weight, "norm1_after_weight", "D"},
                                       {WeightId::norm2_weight, "norm2_weight", "D"},
                                       {WeightId::norm2_bias, "norm2_bias", "D"},
                                       {WeightId::norm2_after_weight, "norm2_after_weight", "D"},
                                       {WeightId::mlp_in, "W_in", "D, d_ff"},
                                       {WeightId::mlp_in_bias, "b_in", "d_ff"},
                                       {WeightId::mlp_gate, "W_gate", "D, d_ff"},
                                       {WeightId::mlp_gate_bias, "b_gate", "d_ff"},
                                       {WeightId::mlp_out, "W_out", "d_ff, D"},
                                       {WeightId::mlp_out_bias, "b_out", "D"}}};

std::string name_of(WeightId id) {
    return std::ranges::find(names, id, &Named::id)->name;
}

std::string activated(checkpoint::Activation activation, const std::string& x) {
    using enum checkpoint::Activation;
    const std::string f = "torch.nn.functional.";
    switch (activation) {
    case gelu:
        return f + "gelu(" + x + ")";
    case gelu_tanh:
        return f + "gelu(" + x + ", approximate=\"tanh\")";
    case gelu_quick:
        return x + " * torch.sigmoid(1.702 * " + x + ")";
    case relu:
        return f + "relu(" + x + ")";
    case relu6:
        return f + "relu6(" + x + ")";
    case relu_square:
        return f + "relu(" + x + ").square()";
    case leaky_relu:
        return f + "leaky_relu(" + x + ", 0.01)";
    case silu:
        return f + "silu(" + x + ")";
    case mish:
        return f + "mish(" + x + ")";
    case tanh:
        return "torch.tanh(" + x + ")";
    case sigmoid:
        return "torch.sigmoid(" + x + ")";
    case linear:
        break;
    }
    return x;
}

std::string norm_definition(const checkpoint::Architecture& architecture) {
    std::ostringstream eps;
    eps.precision(17);
    eps << architecture.norm_eps;
    const bool centres = checkpoint::is_layer_norm(architecture.norm);
    return "\n\ndef norm(rows, weight, bias=0.0):\n" +
           std::string(centres ? "    rows = rows - rows.mean(dim=-1, keepdim=True)\n" : "") +
           "    scale = torch.rsqrt(rows.square().mean(dim=-1, keepdim=True) + " + eps.str() +
           ")\n    return rows * scale * weight + bias\n\n\n";
}

/// Python that writes what the run patches at a stage into it; a stage before the layer holds it already.
std::string patches_of(const checkpoint::BlockTrace& block, TensorId id) {
    std::ostringstream text;
    text.precision(9);
    for (const checkpoint::PatchedRows& patch : block.patched) {
        if (patch.at != id)
            continue;
        const std::int64_t count = patch.rows->shape()[0], width = patch.rows->shape()[1];
        for (std::int64_t row = 0; row < count; ++row) {
            text << tensor_info(id).name << "[0, " << patch.first + row << ", " << patch.column << ":"
                 << patch.column + width << "] " << (patch.added ? "+=" : "=") << " torch.tensor([";
            for (std::int64_t c = 0; c < width; ++c)
                text << (c == 0 ? "" : ", ") << patch.rows->data()[row * width + c];
            text << "])\n";
        }
    }
    return text.str().empty() ? "" : "# Set by hand, or taken from another run.\n" + text.str();
}

/// The Python of one row of block_table().
std::string line_of(const checkpoint::BlockTrace& block, TensorId id) {
    const checkpoint::Architecture& architecture = *block.architecture;
    const std::vector<TensorId> from = checkpoint::made_from(architecture, id, block.place.layer);
    const auto python = [](TensorId tensor) { return std::string(tensor_info(tensor).name); };
    const auto product = [&](WeightId W, WeightId b) {
        return python(from.front()) + " @ " + name_of(W) +
               (block.weights[b] == nullptr ? "" : " + " + name_of(b));
    };
    std::string right;
    if (const auto weights = checkpoint::norm_weights(architecture, id)) {
        const bool bias = weights->bias && block.weights[*weights->bias] != nullptr;
        right = "norm(" + python(from.front()) + ", " + name_of(weights->weight) +
                (bias ? ", " + name_of(*weights->bias) : "") + ")";
    } else if (checkpoint::is_scaled_branch(architecture, id)) {
        std::ostringstream factor;
        factor.precision(17);
        factor << architecture.branch_scale;
        right = factor.str() + " * " + python(from.front());
    } else if (id == TensorId::mlp_pre) {
        right = product(WeightId::mlp_in, WeightId::mlp_in_bias);
    } else if (id == TensorId::mlp_gate) {
        right = product(WeightId::mlp_gate, WeightId::mlp_gate_bias);
    } else if (id == TensorId::mlp_act) {
        right = activated(architecture.activation, python(from.front())) +
                (from.size() > 1 ? " * " + python(from[1]) : "");
    } else if (from.front() == TensorId::mlp_act) {
        right = product(WeightId::mlp_out, WeightId::mlp_out_bias);
    } else {
        right = joined(from, python, " + ");
    }
    const std::string name = python(id);
    // Written into, it must be a tensor of its own.
    const std::string patches = patches_of(block, id);
    if (!patches.empty())
        right = "(" + right + ").clone()";
    return name + " = " + right + "\n" + patches + "print(\"" + name + "\", " + name + ", sep=\"\\n\")\n";
}

} // namespace

ScriptLayer script_layer(const checkpoint::BlockTrace& block) {
    const checkpoint::Architecture& architecture = *block.architecture;
    if (architecture.has_experts(block.place.layer))
        fail_input(
            tr("pytorch_layer.layer_mixture_experts_no",
               "layer {} has a mixture of experts, which scripts do not compute; export its attention alone",
               block.place.layer));
    if (!architecture.has_attention(block.place.layer))
        fail_input(
            tr("pytorch_layer.layer_delta",
               "layer {} has a delta layer in place of attention, which scripts do not compute; export a "
               "layer with attention",
               block.place.layer));
    if (architecture.latent)
        fail_input(
            tr("pytorch_layer.layer_latent_vectors",
               "queries, keys and values of layer {} come from latent vectors, which scripts of a layer do "
               "not compute; export its attention alone",
               block.place.layer));
    ScriptLayer out;
    out.inputs.push_back({"resid_in", axes_text(TensorId::resid_in), block[TensorId::resid_in]});
    for (const Named& named : names)
        if (const TensorPtr& weight = block.weights[named.id])
            out.inputs.push_back({named.name, named.axes, weight});
    const std::vector<TensorId> stages = checkpoint::layer_stages(architecture, block.place);
    const auto attention = std::ranges::find_if(
        stages, [](TensorId id) { return id == TensorId::attn_raw || id == TensorId::attn_out; });
    out.before = norm_definition(architecture);
    for (auto id = stages.begin() + 1; id != attention; ++id)
        out.before += line_of(block, *id);
    out.before += "x = " + std::string(tensor_info(*(attention - 1)).name) + "\n";
    out.after = "\n# Behind attention.\n";
    for (auto id = attention; id != stages.end(); ++id)
        out.after += line_of(block, *id);
    const std::string last(tensor_info(stages.back()).name);
    out.expected.push_back({"expected_" + last, axes_text(stages.back()), block[stages.back()]});
    out.checks = "# Behind attention an error is carried on through norms and the MLP.\n"
                 "checks.append(agrees(\"" +
                 last + "\", " + last + ", expected_" + last + ", 1e-4 * expected_" + last +
                 ".abs().max().item()))\n";
    return out;
}

} // namespace headscope::exporting
