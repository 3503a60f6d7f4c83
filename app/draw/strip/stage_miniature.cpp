#include "app/draw/strip/stage_miniature.h"

#include "app/draw/kit/pixel_cache.h"
#include "app/draw/matrix/flash.h"
#include "app/draw/matrix/matrix.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headscope::app {

namespace {

using figure::Rect;

constexpr std::int64_t most_rows = 12, most_columns = 16, most_heads = 3;
constexpr float lowest_score = -8; ///< below the largest of its row

/// One block of a small picture: some rows and columns of a tensor.
struct MiniBlock {
    TensorId tensor{};
    std::int64_t head = -1; ///< index on the tensor's axis of heads; -1: it has none
    std::int64_t rows = 1, cols = 1;
    std::int64_t owner = -1;     ///< the head that colors the block; -1: neutral
    std::int64_t head_width = 0; ///< if not 0, every so many columns belong to the next head
    std::int64_t shared = 1;     ///< query heads that share such columns
    bool by_row = false;         ///< scores, colored by their distance from the largest of the row
};

/// The blocks of a stage, in lines from top to bottom.
using MiniLines = std::vector<std::vector<MiniBlock>>;

std::int64_t rows_of(TensorId id, const Dims& dims) {
    const Shape shape = tensor_info(id).shape(dims);
    return shape[shape.rank() - 2];
}

std::int64_t columns_of(TensorId id, const Dims& dims) {
    const Shape shape = tensor_info(id).shape(dims);
    return shape[shape.rank() - 1];
}

MiniBlock block_of(TensorId id, const Dims& dims) {
    return {.tensor = id, .rows = rows_of(id, dims), .cols = columns_of(id, dims)};
}

MiniBlock head_block(TensorId id, const Dims& dims, std::int64_t head) {
    MiniBlock block = block_of(id, dims);
    block.head = tensor_info(id).axes[1] == Axis::Hkv ? dims.kv_head(head) : head;
    block.owner = head;
    return block;
}

MiniLines lines_of(const DrawContext& context, StageGroup stage) {
    const Dims& dims = context.dims();
    const std::int64_t heads = std::min(dims.H, most_heads);
    const auto each_head = [&](TensorId id, bool by_row) {
        std::vector<MiniBlock> line;
        for (std::int64_t h = 0; h < heads; ++h) {
            line.push_back(head_block(id, dims, h));
            line.back().by_row = by_row;
        }
        return MiniLines{line};
    };
    const auto joined = [&](TensorId id, std::int64_t width, std::int64_t shared) {
        MiniBlock block = block_of(id, dims);
        block.head_width = width;
        block.shared = shared;
        return block;
    };
    const std::int64_t shared = dims.H / dims.Hkv;
    switch (stage) {
    case StageGroup::qkv:
        return {{joined(TensorId::q, dims.dk, 1), joined(TensorId::k, dims.dk, shared),
                 joined(TensorId::v, dims.dv, shared)}};
    case StageGroup::split: {
        MiniLines lines;
        for (std::int64_t h = 0; h < heads; ++h)
            lines.push_back({head_block(TensorId::q_heads, dims, h), head_block(TensorId::k_heads, dims, h),
                             head_block(TensorId::v_heads, dims, h)});
        return lines;
    }
    case StageGroup::c2p:
    case StageGroup::p2c:
    case StageGroup::scores:
    case StageGroup::scaled:
    case StageGroup::masked:
        return each_head(group_info(stage).main, true);
    case StageGroup::weights:
    case StageGroup::head_out:
    case StageGroup::contributions:
        return each_head(group_info(stage).main, false);
    case StageGroup::concat:
        return {{joined(TensorId::concat, dims.dv, 1)}};
    default:
        return {{block_of(group_info(stage).main, dims)}};
    }
}

/// The address of a cell of a block.
CellAddress cell_of(const MiniBlock& block, std::int64_t batch, std::int64_t row, std::int64_t col) {
    const TensorInfo& info = tensor_info(block.tensor);
    Index at{};
    const auto last = static_cast<std::size_t>(info.rank() - 1);
    if (info.axes[0] == Axis::B)
        at[0] = batch;
    if (block.head >= 0 && last == 3)
        at[1] = block.head;
    at[last - 1] = row;
    at[last] = col;
    return {block.tensor, at};
}

figure::Color color_of(const DrawContext& context, const MiniBlock& block, std::int64_t col, float value,
                       float high) {
    const Theme& theme = context.theme;
    const std::int64_t head = block.head_width > 0 ? col / block.head_width * block.shared : block.owner;
    const bool off = head >= 0 && context.shown.problem().gain(head) == 0.0F;
    const Ramp& ramp =
        head < 0 || off ? theme.neutral : theme.heat(head, context.dims().H, context.view.colour_map);
    if (!std::isfinite(value))
        return theme.panel;
    if (block.by_row)
        return ramp_color(ramp, 1 - value / lowest_score);
    if (block.tensor == TensorId::weights)
        return ramp_color(ramp, value);
    return ramp_color(ramp, 0.06F + 0.8F * std::sqrt(std::abs(value) / high));
}

void draw_block(Picture& picture, const DrawContext& context, const MiniBlock& block, const Rect& area) {
    const std::int64_t rows = std::min(block.rows, most_rows), cols = std::min(block.cols, most_columns);
    const float high = largest_magnitude(context, block.tensor, context.view.batch);
    std::vector<figure::Color> pixels;
    pixels.reserve(static_cast<std::size_t>(rows * cols));
    for (std::int64_t r = 0; r < rows; ++r) {
        const std::int64_t row = r * block.rows / rows;
        const auto value = [&](std::int64_t col) {
            return context.shown.value(cell_of(block, context.view.batch, row, col));
        };
        float top = 0;
        if (block.by_row) {
            top = value(0);
            for (std::int64_t col = 1; col < block.cols; ++col)
                top = std::max(top, value(col));
        }
        for (std::int64_t c = 0; c < cols; ++c) {
            const std::int64_t col = c * block.cols / cols;
            pixels.push_back(color_of(context, block, col, value(col) - top, high));
        }
    }
    const std::uint64_t key = name_of(pixels);
    picture.scene.add(
        figure::GridItem{.area = area,
                         .cols = static_cast<int>(cols),
                         .rows = static_cast<int>(rows),
                         .pixels = std::make_shared<const std::vector<figure::Color>>(std::move(pixels)),
                         .key = key});
}

constexpr float between_blocks = 4, between_lines = 3;

float line_height(const MiniLines& lines, float height) {
    const auto count = static_cast<float>(lines.size());
    return (height - (count - 1) * between_lines) / count;
}

/// The width of a block: cells are square, unless there are many more rows than columns or the reverse.
float block_width(const MiniBlock& block, float height) {
    const auto rows = static_cast<float>(std::min(block.rows, most_rows)),
               cols = static_cast<float>(std::min(block.cols, most_columns));
    return std::clamp(std::round(height * cols / rows), height * 0.5F, height * 1.4F);
}

bool is_there(const DrawContext& context, const MiniLines& lines) {
    for (const auto& line : lines)
        for (const MiniBlock& block : line)
            if (context.shown.tensor(block.tensor) == nullptr)
                return false;
    return true;
}

} // namespace

float miniature_width(const DrawContext& context, StageGroup stage, float height) {
    const MiniLines lines = lines_of(context, stage);
    if (!is_there(context, lines))
        return 0;
    const float high = line_height(lines, height);
    float width = 0;
    for (const auto& line : lines) {
        float wide = -between_blocks;
        for (const MiniBlock& block : line)
            wide += block_width(block, high) + between_blocks;
        width = std::max(width, wide);
    }
    return width;
}

void draw_stage_miniature(Picture& picture, const DrawContext& context, StageGroup stage, const Rect& area) {
    const MiniLines lines = lines_of(context, stage);
    const float wanted = miniature_width(context, stage, area.h);
    if (wanted <= 0)
        return;
    const float high = line_height(lines, area.h), shrunk = std::min(1.0F, area.w / wanted);
    float y = area.y;
    for (const auto& line : lines) {
        float wide = -between_blocks;
        for (const MiniBlock& block : line)
            wide += block_width(block, high) + between_blocks;
        float x = area.x + (area.w - wide * shrunk) / 2;
        for (const MiniBlock& block : line) {
            const float w = block_width(block, high) * shrunk;
            draw_block(picture, context, block, {x, y, w, high});
            x += w + between_blocks * shrunk;
        }
        y += high + between_lines;
    }
}

bool has_changed(const DrawContext& context, StageGroup stage) {
    if (context.flash == nullptr || context.flash->strength <= 0)
        return false;
    const auto changed = [&](TensorId id) {
        const Tensor *const before = context.flash->before.tensor(id), *const now = context.shown.tensor(id);
        return before != nullptr && now != nullptr && before->values().data() != now->values().data() &&
               !std::ranges::equal(before->values(), now->values());
    };
    for (const auto& line : lines_of(context, stage))
        if (std::ranges::any_of(line, [&](const MiniBlock& block) { return changed(block.tensor); }))
            return true;
    return false;
}

} // namespace headscope::app
