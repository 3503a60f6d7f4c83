#include "app/draw/matrix/matrix_image.h"

#include "app/draw/kit/colour_scale.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace headscope::app {

namespace {

/// Reads the tensor's own numbers without looking up each address.
class TensorNumbers {
public:
    TensorNumbers(const Tensor& tensor, const MatrixSpec& spec)
        : first_(tensor.data() + tensor.shape().offset(spec.origin)),
          down_(stride(tensor.shape(), spec.row_axis)), across_(stride(tensor.shape(), spec.col_axis)) {}
    float operator()(std::int64_t row, std::int64_t col) const { return first_[row * down_ + col * across_]; }

private:
    /// 0 for an axis that the tensor does not have: a bias has no rows.
    static std::int64_t stride(const Shape& shape, int axis) {
        std::int64_t out = axis < shape.rank() ? 1 : 0;
        for (int inner = axis + 1; inner < shape.rank(); ++inner)
            out *= shape[inner];
        return out;
    }
    const float* first_;
    std::int64_t down_, across_;
};

template<class Value>
std::vector<figure::Color> pixels_of(const DrawContext& context, const MatrixSpec& spec, std::int64_t done,
                                     const Value& value_at) {
    const bool heat = spec.fill == CellFill::heat;
    const Ramp& ramp = heat ? *spec.ramp : context.theme.diverging;
    const float low = heat ? spec.low : -spec.high;
    const bool log = heat && spec.log;
    std::vector<figure::Color> pixels;
    pixels.reserve(static_cast<std::size_t>(spec.rows * spec.cols));
    for (std::int64_t row = 0; row < spec.rows; ++row)
        for (std::int64_t col = 0; col < spec.cols; ++col) {
            if (row >= done) {
                pixels.push_back(context.theme.panel);
                continue;
            }
            const float value = value_at(row, col);
            if (spec.plus && std::isinf(value))
                pixels.push_back(context.theme.muted); // masked in A or in B alone
            else if (!std::isfinite(value) || (spec.forbidden && spec.forbidden(row, col)))
                pixels.push_back((row + col) % 2 == 0 ? context.theme.panel : context.theme.line);
            else
                pixels.push_back(ramp[static_cast<std::size_t>(
                    std::clamp(place_on_scale(value, low, spec.high, log), 0.0F, 1.0F) * 255.0F + 0.5F)]);
        }
    return pixels;
}

} // namespace

void draw_matrix_image(Picture& picture, const DrawContext& context, const MatrixSpec& spec,
                       const figure::Rect& area, std::int64_t done) {
    const Tensor* const tensor = spec.value ? nullptr : context.shown.tensor(spec.tensor);
    const auto paint = [&] {
        return spec.value ? pixels_of(context, spec, done, spec.value)
                          : pixels_of(context, spec, done, TensorNumbers(*tensor, spec));
    };
    PixelCache::Named made;
    // Weights have ways of colouring of their own.
    const bool scores =
        spec.tensor == TensorId::scores || spec.tensor == TensorId::scaled || spec.tensor == TensorId::masked;
    if (context.pixels != nullptr && (spec.fill == CellFill::diverging || scores) && !spec.value &&
        !spec.forbidden) {
        const auto whole = [](auto number) { return static_cast<std::uint64_t>(number); };
        std::uint64_t key =
            key_of({reinterpret_cast<std::uintptr_t>(tensor), whole(spec.tensor), whole(spec.row_axis),
                    whole(spec.col_axis), whole(spec.rows), whole(spec.cols),
                    std::bit_cast<std::uint32_t>(spec.high), std::bit_cast<std::uint32_t>(spec.low),
                    reinterpret_cast<std::uintptr_t>(spec.ramp), whole(spec.fill), whole(done),
                    whole(spec.plus), whole(context.theme.dark)});
        for (const std::int64_t at : spec.origin)
            key = key_of({key, whole(at)});
        made = context.pixels->find_of(context.shown.holder(spec.tensor), key, paint);
    } else {
        made.pixels = std::make_shared<const std::vector<figure::Color>>(paint());
        made.name = name_of(*made.pixels);
    }
    picture.scene.add(figure::GridItem{.area = area,
                                       .cols = static_cast<int>(spec.cols),
                                       .rows = static_cast<int>(spec.rows),
                                       .pixels = std::move(made.pixels),
                                       .key = made.name});
}

} // namespace headscope::app
