#include "app/draw/matrix/row_maxima.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

std::shared_ptr<const std::vector<float>> row_maxima(const DrawContext& context, TensorId id,
                                                     std::int64_t head) {
    const Dims& dims = context.dims();
    const Tensor& tensor = *context.shown.tensor(id);
    const auto compute = [&] {
        const auto width = static_cast<std::size_t>(dims.Tk), height = static_cast<std::size_t>(dims.Tq);
        const auto cells = tensor.values().subspan(
            static_cast<std::size_t>(context.view.batch * dims.H + head) * width * height, width * height);
        std::vector<float> tops(height, -INFINITY);
        for (std::size_t i = 0; i < height; ++i)
            for (const float value : cells.subspan(i * width, width))
                if (std::isfinite(value))
                    tops[i] = std::max(tops[i], value);
        return tops;
    };
    if (context.pixels == nullptr)
        return std::make_shared<const std::vector<float>>(compute());
    constexpr std::uint64_t kind = 11;
    const auto number = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
    return context.pixels->cached_result<std::vector<float>>(
        context.shown.trace,
        key_of({kind, reinterpret_cast<std::uintptr_t>(&tensor), number(context.view.batch), number(head)}),
        compute);
}

std::shared_ptr<const std::vector<float>> row_maxima(const MatrixSpec& spec) {
    std::vector<float> tops(static_cast<std::size_t>(spec.rows), -INFINITY);
    for (std::int64_t i = 0; i < spec.rows; ++i)
        for (std::int64_t j = 0; j < spec.cols; ++j)
            if (const float value = spec.value(i, j); std::isfinite(value))
                tops[static_cast<std::size_t>(i)] = std::max(tops[static_cast<std::size_t>(i)], value);
    return std::make_shared<const std::vector<float>>(std::move(tops));
}

} // namespace headscope::app
