#include "app/draw/matrix/cell_tags.h"

#include "app/draw/kit/format.h"
#include "app/draw/kit/free_space.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float tag_text_size = 12, tag_height = 16, tag_pad = 4, tag_distance = 4;

bool inside(const figure::Rect& inner, const figure::Rect& outer) {
    return inner.x >= outer.x && inner.right() <= outer.right() && inner.y >= outer.y &&
           inner.bottom() <= outer.bottom();
}

/// Returns true if the cell shows a number with at least two decimals.
bool prints_number(const Picture& picture, const figure::Rect& cell) {
    constexpr std::size_t decimals = 2;
    return std::ranges::any_of(picture.scene.items, [&](const figure::SceneItem& item) {
        const auto* const text = std::get_if<figure::TextItem>(&item);
        if (text == nullptr || !cell.contains(text->at.x, text->at.y))
            return false;
        const auto point = text->text.find('.');
        return point != std::string::npos && text->text.size() - point > decimals;
    });
}

/// Returns true if the cell is masked or not finite, so that it has no number to show.
bool is_masked_cell(const Shown& shown, const CellAddress& cell) {
    if (!std::isfinite(shown.value(cell)))
        return true;
    return cell.tensor == TensorId::weights && shown.tensor(TensorId::masked) != nullptr &&
           std::isinf(shown.value({TensorId::masked, cell.at}));
}

/// A possible position of a tag: its area, and a line to its cell if it is not next to it.
struct TagPlace {
    figure::Rect area;
    std::optional<figure::LineItem> line;
};

/// Finds positions for the tags of one picture.
class Tagger {
public:
    Tagger(Picture& picture, const DrawContext& context)
        : picture_(picture), context_(context), grids_(picture.grids) {
        for (const figure::SceneItem& item : picture.scene.items) {
            if (const auto* const text = std::get_if<figure::TextItem>(&item))
                taken_.push_back(text_area(*text, context.measure));
            else if (const auto* const image = std::get_if<figure::GridItem>(&item);
                     image != nullptr && std::ranges::none_of(grids_, [&](const MatrixGrid& grid) {
                         return grid.area == image->area;
                     }))
                taken_.push_back(image->area); // the colors of a legend
            else if (const auto* const rect = std::get_if<figure::RectItem>(&item);
                     rect != nullptr && is_sample(rect->area))
                taken_.push_back(rect->area);
        }
        for (const MatrixGrid& grid : grids_)
            for (const lesson::CellRange& cells : context.view.points)
                if (const auto part = pointed_part(grid, cells)) {
                    const figure::Rect first = grid.cell(part->top, part->left),
                                       last = grid.cell(part->bottom - 1, part->right - 1);
                    constexpr float outline = 2;
                    taken_.push_back({first.x - outline, first.y - outline,
                                      last.right() - first.x + 2 * outline,
                                      last.bottom() - first.y + 2 * outline});
                }
    }

    void tag(const CellAddress& cell) {
        const MatrixGrid* largest = nullptr;
        figure::Rect own;
        for (const MatrixGrid& grid : grids_) {
            const auto at =
                grid.tensor == cell.tensor && grid.shows_own_values ? grid.find(cell.at) : std::nullopt;
            if (!at)
                continue;
            const figure::Rect area = grid.cell(at->first, at->second);
            if (prints_number(picture_, area))
                return;
            if (largest == nullptr || grid.pitch_x > largest->pitch_x)
                largest = &grid, own = area;
        }
        if (largest == nullptr)
            return;
        const std::string text = number(static_cast<double>(context_.shown.value(cell)), 2);
        width_ = context_.measure(text, figure::Font::mono_semibold, tag_text_size) + 2 * tag_pad;
        if (const auto place = place_for(*largest, own))
            draw(cell, text, *place);
    }

private:
    /// Returns true if a rectangle is a small separate item, such as the sample of a legend, and not part of
    /// a matrix.
    bool is_sample(const figure::Rect& area) const {
        constexpr float largest = 60;
        return area.w <= largest && area.h <= largest &&
               std::ranges::none_of(grids_, [&](const MatrixGrid& grid) { return overlap(area, grid.area); });
    }

    figure::Rect at_middle(float x, float y) const {
        return {x - width_ / 2, y - tag_height / 2, width_, tag_height};
    }

    bool is_free(const figure::Rect& area, const MatrixGrid& grid) const {
        const float right = std::max(context_.width, picture_.scene.width),
                    bottom = std::max(context_.height, picture_.scene.height);
        if (!inside(area, {1, 1, right - 2, bottom - 2}))
            return false;
        const auto covers = [&](const figure::Rect& taken) { return overlap(area, taken); };
        return std::ranges::none_of(taken_, covers) &&
               std::ranges::none_of(grids_, [&](const MatrixGrid& other) {
                   return !(other.area == grid.area) && covers(other.area);
               });
    }

    std::optional<TagPlace> place_for(const MatrixGrid& grid, const figure::Rect& cell) const {
        const float x = cell.x + cell.w / 2, y = cell.y + cell.h / 2;
        const float across = cell.w / 2 + tag_distance + width_ / 2,
                    down = cell.h / 2 + tag_distance + tag_height / 2;
        const std::array beside{at_middle(x + across, y), at_middle(x - across, y), at_middle(x, y + down),
                                at_middle(x, y - down)};
        // Prefer positions inside a small map.
        for (const bool within : {true, false})
            for (const figure::Rect& area : beside)
                if ((!within || inside(area, grid.area)) && is_free(area, grid))
                    return TagPlace{area, {}};
        std::optional<TagPlace> best;
        float shortest = INFINITY;
        const auto consider = [&](const TagPlace& place) {
            const float length =
                place.line->to.x - place.line->from.x + place.line->to.y - place.line->from.y;
            if (length < shortest && is_free(place.area, grid))
                best = place, shortest = length;
        };
        under_matrix(grid, cell, consider);
        behind_row(grid, cell, consider);
        return best;
    }

    /// Positions below the matrix; the line runs between two columns.
    template<class Consider>
    void under_matrix(const MatrixGrid& grid, const figure::Rect& cell, const Consider& consider) const {
        constexpr float below = 2, step = 4;
        const float top = grid.area.bottom() + below;
        for (float shift = 0; shift <= width_ / 2; shift += step)
            for (const float side : {1.0F, -1.0F})
                for (const float line : {cell.right() + grid.gap / 2, cell.x - grid.gap / 2})
                    consider({{line + side * shift - width_ / 2, top, width_, tag_height},
                              figure::LineItem{
                                  {line, cell.bottom()}, {line, top}, context_.theme.ink, line_width}});
    }

    /// Positions to the right of the matrix and its row sums; the line runs between two rows.
    template<class Consider>
    void behind_row(const MatrixGrid& grid, const figure::Rect& cell, const Consider& consider) const {
        constexpr float reach = 80, step = 4;
        for (float left = grid.area.right() + tag_distance; left < grid.area.right() + reach; left += step)
            for (const float line : {cell.bottom() + grid.gap / 2, cell.y - grid.gap / 2})
                consider(
                    {{left, line - tag_height / 2, width_, tag_height},
                     figure::LineItem{{cell.right(), line}, {left, line}, context_.theme.ink, line_width}});
    }

    void draw(const CellAddress& cell, const std::string& text, const TagPlace& place) {
        const Theme& theme = context_.theme;
        const figure::Rect& area = place.area;
        if (place.line)
            picture_.scene.add(*place.line);
        picture_.scene.add(
            figure::RectItem{.area = area, .fill = theme.raise, .stroke = theme.ink, .radius = 3});
        add_text(picture_.scene,
                 {area.x + area.w / 2, figure::baseline_for(area.y + area.h / 2, tag_text_size)}, text,
                 figure::Font::mono_semibold, tag_text_size, theme.ink, figure::Align::center);
        picture_.tags.push_back({cell, area});
        taken_.push_back(area);
    }

    static constexpr float line_width = 1.5F;

    Picture& picture_;
    const DrawContext& context_;
    const std::vector<MatrixGrid>& grids_;
    std::vector<figure::Rect> taken_;
    float width_ = 0; ///< width of the current tag
};

} // namespace

void draw_cell_tags(Picture& picture, const DrawContext& context) {
    if (context.view.pointing < 1)
        return;
    std::vector<CellAddress> cells;
    for (const lesson::CellRange& one : context.view.points)
        if (const CellAddress cell{one.tensor, one.first}; one.size() == 1 &&
                                                           context.shown.tensor(one.tensor) != nullptr &&
                                                           !is_masked_cell(context.shown, cell))
            cells.push_back(cell);
    if (cells.empty())
        return;
    Tagger tagger(picture, context);
    for (const CellAddress& cell : cells)
        tagger.tag(cell);
}

std::optional<PointedPart> pointed_part(const MatrixGrid& grid, const lesson::CellRange& cells) {
    if (grid.tensor != cells.tensor)
        return {};
    const int rank = tensor_info(cells.tensor).rank();
    for (int axis = 0; axis < rank; ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        if (axis != grid.row_axis && axis != grid.col_axis &&
            (grid.origin[a] < cells.first[a] || grid.origin[a] >= cells.first[a] + cells.count[a]))
            return {};
    }
    const auto range = [&](int axis, std::int64_t extent) {
        const auto a = static_cast<std::size_t>(axis);
        return std::pair(std::max<std::int64_t>(cells.first[a] - grid.origin[a], 0),
                         std::min(cells.first[a] + cells.count[a] - grid.origin[a], extent));
    };
    const auto [top, bottom] = range(grid.row_axis, grid.rows);
    const auto [left, right] = range(grid.col_axis, grid.cols);
    if (top >= bottom || left >= right)
        return {};
    return PointedPart{top, bottom, left, right};
}

} // namespace headscope::app
