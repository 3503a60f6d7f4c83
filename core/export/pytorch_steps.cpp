#include "core/export/pytorch_steps.h"

#include "core/base/joined.h"
#include "core/base/overloaded.h"
#include "core/export/pytorch_terms.h"
#include "core/export/pytorch_values.h"
#include "core/format/number_text.h"

namespace headscope::exporting {

namespace {

std::string literal(float value) {
    std::string text;
    format::append_number(text, value);
    return text;
}

/// "x @ W_Q + b_Q"
std::string projection(const std::string& from, const std::string& letter, const TensorPtr& bias) {
    return from + " @ W_" + letter + (bias != nullptr ? " + b_" + letter : "");
}

/// What the lines of rotated stages call.
constexpr const char* rotation_text = R"(
# Rotary position embedding (Su et al. 2021, "RoFormer"): queries and keys are turned by their positions, literal c of
# a head together with literal c + dk/2.
def turned(t):
    first, second = t.chunk(2, dim=-1)
    return t * cos.unsqueeze(1) + torch.cat([-second, first], dim=-1) * sin.unsqueeze(1)


)";

/// The rows of each head of queries, keys and values.
std::string heads_text(const ProblemParts& parts) {
    std::string out = parts.rotary ? rotation_text : "\n";
    out += "# A head of its own for each run of columns.\n";
    for (const TensorInfo& stage : stage_table())
        if (!stage.verb.empty() && has_tensor(stage.id, parts))
            out += pytorch_of(stage.id, parts) + "\n";
    return out;
}

std::string sharing_text(const Dims& dims) {
    if (dims.Hkv == dims.H)
        return "";
    return std::string("\n# ") +
           (dims.Hkv == 1
                ? "Multi-query attention (Shazeer 2019): all query heads share one key/value head.\n"
                : "Grouped-query attention (Ainslie et al. 2023): H / Hkv query heads share a key/value "
                  "head.\n") +
           "k_shared = k_heads.repeat_interleave(H // Hkv, dim=1)\n"
           "v_shared = v_heads.repeat_interleave(H // Hkv, dim=1)\n";
}

std::string masked_text(const Problem& problem) {
    const bool adds = has_rule<AdditiveMask>(problem.mask);
    const std::string masked = problem.mask.empty()
                                   ? "masked = scaled  # no mask\n"
                                   : std::string("masked = ") + (adds ? "(scaled + add)" : "scaled") +
                                         ".masked_fill(~allowed, -inf)\n";
    if (problem.parts().sink)
        return masked + R"(
# Each head's sink takes part in the softmax like the score of one more key. Its share is dropped.
with_sink = torch.cat([masked, sink.reshape(1, H, 1, 1).expand(B, H, Tq, 1)], dim=-1)
weights = torch.softmax(with_sink, dim=-1)[..., :-1]
)";
    if (problem.mask.empty())
        return masked + "weights = torch.softmax(masked, dim=-1)\n";
    return masked + R"(
# PyTorch's softmax gives NaN for a row of minus infinities; a query that may attend to nothing has weights 0 here.
closed = (masked == -inf).all(dim=-1, keepdim=True)
weights = torch.softmax(masked, dim=-1).masked_fill(closed, 0.0)
)";
}

std::string print_text(const Problem& problem) {
    std::string out = "\nfor name, axes, stage in [\n";
    for (const TensorInfo& info : stage_table())
        if (has_tensor(info.id, problem.parts()))
            out += "    (\"" + std::string(info.name) + "\", \"" + axes_text(info.id) + "\", " +
                   std::string(info.name) + "),\n";
    return out + "]:\n"
                 "    print(f\"{name}  ({axes}) = {tuple(stage.shape)}\\n{stage}\\n\")\n";
}

} // namespace

std::string script_sizes(const Problem& problem) {
    const Dims& d = problem.dims;
    std::string out = "# Sizes\n";
    const auto add = [&](const char* name, std::int64_t size, const char* meaning) {
        out += std::string(name) + " = " + std::to_string(size) + "  # " + meaning + "\n";
    };
    add("B", d.B, "batch entries");
    add("Tq", d.Tq, "query tokens");
    add("Tk", d.Tk, problem.cross() ? "key tokens" : "key tokens: the same, this is self-attention");
    add("D", d.D, d.Dq == 0 ? "width of x and of the output" : "width of the output");
    if (d.Dq != 0)
        add("Dq", d.Dq, "width of x");
    if (problem.has_source())
        add("Dkv", d.Dkv, "width of x_kv");
    add("H", d.H, "query heads");
    add("Hkv", d.Hkv, "key/value heads");
    add("dk", d.dk, "width of one query or key head");
    add("dv", d.dv, "width of one value head");
    if (problem.temperature != 1.0F)
        out += "temperature = " + literal(problem.temperature) + "  # the scaled scores are divided by it\n";
    visit_fields(Overloaded{[&](const Field& field, float number) {
                                const TensorInfo& row = tensor_info(*field.row);
                                if (row.when != nullptr && has_tensor(row.id, problem.parts()))
                                    out += std::string(field.name) + " = " + literal(number) + "  # " +
                                           std::string(row.title.english) + "\n";
                            },
                            [](const Field&, const auto&) {}},
                 problem);
    if (any_gain(problem)) {
        out += "gains = torch.tensor([" + joined(problem.gains, literal) +
               "], dtype=torch.float32)  # one per head, on what it hands to W_O\n";
    }
    if (!problem.tokens.empty())
        out += "tokens = " + python_list(problem.tokens) + "\n";
    if (!problem.kv_tokens.empty())
        out += "kv_tokens = " + python_list(problem.kv_tokens) + "\n";
    return out;
}

std::string script_mask(const Problem& problem) {
    const Mask& mask = problem.mask;
    if (mask.empty())
        return "";
    std::string out =
        "\n# The mask: True where query i may attend to key j (torch's own masks say the opposite); it "
        "broadcasts to\n# (B, H, Tq, Tk). All rules hold at once.\n"
        "allowed = torch.ones(1, 1, Tq, Tk, dtype=torch.bool)\n";
    if (has_rule<CausalMask>(mask) || has_rule<SlidingWindowCausalMask>(mask) ||
        has_rule<SlidingWindowSymmetricMask>(mask))
        out += "j = torch.arange(Tk).reshape(1, Tk)\n"
               "i = torch.arange(Tq).reshape(Tq, 1) + (Tk - Tq)  # queries and keys end together\n";
    if (has_rule<AdditiveMask>(mask))
        out += "add = torch.zeros(1, 1, Tq, Tk)  # added to the scaled scores\n";
    for (std::size_t index = 0; index < mask.size(); ++index) {
        const std::string name = mask_variable(index);
        out += std::visit(
            Overloaded{
                [&](const CausalMask&) { return std::string("allowed = allowed & (j <= i)  # causal\n"); },
                [&](const SlidingWindowCausalMask& rule) {
                    return "allowed = allowed & (j <= i) & (j > i - " + std::to_string(rule.window) +
                           ")  # a sliding window\n";
                },
                [&](const SlidingWindowSymmetricMask& rule) {
                    return "allowed = allowed & ((i - j).abs() <= " + std::to_string(rule.half_width) +
                           ")  # a window to both sides\n";
                },
                [&](const KeyPaddingMask&) {
                    return "allowed = allowed & " + name +
                           ".reshape(-1, 1, 1, Tk)  # key padding: 1 is a real token\n";
                },
                [&](const ExplicitMask& rule) {
                    const bool batch = rule.allowed->shape.rank() == 3;
                    return "allowed = allowed & " + name + (batch ? ".unsqueeze(1)" : "") + "\n";
                },
                [&](const AdditiveMask&) { return "add = add + " + name + "\n"; }},
            mask[index]);
    }
    return out;
}

std::string script_stage_steps(const Problem& problem) {
    const Weights& w = problem.weights;
    const std::string from = source_name(problem);
    const std::string k_each = each_head(problem, "k"), v_each = each_head(problem, "v");
    std::string out =
        "\n# softmax(Q K^T / sqrt(dk)) V in every head, then W_O. First queries, keys and values "
        "of all heads side by side.\nq = " +
        projection("x", "Q", w.b_Q) + "\nk = " + projection(from, "K", w.b_K) +
        "\nv = " + projection(from, "V", w.b_V) + "\n" +
        (problem.parts().qkv_limit ? "q, k, v = (t.clamp(-qkv_limit, qkv_limit) for t in (q, k, v))\n" : "") +
        heads_text(problem.parts()) + sharing_text(problem.dims);
    out += "\nscores = q_heads @ " + k_each + ".transpose(-2, -1)\nscaled = scores / " +
           score_scale(problem) + "\n" +
           (problem.parts().soft_cap ? "scaled = score_cap * torch.tanh(scaled / score_cap)\n" : "") +
           masked_text(problem) + "weights_mean = weights.mean(dim=1)\nhead_out = weights @ " + v_each + "\n";
    std::string summed = "head_out";
    if (problem.parts().gated) {
        summed = "head_out_gated";
        out += "\n# A gate on each number of the head outputs.\ngate = (" + projection("x", "G", w.b_G) +
               ").reshape(B, Tq, H, dv).transpose(1, 2)\nhead_out_gated = torch.sigmoid(gate) * head_out\n";
    }
    if (any_gain(problem)) {
        out += "\n# Each head's output times its gain, side by side again.\ngained = " + summed +
               " * "
               "gains.reshape(1, H, 1, "
               "1)\n";
        summed = "gained";
    } else {
        out += "\n# The heads side by side again.\n";
    }
    out += "concat = " + summed +
           ".transpose(1, 2).reshape(B, Tq, H * dv)\n"
           "contributions = " +
           summed + " @ W_O.reshape(H, dv, D)  # the output is their sum over the heads" +
           (w.b_O != nullptr ? ", plus b_O" : "") + "\noutput = " + projection("concat", "O", w.b_O) + "\n";
    if (!problem.tokens.empty())
        out += "\nprint(\"tokens:\", tokens, \"\\n\")";
    return out + print_text(problem);
}

} // namespace headscope::exporting
