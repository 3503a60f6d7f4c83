#include "app/state/head_edits.h"

#include <algorithm>

namespace headscope::app {

namespace {

bool same_numbers_in(const Block& block, const Tensor& a, const Tensor& b) {
    for (std::int64_t row = 0; row < block.rows; ++row) {
        const auto first = static_cast<std::size_t>(a.shape().offset(block.at(row, 0)));
        const auto count = static_cast<std::size_t>(block.cols);
        if (!std::ranges::equal(a.values().subspan(first, count), b.values().subspan(first, count)))
            return false;
    }
    return true;
}

bool differs(const Block& block, const Problem& now, const Problem& unedited) {
    const Tensor *a = now.input(block.tensor), *b = unedited.input(block.tensor);
    return a != b && a != nullptr && b != nullptr && a->shape() == b->shape() &&
           !same_numbers_in(block, *a, *b);
}

} // namespace

std::vector<HeadBlock> blocks_of_head(const Problem& problem, std::int64_t head) {
    const Dims& d = problem.dims;
    const std::int64_t kv = d.kv_head(head);
    const auto columns = [](std::int64_t first, bool bias) {
        return bias ? Index{first, 0, 0, 0} : Index{0, first, 0, 0};
    };
    std::vector<HeadBlock> parts{
        {{TensorId::W_Q, columns(head * d.dk, false), extent(Axis::Dq, d), d.dk}, false},
        {{TensorId::b_Q, columns(head * d.dk, true), 1, d.dk}, false},
        {{TensorId::W_O, {head * d.dv, 0, 0, 0}, d.dv, d.D}, false},
        {{TensorId::W_K, columns(kv * d.dk, false), d.Dkv, d.dk}, true},
        {{TensorId::b_K, columns(kv * d.dk, true), 1, d.dk}, true},
        {{TensorId::W_V, columns(kv * d.dv, false), d.Dkv, d.dv}, true},
        {{TensorId::b_V, columns(kv * d.dv, true), 1, d.dv}, true},
        {{TensorId::W_QR, columns(head * d.dk, false), d.D, d.dk}, false},
        {{TensorId::b_QR, columns(head * d.dk, true), 1, d.dk}, false},
        {{TensorId::W_KR, columns(kv * d.dk, false), d.D, d.dk}, true},
        {{TensorId::b_KR, columns(kv * d.dk, true), 1, d.dk}, true},
    };
    std::erase_if(parts, [&](const HeadBlock& part) { return problem.input(part.block.tensor) == nullptr; });
    return parts;
}

LayerMarks marks_of(const Problem& now, const Problem& unedited) {
    LayerMarks marks;
    for (std::int64_t h = 0; h < now.dims.H; ++h) {
        HeadEdits head{.gain = now.gain(h)};
        for (const HeadBlock& part : blocks_of_head(now, h))
            if (differs(part.block, now, unedited))
                head.tensors.push_back(part.block.tensor);
        marks.heads.push_back(std::move(head));
    }
    if (differs({TensorId::b_O, {}, 1, now.dims.D}, now, unedited))
        marks.others.push_back(TensorId::b_O);
    return marks;
}

} // namespace headscope::app
