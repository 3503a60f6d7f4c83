#include "core/analysis/difference.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace headscope::analysis {

namespace {

float subtracted(float a, float b) {
    // Only masks give infinities; numbers too far apart for float32 stay numbers.
    constexpr float most = std::numeric_limits<float>::max();
    return std::isfinite(a) && std::isfinite(b) ? std::clamp(b - a, -most, most) : b - a;
}

std::string sizes_that_differ(const Dims& a, const Dims& b, bool of_b) {
    std::string text;
    const auto add = [&](const char* name, std::int64_t of_first, std::int64_t of_second) {
        if (of_first != of_second)
            text += (text.empty() ? "" : ", ") + std::string(name) + " " +
                    std::to_string(of_b ? of_second : of_first);
    };
    const bool square = a.Tq == a.Tk && b.Tq == b.Tk, narrow = a.D == a.Dkv && b.D == b.Dkv;
    const bool full = a.H == a.Hkv && b.H == b.Hkv, even = a.dk == a.dv && b.dk == b.dv;
    add("B", a.B, b.B);
    add(square ? "T" : "Tq", a.Tq, b.Tq);
    if (!square)
        add("Tk", a.Tk, b.Tk);
    add("D", a.D, b.D);
    if (!narrow)
        add("Dkv", a.Dkv, b.Dkv);
    add("H", a.H, b.H);
    if (!full)
        add("Hkv", a.Hkv, b.Hkv);
    add("dk", a.dk, b.dk);
    if (!even)
        add("dv", a.dv, b.dv);
    return text;
}

} // namespace

TensorDifference difference(TensorId id, const Tensor& a, const Tensor& b, const Dims& dims,
                            std::int64_t batch) {
    const TensorInfo& info = tensor_info(id);
    const Shape shape = info.shape(dims);
    if (a.shape() != shape || b.shape() != shape)
        throw Error(ErrorKind::internal, std::string(info.name) + " is subtracted as " + shape.text() +
                                             " but has " + a.shape().text() + " and " + b.shape().text());
    Tensor cells(shape);
    std::ranges::transform(a.values(), b.values(), cells.values().begin(), subtracted);

    const bool batched = info.axes[0] == Axis::B;
    const std::int64_t begin = batched ? batch * (shape.count() / dims.B) : 0;
    const std::int64_t end = batched ? begin + shape.count() / dims.B : shape.count();
    const HeadAxis heads = head_axis(info, dims);
    // Cells of one head lie together in runs of `run`, head after head.
    std::int64_t run = end - begin, count = 1;
    if (heads.axis >= 0) {
        run = heads.width;
        for (int axis = heads.axis + 1; axis < shape.rank(); ++axis)
            run *= shape[axis];
        count = shape[heads.axis] / heads.width;
    }
    TensorDifference result;
    std::vector<double> squares(static_cast<std::size_t>(count), 0.0);
    std::int64_t largest_at = -1;
    for (std::int64_t from = begin, head = 0; from < end; from += run, head = (head + 1) % count) {
        double sum = 0;
        for (std::int64_t i = from; i < from + run; ++i) {
            const float change = cells.data()[i];
            if (change == 0 || std::isnan(change))
                continue;
            ++result.changed;
            if (std::isinf(change)) {
                ++result.masked_in_one;
                continue;
            }
            sum += static_cast<double>(change) * static_cast<double>(change);
            if (std::abs(change) > std::abs(result.largest)) {
                result.largest = change;
                largest_at = i;
            }
        }
        squares[static_cast<std::size_t>(head)] += sum;
    }
    double total = 0;
    for (const double square : squares)
        total += square;
    result.norm = std::sqrt(total);
    if (heads.axis >= 0)
        for (const double square : squares)
            result.head_norms.push_back(std::sqrt(square));
    if (largest_at >= 0)
        result.largest_at = shape.index(largest_at);
    result.cells = std::make_shared<const Tensor>(std::move(cells));
    return result;
}

std::string why_not_comparable(const Problem& a, const Problem& b) {
    if (a.dims != b.dims)
        // Translators: {} are sizes, such as "H = 4, dk = 8"
        return tr("difference.b", "A has {}, B has {}.", sizes_that_differ(a.dims, b.dims, false),
                  sizes_that_differ(a.dims, b.dims, true));
    if (a.cross() != b.cross())
        return a.cross() ? tr("difference.reads_keys_values_second",
                              "A reads keys and values from a second sequence, now there is one sequence.")
                         : tr("difference.one_sequence_now_keys",
                              "A has one sequence, now keys and values come from a second one.");
    return {};
}

bool words_differ(const Problem& a, const Problem& b) {
    return a.tokens != b.tokens || a.kv_tokens != b.kv_tokens;
}

} // namespace headscope::analysis
