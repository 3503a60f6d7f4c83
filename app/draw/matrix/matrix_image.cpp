#include "app/draw/matrix/matrix_image.h"

#include "app/draw/kit/colour_scale.h"
#include "app/draw/kit/sign_mark.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace headscope::app {

namespace {

/// Reads a tensor's numbers without an address lookup for each.
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
std::vector<figure::Color> pixels_of(const DrawContext& context, const MatrixSpec& spec,
                                     const Value& value_at) {
    const bool heat = spec.fill == CellFill::heat;
    const Ramp& ramp = heat ? *spec.ramp : context.theme.diverging;
    const float low = heat ? spec.low : -spec.high;
    const bool log = heat && spec.log;
    std::vector<figure::Color> pixels;
    pixels.reserve(static_cast<std::size_t>(spec.rows * spec.cols));
    for (std::int64_t row = 0; row < spec.rows; ++row)
        for (std::int64_t col = 0; col < spec.cols; ++col) {
            const float value = value_at(row, col);
            if (spec.plus_sign && std::isinf(value))
                pixels.push_back(context.theme.muted); // masked only in A or only in B
            else if (!std::isfinite(value) || (spec.forbidden && spec.forbidden(row, col)))
                pixels.push_back(context.theme.line); // a uniform color: a pattern would look like numbers
            else
                pixels.push_back(ramp[static_cast<std::size_t>(
                    std::clamp(position_on_scale(value, low, spec.high, log), 0.0F, 1.0F) * 255.0F + 0.5F)]);
        }
    return pixels;
}

/// Maps `count` cells to pixels of `room`: several cells may share a pixel.
struct Pooling {
    Pooling(std::int64_t cells, float room)
        : count(cells), pixels(std::clamp<std::int64_t>(static_cast<std::int64_t>(room), 1, cells)) {}
    std::int64_t first(std::int64_t pixel) const { return pixel * count / pixels; }
    std::int64_t count, pixels;
};

/// The number of pixels per cell, horizontally and vertically. With marks both are odd, so that the center
/// pixel is the mark.
struct CellPixels {
    std::int64_t across = 1, down = 1;
};

/// Chosen so that the center pixel looks like the dash of draw_minus_mark(), for any shape of cell.
CellPixels marked_pixels(const MatrixSpec& spec) {
    const auto odd = [](float share) {
        return 2 * std::max<std::int64_t>(std::lround((share - 1) / 2), 1) + 1;
    };
    constexpr float longest = 10, thick = 2;
    return {odd(spec.cell_w / std::clamp(spec.cell_w * 0.4F, 3.0F, longest)), odd(spec.cell_h / thick)};
}

/// Enlarges each pixel to a cell and marks cells of negative numbers: see draw_minus_mark().
template<class Value>
std::vector<figure::Color> marked(const std::vector<figure::Color>& pixels, const MatrixSpec& spec,
                                  CellPixels cell, const Value& value_at) {
    const std::int64_t width = spec.cols * cell.across;
    std::vector<figure::Color> out(static_cast<std::size_t>(width * spec.rows * cell.down));
    for (std::int64_t row = 0; row < spec.rows; ++row)
        for (std::int64_t col = 0; col < spec.cols; ++col) {
            const figure::Color fill = pixels[static_cast<std::size_t>(row * spec.cols + col)];
            const auto first = out.begin() + row * cell.down * width + col * cell.across;
            for (std::int64_t y = 0; y < cell.down; ++y)
                std::fill_n(first + y * width, cell.across, fill);
            const float value = value_at(row, col);
            const bool read = std::isfinite(value) && !(spec.forbidden && spec.forbidden(row, col));
            if (read && needs_minus_mark(static_cast<double>(value / std::max(spec.high, 1e-30F))))
                first[cell.down / 2 * width + cell.across / 2] = text_on(fill);
        }
    return out;
}

} // namespace

void draw_matrix_image(Picture& picture, const DrawContext& context, const MatrixSpec& spec,
                       const figure::Rect& area) {
    const Tensor* const tensor = spec.value ? nullptr : context.shown.tensor(spec.tensor);
    constexpr float smallest_marked = 5; // in smaller cells a mark would cover most of the cell
    const bool marks =
        spec.fill == CellFill::diverging && std::min(spec.cell_w, spec.cell_h) >= smallest_marked;
    const Pooling down(spec.rows, area.h), across(spec.cols, area.w);
    const CellPixels cell = marks ? marked_pixels(spec) : CellPixels{};
    const bool pools = down.pixels < spec.rows || across.pixels < spec.cols;
    const bool by_row = spec.row_maxima != nullptr && spec.fill == CellFill::heat;
    const auto paint_with = [&](const auto& value_at) {
        if (!pools) {
            std::vector<figure::Color> pixels = pixels_of(context, spec, value_at);
            return marks ? marked(pixels, spec, cell, value_at) : pixels;
        }
        MatrixSpec small = spec;
        small.rows = down.pixels;
        small.cols = across.pixels;
        small.forbidden = {};
        return pixels_of(context, small, [&](std::int64_t row, std::int64_t col) {
            float largest = by_row ? -INFINITY : 0;
            for (std::int64_t r = down.first(row); r < down.first(row + 1); ++r)
                for (std::int64_t c = across.first(col); c < across.first(col + 1); ++c)
                    if (const float value = value_at(r, c);
                        by_row ? value > largest : std::abs(value) > std::abs(largest))
                        largest = value;
            return largest;
        });
    };
    const auto paint_from_top = [&](const auto& value_at) {
        return paint_with([&](std::int64_t row, std::int64_t col) {
            return value_at(row, col) - (*spec.row_maxima)[static_cast<std::size_t>(row)];
        });
    };
    const auto paint = [&] {
        if (by_row)
            return spec.value ? paint_from_top(spec.value) : paint_from_top(TensorNumbers(*tensor, spec));
        return spec.value ? paint_with(spec.value) : paint_with(TensorNumbers(*tensor, spec));
    };
    PixelCache::Named made;
    // Weights have their own color options.
    const bool scores = is_score(spec.tensor) && tensor_info(spec.tensor).scale == Scale::scores;
    if (context.pixels != nullptr && (spec.fill == CellFill::diverging || scores) && !spec.value &&
        !spec.forbidden) {
        const auto whole = [](auto number) { return static_cast<std::uint64_t>(number); };
        std::uint64_t key =
            key_of({reinterpret_cast<std::uintptr_t>(tensor), whole(spec.tensor), whole(spec.row_axis),
                    whole(spec.col_axis), whole(spec.rows), whole(spec.cols),
                    std::bit_cast<std::uint32_t>(spec.high), std::bit_cast<std::uint32_t>(spec.low),
                    reinterpret_cast<std::uintptr_t>(spec.ramp), whole(spec.fill), whole(spec.plus_sign),
                    whole(context.theme.dark), whole(cell.across), whole(cell.down), whole(down.pixels),
                    whole(across.pixels), whole(by_row)});
        for (const std::int64_t at : spec.origin)
            key = key_of({key, whole(at)});
        made = context.pixels->find_owned(context.shown.owner(spec.tensor), key, paint);
    } else {
        made.pixels = std::make_shared<const std::vector<figure::Color>>(paint());
        made.name = name_of(*made.pixels);
    }
    picture.scene.add(figure::GridItem{.area = area,
                                       .cols = static_cast<int>(across.pixels * cell.across),
                                       .rows = static_cast<int>(down.pixels * cell.down),
                                       .pixels = std::move(made.pixels),
                                       .key = made.name});
}

} // namespace headscope::app
