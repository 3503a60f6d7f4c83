#include "tests/conformance/compare.h"

#include "core/engine/cpu/cpu_engine.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

namespace headscope {

namespace {

/// Returns the index of an element as text, such as "[0, 1, 2, 3]".
std::string place(const Shape& shape, std::int64_t offset) {
    std::string text;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
        text = std::to_string(offset % shape[axis]) + (text.empty() ? "" : ", ") + text;
        offset /= shape[axis];
    }
    return "[" + text + "]";
}

/// Equal numbers, including infinities, have the distance 0; NaN and unequal infinities have an infinite
/// distance.
double distance(float a, float b) {
    if (a == b)
        return 0;
    if (!std::isfinite(a) || !std::isfinite(b))
        return std::numeric_limits<double>::infinity();
    return std::abs(static_cast<double>(a) - static_cast<double>(b));
}

/// Returns the largest absolute value among the finite numbers.
double largest_size(const Tensor& tensor) {
    double largest = 0;
    for (std::int64_t i = 0; i < tensor.count(); ++i)
        if (const float value = tensor.data()[i]; std::isfinite(value))
            largest = std::max(largest, std::abs(static_cast<double>(value)));
    return largest;
}

} // namespace

std::string difference(const Tensor* got, const Tensor& expected, const Tolerance& tolerance) {
    if (got == nullptr)
        return "is missing";
    if (!(got->shape() == expected.shape()))
        return "has shape " + got->shape().text() + ", expected " + expected.shape().text();
    const double bound = tolerance.absolute + tolerance.relative * largest_size(expected);
    std::int64_t worst = -1;
    double worst_distance = bound;
    for (std::int64_t i = 0; i < expected.count(); ++i)
        if (const double d = distance(got->data()[i], expected.data()[i]); d > worst_distance) {
            worst = i;
            worst_distance = d;
        }
    if (worst < 0)
        return "";
    std::ostringstream text;
    text.precision(9);
    text << place(expected.shape(), worst) << " is " << got->data()[worst] << ", expected "
         << expected.data()[worst] << " within " << bound;
    return text.str();
}

std::string difference(const Trace& got, const Trace& expected, const Tolerance& tolerance) {
    for (const TensorInfo& info : stage_table())
        if (const Tensor* stage = expected.stage(info.id))
            if (const std::string text = difference(got.stage(info.id), *stage, tolerance); !text.empty())
                return std::string(info.name) + " " + text;
    if (got.fully_masked != expected.fully_masked)
        return std::to_string(got.fully_masked.size()) + " fully masked rows, expected " +
               std::to_string(expected.fully_masked.size()) + ", or others";
    return "";
}

std::string bitwise_difference(const Trace& got, const Trace& expected) {
    for (const TensorInfo& info : stage_table()) {
        const Tensor* a = got.stage(info.id);
        const Tensor* b = expected.stage(info.id);
        if (b == nullptr)
            continue;
        if (a == nullptr || !(a->shape() == b->shape()) ||
            std::memcmp(a->data(), b->data(), static_cast<std::size_t>(a->count()) * sizeof(float)) != 0)
            return std::string(info.name) + " differs";
    }
    return got.fully_masked == expected.fully_masked ? "" : "the fully masked rows differ";
}

DirtySet recomputed(const Problem& before, const Problem& after) {
    cpu::CpuEngine engine(1);
    Progress progress;
    const Trace trace = engine.run(before);
    return engine.rerun(after, before, trace, progress).computed;
}

std::string broken_invariant(const Trace& trace) {
    for (const TensorInfo& info : stage_table())
        if (trace.stage(info.id) != nullptr &&
            std::ranges::any_of(trace.stage(info.id)->values(), [](float v) { return std::isnan(v); }))
            return std::string(info.name) + " holds NaN";
    const Tensor& weights = *trace.stage(TensorId::weights);
    const Tensor& masked = *trace.stage(TensorId::masked);
    const std::int64_t Tk = trace.dims.Tk;
    for (std::int64_t row = 0; row < weights.count() / Tk; ++row) {
        double sum = 0;
        bool any_allowed = false;
        for (std::int64_t j = row * Tk; j < (row + 1) * Tk; ++j) {
            const float w = weights.data()[j];
            const bool allowed = !std::isinf(masked.data()[j]);
            any_allowed = any_allowed || allowed;
            sum += static_cast<double>(w);
            if (w < 0 || (!allowed && w != 0.0F))
                return "weights" + place(weights.shape(), j) + " is " + std::to_string(w) +
                       (allowed ? "" : " where nothing is allowed");
        }
        const bool short_of_one = trace.parts.sink && any_allowed && sum < 1.0; // the rest goes to the sink
        if (!short_of_one && std::abs(sum - (any_allowed ? 1.0 : 0.0)) > 1e-5)
            return "the row of weights at " + place(weights.shape(), row * Tk) + " sums to " +
                   std::to_string(sum);
    }
    return "";
}

} // namespace headscope
