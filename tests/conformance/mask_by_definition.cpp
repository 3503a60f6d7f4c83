#include "tests/conformance/mask_by_definition.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <vector>

namespace headscope {

namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

/// Returns the offset of the element of `shape` that the cell at `index` reads. Both have the same number of
/// axes. An extent of 1 is repeated.
std::size_t repeated(const Shape& shape, const std::vector<std::int64_t>& index) {
    std::int64_t offset = 0;
    for (int axis = 0; axis < shape.rank(); ++axis)
        offset = offset * shape[axis] + (shape[axis] == 1 ? 0 : index[static_cast<std::size_t>(axis)]);
    return static_cast<std::size_t>(offset);
}

/// One query and one key with one rule.
struct RuleAt {
    const Dims& dims;
    std::int64_t b, h, i, j;

    /// Returns the position of the query among the keys: both sequences end together.
    std::int64_t position() const { return i + dims.Tk - dims.Tq; }

    double operator()(const CausalMask&) const { return j > position() ? minus_infinity : 0.0; }
    double operator()(const SlidingWindowCausalMask& rule) const {
        const std::int64_t back = position() - j;
        return back >= 0 && back < rule.window ? 0.0 : minus_infinity;
    }
    double operator()(const SlidingWindowSymmetricMask& rule) const {
        return std::abs(position() - j) <= rule.half_width ? 0.0 : minus_infinity;
    }
    double operator()(const ChunkedCausalMask& rule) const {
        const std::int64_t first = position() - position() % rule.chunk;
        return position() >= 0 && j >= first && j <= position() ? 0.0 : minus_infinity;
    }
    double operator()(const KeyPaddingMask& rule) const {
        return rule.key_valid->values[repeated(rule.key_valid->shape, {b, j})] == 1 ? 0.0 : minus_infinity;
    }
    double operator()(const ExplicitMask& rule) const {
        // (Tq, Tk), (B, Tq, Tk) or (B, H, Tq, Tk).
        const Shape& shape = rule.allowed->shape;
        const std::vector<std::int64_t> index = shape.rank() == 2   ? std::vector{i, j}
                                                : shape.rank() == 3 ? std::vector{b, i, j}
                                                                    : std::vector{b, h, i, j};
        return rule.allowed->values[repeated(shape, index)] == 1 ? 0.0 : minus_infinity;
    }
    double operator()(const AdditiveMask& rule) const {
        // Returns the last axes of (B, H, Tq, Tk), as many as the tensor has.
        const std::vector<std::int64_t> full{b, h, i, j};
        const Shape& shape = rule.add->shape();
        const std::vector<std::int64_t> index(full.end() - shape.rank(), full.end());
        return static_cast<double>(rule.add->data()[repeated(shape, index)]);
    }
};

std::string cell_text(const char* name, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
    std::ostringstream text;
    text << name << "[" << b << ", " << h << ", " << i << ", " << j << "]";
    return text.str();
}

} // namespace

double mask_by_definition(const Mask& mask, const Dims& dims, std::int64_t b, std::int64_t h, std::int64_t i,
                          std::int64_t j) {
    double sum = 0;
    for (const MaskRule& rule : mask)
        sum += std::visit(RuleAt{dims, b, h, i, j}, rule);
    return sum;
}

std::string broken_mask(const Problem& problem, const Trace& trace) {
    const Dims& d = problem.dims;
    const Tensor& scaled = *trace.stage(TensorId::scaled);
    const Tensor& masked = *trace.stage(TensorId::masked);
    const Tensor& weights = *trace.stage(TensorId::weights);
    std::vector<MaskedRow> nothing_allowed;
    for (std::int64_t b = 0; b < d.B; ++b)
        for (std::int64_t h = 0; h < d.H; ++h)
            for (std::int64_t i = 0; i < d.Tq; ++i) {
                std::int64_t allowed = 0;
                for (std::int64_t j = 0; j < d.Tk; ++j) {
                    const double add = mask_by_definition(problem.mask, d, b, h, i, j);
                    const auto got = static_cast<double>(masked.at(b, h, i, j));
                    if (add == minus_infinity) {
                        if (got != minus_infinity)
                            return cell_text("masked", b, h, i, j) + " is allowed, its mask forbids it";
                        if (weights.at(b, h, i, j) != 0.0F)
                            return cell_text("weights", b, h, i, j) + " is not 0, its mask forbids it";
                        continue;
                    }
                    ++allowed;
                    const auto score = static_cast<double>(scaled.at(b, h, i, j));
                    const double bound = 1e-5 + 1e-6 * (std::abs(score) + std::abs(add));
                    if (!(std::abs(got - (score + add)) <= bound)) {
                        std::ostringstream text;
                        text << cell_text("masked", b, h, i, j) << " is " << got << ", expected " << score
                             << " + " << add;
                        return text.str();
                    }
                }
                if (allowed == 0)
                    nothing_allowed.push_back({b, h, i});
            }
    return trace.fully_masked == nothing_allowed ? "" : "the list of fully masked rows is wrong";
}

} // namespace headscope
