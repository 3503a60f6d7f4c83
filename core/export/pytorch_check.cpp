#include "core/export/pytorch_steps.h"
#include "core/export/pytorch_terms.h"

namespace headscope::exporting {

namespace {

/// What the products of x W + b add up to in magnitude: "x.abs() @ W_Q.abs() + b_Q.abs()"
std::string magnitude(const std::string& from, const std::string& letter, const TensorPtr& bias) {
    return from + ".abs() @ W_" + letter + ".abs()" + (bias != nullptr ? " + b_" + letter + ".abs()" : "");
}

bool only_padding(const Mask& mask) {
    return std::ranges::all_of(
        mask, [](const MaskRule& rule) { return std::holds_alternative<KeyPaddingMask>(rule); });
}

/// Whether the mask is the same for every batch entry and head.
bool same_everywhere(const Mask& mask) {
    const auto one_matrix = [](const Shape& shape) {
        return (shape.rank() < 3 || shape.back(2) == 1) && (shape.rank() < 4 || shape.back(3) == 1);
    };
    return std::ranges::all_of(mask, [&](const MaskRule& rule) {
        if (const auto* additive = std::get_if<AdditiveMask>(&rule))
            return one_matrix(additive->add->shape());
        if (const auto* explicit_mask = std::get_if<ExplicitMask>(&rule))
            return one_matrix(explicit_mask->allowed->shape);
        return !std::holds_alternative<KeyPaddingMask>(rule);
    });
}

/// The mask as the module wants it.
std::string module_mask(const Mask& mask) {
    if (mask.empty())
        return "";
    if (only_padding(mask))
        return "# Its boolean masks are True where a key may not be read.\n"
               "key_padding_mask = ~allowed.expand(B, 1, Tq, Tk)[:, 0, 0]  # (B, Tk)\n";
    const bool adds = has_rule<AdditiveMask>(mask);
    std::string out = adds ? "# One mask of numbers to add, minus infinity where a key may not be read.\n"
                           : "# Its boolean masks are True where a key may not be read.\n";
    out += adds ? "attn_mask = add.masked_fill(~allowed, -inf)" : "attn_mask = (~allowed)";
    return out +
           (same_everywhere(mask) ? ".reshape(Tq, Tk)\n" : ".expand(B, H, Tq, Tk).reshape(B * H, Tq, Tk)\n");
}

std::string bias_or_zero(const char* name, const TensorPtr& bias, const char* width) {
    return bias != nullptr ? name : "torch.zeros(" + std::string(width) + ")";
}

std::string module_weights(const Problem& problem) {
    const Weights& w = problem.weights;
    const bool packed = problem.dims.Dkv == problem.dims.D;
    std::string out =
        packed
            ? "    \"in_proj_weight\": torch.cat([W_Q.T, W_K.T, W_V.T]),\n"
            : "    \"q_proj_weight\": W_Q.T,\n    \"k_proj_weight\": W_K.T,\n    \"v_proj_weight\": W_V.T,\n";
    out += "    \"out_proj.weight\": W_O.T,\n";
    if (w.b_Q != nullptr || w.b_K != nullptr || w.b_V != nullptr || w.b_O != nullptr)
        out += "    \"in_proj_bias\": torch.cat([" + bias_or_zero("b_Q", w.b_Q, "D") + ", " +
               bias_or_zero("b_K", w.b_K, "D") + ", " + bias_or_zero("b_V", w.b_V, "D") +
               "]),\n    \"out_proj.bias\": " + bias_or_zero("b_O", w.b_O, "D") + ",\n";
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

} // namespace

std::string script_module(const Problem& problem) {
    const Weights& w = problem.weights;
    const bool bias = w.b_Q != nullptr || w.b_K != nullptr || w.b_V != nullptr || w.b_O != nullptr;
    const bool packed = problem.dims.Dkv == problem.dims.D;
    std::string out =
        "\n# The same with PyTorch's module. It computes x W^T: its matrices are the transposes of ours";
    out += packed ? ", those of Q, K and V\n# stacked.\n" : ".\n";
    out += module_mask(problem.mask);
    out += "mha = torch.nn.MultiheadAttention(D, H, bias=" + std::string(bias ? "True" : "False") +
           (packed ? "" : ", kdim=Dkv, vdim=Dkv") + ", batch_first=True)\nmha.load_state_dict({\n" +
           module_weights(problem) + "})\n";
    const std::string from = source_name(problem);
    out +=
        "with torch.no_grad():\n    module_output, module_weights = mha(\n        x, " + from + ", " + from;
    if (!problem.mask.empty())
        out += only_padding(problem.mask) ? ", key_padding_mask=key_padding_mask" : ", attn_mask=attn_mask";
    return out + ", need_weights=True, average_attn_weights=False\n    )\n";
}

std::string script_comparison(const Problem& problem, const Trace& trace, bool with_module,
                              const std::string& more_checks) {
    const Weights& w = problem.weights;
    const std::string from = source_name(problem);
    std::string out = tolerance_reason;
    if (!heads_are_columns(problem.parts()))
        out += stretch_text;
    out += "u = 2.0**-24\n"
           "q_terms = (" +
           magnitude("x", "Q", w.b_Q) + ").reshape(B, Tq, H, dk)\nk_terms = (" + magnitude(from, "K", w.b_K) +
           ").reshape(B, Tk, Hkv, dk)\nv_terms = " + magnitude(from, "V", w.b_V) + "\n" +
           (heads_are_columns(problem.parts())
                ? ""
                : "# What is done to the rows of a head stretches their errors as it stretches the rows.\n"
                  "q_terms = q_terms * stretch(q.reshape(B, Tq, H, dk), q_heads)\n"
                  "k_terms = k_terms * stretch(k.reshape(B, Tk, Hkv, dk), k_heads)\n") +
           R"(


def longest(rows):
    return rows.norm(dim=-1).max().item()


score_error = u * (longest(q_terms) * longest(k_heads) + longest(q_heads) * longest(k_terms))
score_error /= )" +
           score_scale(problem) + "\n";
    if (has_rule<AdditiveMask>(problem.mask))
        out += "score_error += u * torch.nan_to_num(add, neginf=0.0).abs().max().item()\n";
    const std::string gains = any_gain(problem) ? " * gains.abs()" : "";
    const std::string largest_gain = any_gain(problem) ? " * gains.abs().max()" : "";
    out += "weights_tolerance = 1e-5 + 2 * score_error\n"
           "# Of each head, the most that one key can add to a number of the output.\n"
           "swing = (" +
           each_head(problem, "v") + " @ W_O.reshape(H, dv, D)).abs().amax(dim=(0, 2, 3))" + gains +
           "\n"
           "sums = (v_terms.max() * W_O.abs().sum(dim=0).max()" +
           largest_gain + (w.b_O != nullptr ? " + b_O.abs().max()" : "") +
           ").item()\n"
           "output_tolerance = 1e-5 * expected_output.abs().max().item() + 2 * score_error * "
           "swing.sum().item() + u * sums\n";
    out += R"(

def agrees(name, got, expected, tolerance):
    """Prints the largest difference. NaN does not agree."""
    difference = (got - expected).abs().max().item() if got.shape == expected.shape else math.nan
    print(f"{name}: largest difference {difference:.3g}, tolerance {tolerance:.3g}")
    return difference <= tolerance


checks = [
    agrees("weights", weights, expected_weights, weights_tolerance),
    agrees("output", output, expected_output, output_tolerance),
]
)";
    if (with_module) {
        std::string rows;
        if (!trace.fully_masked.empty()) {
            rows = "[open_rows]";
            out += "# The module gives NaN to a query that may attend to nothing; those rows are left out.\n"
                   "open_rows = ~closed.any(dim=1).squeeze(-1)  # (B, Tq)\n";
        }
        const std::string by_row = rows.empty() ? "" : ".transpose(1, 2)" + rows;
        out += "checks += [\n    agrees(\"weights of torch.nn.MultiheadAttention\", module_weights" + by_row +
               ", expected_weights" + by_row +
               ", weights_tolerance),\n    agrees(\"output of torch.nn.MultiheadAttention\", module_output" +
               rows + ", expected_output" + rows + ", output_tolerance),\n]\n";
    }
    return out + more_checks + R"(if not all(checks):
    sys.exit("These are not the numbers that Headscope computed.")
print("These are the numbers that Headscope computed.")
)";
}

} // namespace headscope::exporting
