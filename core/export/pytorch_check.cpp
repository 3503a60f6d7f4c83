#include "core/export/pytorch_steps.h"
#include "core/graph/ops/common.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace headscope::exporting {

namespace {

/// The attention of a part: a view of its nodes.
class AttentionView {
public:
    AttentionView(const ScriptPart& part, const ScriptVariables& variables)
        : part_(part), variables_(variables) {}

    const graph::Node& node(std::string_view name) const { return part_.graph.node(*variables_.find(name)); }
    bool has(std::string_view name) const { return variables_.has(name); }
    std::int64_t size(std::string_view name, int axis) const { return node(name).axes.size(axis); }
    /// The source of keys and values.
    std::string source() const { return has("x_kv") ? "x_kv" : "x"; }
    bool has_bias() const { return has("b_Q") || has("b_K") || has("b_V") || has("b_O"); }
    const graph::Mask& mask() const { return std::get<graph::Mask>(node("masked").attributes); }
    const std::string& mask_input(std::size_t input) const {
        return variables_.of(node("masked").inputs[input].node);
    }
    const graph::Axes& mask_axes(std::size_t input) const {
        return part_.graph.node(node("masked").inputs[input].node).axes;
    }
    /// Returns true if the rows of heads are columns of q and k, without norms and rotation.
    bool heads_are_columns() const {
        return !has("q_normed") && node("q_heads").op == graph::Op::split_heads;
    }
    std::string score_scale() const {
        return has("temperature") ? "(math.sqrt(dk) * temperature)" : "math.sqrt(dk)";
    }

private:
    const ScriptPart& part_;
    const ScriptVariables& variables_;
};

/// The batch entries and queries whose weights are 0 in some head.
std::set<std::pair<std::int64_t, std::int64_t>> empty_rows(const Tensor& weights) {
    std::set<std::pair<std::int64_t, std::int64_t>> rows;
    const Shape& shape = weights.shape();
    const std::int64_t Tk = shape[3];
    for (std::int64_t row = 0; row < shape.count() / Tk; ++row)
        if (std::ranges::all_of(
                weights.values().subspan(static_cast<std::size_t>(row * Tk), static_cast<std::size_t>(Tk)),
                [](float weight) { return weight == 0.0F; }))
            rows.emplace(row / (shape[1] * shape[2]), row % shape[2]);
    return rows;
}

const Tensor& expected_weights(const ScriptPart& part, const ScriptVariables& variables) {
    return *part.of(*variables.find("weights"));
}

/// The sum of the magnitudes of the products of x W + b: "x.abs() @ W_Q.abs() + b_Q.abs()"
std::string magnitude(const AttentionView& attention, const std::string& from, const std::string& letter) {
    return from + ".abs() @ W_" + letter + ".abs()" +
           (attention.has("b_" + letter) ? " + b_" + letter + ".abs()" : "");
}

bool is_among(const graph::Axes& axes, std::string_view first, std::string_view second) {
    return std::ranges::all_of(
        axes, [&](const graph::Axis& axis) { return axis.name == first || axis.name == second; });
}

bool only_padding(const AttentionView& attention) {
    const graph::Mask& mask = attention.mask();
    return mask.allows && !mask.adds && !mask.limits_positions() &&
           is_among(attention.mask_axes(1), "B", "Tk");
}

/// The mask as the module wants it; empty if there is none.
std::string module_mask(const AttentionView& attention) {
    const graph::Node& masked = attention.node("masked");
    const graph::Mask& mask = attention.mask();
    if (!mask.limits_positions() && masked.inputs.size() == 1)
        return "";
    if (only_padding(attention))
        return "# Its boolean masks are True where a key may not be read.\nkey_padding_mask = ~" +
               attention.mask_input(1) + ".expand(B, Tk)\n";
    bool one_matrix = true; // for every batch entry and head
    for (std::size_t input = 1; input < masked.inputs.size(); ++input)
        one_matrix = one_matrix && is_among(attention.mask_axes(input), "Tq", "Tk");
    const std::string matrices = one_matrix ? "[0, 0]\n" : ".reshape(B * H, Tq, Tk)\n";
    if (!mask.adds)
        return "# Its boolean masks are True where a key may not be read.\nattn_mask = (masked == "
               "-math.inf)" +
               matrices;
    return "# One mask of numbers to add, minus infinity where a key may not be read.\nattn_mask = " +
           attention.mask_input(1) + graph::ops::python_repeated(attention.mask_axes(1), masked.axes) +
           ".expand(B, H, Tq, Tk).masked_fill(masked == -math.inf, -math.inf)" + matrices;
}

/// The name of a bias; zeros of width D for one that is missing.
std::string bias_or_zero(const AttentionView& attention, const char* name) {
    return attention.has(name) ? name : "torch.zeros(D)";
}

std::string module_weights(const AttentionView& attention, bool packed) {
    std::string out =
        packed
            ? "    \"in_proj_weight\": torch.cat([W_Q.T, W_K.T, W_V.T]),\n"
            : "    \"q_proj_weight\": W_Q.T,\n    \"k_proj_weight\": W_K.T,\n    \"v_proj_weight\": W_V.T,\n";
    out += "    \"out_proj.weight\": W_O.T,\n";
    if (attention.has_bias())
        out += "    \"in_proj_bias\": torch.cat([" + bias_or_zero(attention, "b_Q") + ", " +
               bias_or_zero(attention, "b_K") + ", " + bias_or_zero(attention, "b_V") +
               "]),\n    \"out_proj.bias\": " + bias_or_zero(attention, "b_O") + ",\n";
    return out;
}

constexpr const char* tolerance_reason = R"(
# How far apart may two right answers lie? Headscope and PyTorch round every number to 24 bits and add products in
# different orders, so that a sum is off by about 2**-24 of what its products add up to in magnitude. `score_error`
# carries that into the scaled scores. An error e there changes a weight by a factor of up to exp(2 e): with large scores
# weights are known less well, in any program. On top, 1e-5 of the largest magnitude is granted.
)";

constexpr const char* stretch_text = R"(

def stretch(columns, heads):
    rows = columns.norm(dim=-1, keepdim=True).clamp_min(1e-30)
    return heads.transpose(1, 2).norm(dim=-1, keepdim=True) / rows


)";

constexpr const char* agrees_text = R"(

def agrees(name, got, expected, tolerance):
    """Prints the largest difference. NaN does not agree."""
    difference = (got - expected).abs().max().item() if got.shape == expected.shape else math.nan
    print(f"{name}: largest difference {difference:.3g}, tolerance {tolerance:.3g}")
    return difference <= tolerance


)";

/// The part of score_error that the terms by relative position add, before the division.
std::string term_errors(const AttentionView& attention) {
    std::string out;
    for (const auto& [term, positions, of] :
         {std::tuple{"c2p", "pos_keys", "q"}, {"p2c", "pos_queries", "k"}}) {
        if (!attention.has(term))
            continue;
        const graph::Node& made = attention.node(positions);
        const std::string R = made.inputs[0].name, W = made.inputs[1].name,
                          bias = made.inputs.size() > 2 ? " + " + made.inputs[2].name + ".abs()" : "",
                          rows = std::string(positions) + ".reshape(-1, H, dk)";
        out += "position_terms = (" + R + ".abs() @ " + W + ".abs()" + bias +
               ").reshape(-1, H, dk)\nscore_error += u * (longest(" + of + "_terms) * longest(" + rows +
               ") + longest(" + of + "_heads) * longest(position_terms))\n";
    }
    return out;
}

/// weights_tolerance and output_tolerance.
std::string tolerances(const AttentionView& attention) {
    const std::string from = attention.source();
    const bool columns = attention.heads_are_columns(), gains = attention.has("gain");
    std::string out = tolerance_reason;
    if (!columns)
        out += stretch_text;
    out +=
        "u = 2.0**-24\nq_terms = (" + magnitude(attention, "x", "Q") +
        ").reshape(B, Tq, H, dk)\nk_terms = (" + magnitude(attention, from, "K") +
        ").reshape(B, Tk, Hkv, dk)\nv_terms = " + magnitude(attention, from, "V") + "\n" +
        (columns ? ""
                 : "# What is done to the rows of a head stretches their errors as it stretches the rows.\n"
                   "q_terms = q_terms * stretch(q.reshape(B, Tq, H, dk), q_heads)\n"
                   "k_terms = k_terms * stretch(k.reshape(B, Tk, Hkv, dk), k_heads)\n") +
        R"(


def longest(rows):
    return rows.norm(dim=-1).max().item()


score_error = u * (longest(q_terms) * longest(k_heads) + longest(q_heads) * longest(k_terms))
)" + term_errors(attention) +
        "score_error /= " + attention.score_scale() + "\n";
    if (attention.mask().adds)
        out += "score_error += u * torch.nan_to_num(" + attention.mask_input(1) +
               ", neginf=0.0).abs().max().item()\n";
    const std::string shared = attention.size("q_heads", 1) == attention.size("k_heads", 1)
                                   ? ""
                                   : ".repeat_interleave(H // Hkv, dim=1)";
    return out +
           "weights_tolerance = 1e-5 + 2 * score_error\n"
           "# Of each head, the most that one key can add to a number of the output.\n"
           "swing = (v_heads" +
           shared + " @ W_O.reshape(H, dv, D)).abs().amax(dim=(0, 2, 3))" + (gains ? " * gain.abs()" : "") +
           "\n"
           "sums = (v_terms.max() * W_O.abs().sum(dim=0).max()" +
           (gains ? " * gain.abs().max()" : "") + (attention.has("b_O") ? " + b_O.abs().max()" : "") +
           ").item()\n"
           "output_tolerance = 1e-5 * expected_output.abs().max().item() + 2 * score_error * "
           "swing.sum().item() + u * sums\n";
}

/// The comparison with what the module computed.
std::string module_checks(const ScriptPart& part, const ScriptVariables& variables) {
    std::string out, rows;
    if (!empty_rows(expected_weights(part, variables)).empty()) {
        rows = "[open_rows]";
        out += "# The module gives NaN to a query that may attend to nothing; those rows are left out.\n"
               "open_rows = ~closed.any(dim=1).squeeze(-1)  # (B, Tq)\n";
    }
    const std::string by_row = rows.empty() ? "" : ".transpose(1, 2)" + rows;
    return out + "checks += [\n    agrees(\"weights of torch.nn.MultiheadAttention\", module_weights" +
           by_row + ", expected_weights" + by_row +
           ", weights_tolerance),\n    agrees(\"output of torch.nn.MultiheadAttention\", module_output" +
           rows + ", expected_output" + rows + ", output_tolerance),\n]\n";
}

} // namespace

bool has_one_attention(const ScriptPart& part, const ScriptVariables& variables) {
    return part.kind != ScriptPart::Kind::model && variables.has("weights");
}

bool fits_torch_module(const ScriptPart& part, const ScriptVariables& variables) {
    if (!has_one_attention(part, variables))
        return false;
    const AttentionView attention(part, variables);
    const graph::Axes &q = attention.node("q_heads").axes, &k = attention.node("k_heads").axes,
                      &v = attention.node("v_heads").axes;
    const std::int64_t D = attention.size("output", 2);
    const graph::Node& scaled = attention.node("scaled");
    if (k.size(1) != q.size(1) || v.size(3) != q.size(3) || q.size(1) * q.size(3) != D ||
        attention.size("W_Q", 0) != D || attention.has("gain") || !attention.heads_are_columns())
        return false;
    if (attention.has("temperature") || attention.has("c2p") || attention.has("p2c") ||
        scaled.op != graph::Op::scale || std::get<graph::Scale>(scaled.attributes).factor != 1 ||
        attention.has("sink") || std::get<graph::Linear>(attention.node("q").attributes).limit != 0)
        return false;
    const Shape& rows = attention.node("weights").axes.shape();
    return std::ssize(empty_rows(expected_weights(part, variables))) < rows[0] * rows[2];
}

std::string script_module(const ScriptPart& part, const ScriptVariables& variables) {
    const AttentionView attention(part, variables);
    const bool packed = attention.size("W_K", 0) == attention.size("output", 2);
    std::string out =
        "\n# The same with PyTorch's module. It computes x W^T: its matrices are the transposes of ours";
    out += packed ? ", those of Q, K and V\n# stacked.\n" : ".\n";
    const std::string mask = module_mask(attention), from = attention.source();
    out += mask + "mha = torch.nn.MultiheadAttention(D, H, bias=" +
           std::string(attention.has_bias() ? "True" : "False") + (packed ? "" : ", kdim=Dkv, vdim=Dkv") +
           ", batch_first=True)\nmha.load_state_dict({\n" + module_weights(attention, packed) + "})\n";
    out +=
        "with torch.no_grad():\n    module_output, module_weights = mha(\n        x, " + from + ", " + from;
    if (!mask.empty())
        out += only_padding(attention) ? ", key_padding_mask=key_padding_mask" : ", attn_mask=attn_mask";
    return out + ", need_weights=True, average_attn_weights=False\n    )\n";
}

std::string script_comparison(const ScriptPart& part, const ScriptVariables& variables, bool with_module) {
    std::string out;
    const bool has_attention = has_one_attention(part, variables);
    if (has_attention)
        out += tolerances(AttentionView(part, variables));
    if (part.kind != ScriptPart::Kind::attention)
        out += "\n# Errors of rounding are carried on through norms and the MLP.\ndrift = 1e-4\n";
    out += agrees_text;
    out += "checks = [\n";
    for (const graph::NodeId id : part.compared) {
        const std::string& name = variables.of(id);
        const bool of_attention = has_attention && (name == "weights" || name == "output");
        out += "    agrees(\"" + name + "\", " + name + ", expected_" + name + ", " +
               (of_attention ? name + "_tolerance" : "drift * expected_" + name + ".abs().max().item()") +
               "),\n";
    }
    out += "]\n";
    if (with_module)
        out += module_checks(part, variables);
    return out + R"(if not all(checks):
    sys.exit("These are not the numbers that Headscope computed.")
print("These are the numbers that Headscope computed.")
)";
}

} // namespace headscope::exporting
