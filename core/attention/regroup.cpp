#include "core/attention/regroup.h"

#include "core/attention/graph_of_problem.h"
#include "core/base/error.h"
#include "core/base/message.h"

namespace headscope {

namespace {

/// Averages groups of `group` adjacent blocks of `width` columns. A bias is a tensor of one row.
TensorPtr mean_of_blocks(const TensorPtr& tensor, std::int64_t width, std::int64_t group) {
    if (tensor == nullptr)
        return nullptr;
    const bool bias = tensor->shape().rank() == 1;
    const std::int64_t rows = bias ? 1 : tensor->shape()[0], cols = tensor->shape().back(0);
    const std::int64_t kept = cols / group;
    Tensor out(bias ? Shape{kept} : Shape{rows, kept});
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t col = 0; col < kept; ++col) {
            const std::int64_t first = row * cols + col / width * width * group + col % width;
            double sum = 0;
            for (std::int64_t g = 0; g < group; ++g)
                sum += tensor->data()[first + g * width];
            out.data()[row * kept + col] = static_cast<float>(sum / static_cast<double>(group));
        }
    return std::make_shared<const Tensor>(std::move(out));
}

} // namespace

Problem with_head_count(const Problem& problem, std::int64_t H) {
    const Dims& d = problem.dims;
    if (const AttentionGraph graph = attention_graph(problem); !graph.heads_are_columns())
        fail_input(
            tr("regroup.h_cannot_become_step",
               "H is {} and cannot become {}: the step \"{}\" needs heads of width dk = {}; keep H = {}", d.H,
               H, graph.formula(TensorId::q_heads), d.dk, d.H));
    if (problem.weights.sink != nullptr && H != d.H)
        fail_input(tr("regroup.sink_number_each_heads",
                      "the sink has a number for each of the {} heads; keep H = {}", d.H, d.H));
    const auto check = [H](std::int64_t width, const char* what) {
        if (H < 1 || width % H != 0)
            fail_input(tr("regroup.h_not_divide_width",
                          "H = {} does not divide the width {} of {}; choose a divisor of it", H, width,
                          what));
    };
    check(d.H * d.dk, "Q");
    check(d.H * d.dv, "V");
    const std::int64_t group = d.H / d.Hkv;
    if (H % group != 0)
        fail_input(
            tr("regroup.h_no_multiple_query",
               "H = {} is not a multiple of the {} query heads that share each key/value head; choose one", H,
               group));
    Problem out = problem;
    out.dims.H = H;
    out.dims.Hkv = H / group;
    out.dims.dk = d.H * d.dk / H;
    out.dims.dv = d.H * d.dv / H;
    out.gains.clear();
    return out;
}

Problem with_kv_head_count(const Problem& problem, std::int64_t Hkv) {
    const Dims& d = problem.dims;
    if (Hkv < 1 || d.Hkv % Hkv != 0)
        fail_input(tr("regroup.hkv_not_divide_key",
                      "Hkv = {} does not divide the {} key/value heads there are; choose a divisor of it",
                      Hkv, d.Hkv));
    if (problem.relative && Hkv != d.Hkv)
        fail_input(tr("regroup.hkv_relative",
                      "Hkv is {} and cannot become {}: terms by relative position need a key/value head for "
                      "each query head; keep Hkv = {}",
                      d.Hkv, Hkv, d.Hkv));
    Problem out = problem;
    const std::int64_t group = d.Hkv / Hkv;
    out.dims.Hkv = Hkv;
    out.weights.W_K = mean_of_blocks(problem.weights.W_K, d.dk, group);
    out.weights.b_K = mean_of_blocks(problem.weights.b_K, d.dk, group);
    out.weights.k_norm_all = mean_of_blocks(problem.weights.k_norm_all, d.dk, group);
    out.weights.W_V = mean_of_blocks(problem.weights.W_V, d.dv, group);
    out.weights.b_V = mean_of_blocks(problem.weights.b_V, d.dv, group);
    return out;
}

} // namespace headscope
