#include "app/draw/motion/transition.h"

#include "app/draw/motion/moved_item.h"
#include "app/state/screens/flow_story.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headscope::app {

namespace {

using figure::Point;
using figure::Rect;

constexpr std::int64_t most_cells = 6000;  ///< that glide one by one
constexpr std::int64_t most_values = 1200; ///< that gather in the mix of values

/// The same number in the tensor that has one matrix for each head.
CellAddress by_head(CellAddress cell, const Dims& dims) {
    const auto split = [&](TensorId blocks, std::int64_t width) {
        if (width <= 0) // attention weights alone have no such tensor
            return;
        const Index at = cell.at;
        cell = {blocks, {at[0], at[2] / width, at[1], at[2] % width}};
    };
    switch (cell.tensor) {
    case TensorId::q:
        split(TensorId::q_heads, dims.dk);
        break;
    case TensorId::k:
        split(TensorId::k_heads, dims.dk);
        break;
    case TensorId::v:
        split(TensorId::v_heads, dims.dv);
        break;
    case TensorId::concat:
        split(TensorId::head_out, dims.dv);
        break;
    default:
        break;
    }
    return cell;
}

std::uint64_t cell_key(const CellAddress& cell) {
    constexpr int bits = 14; // of an index: the Flow and the stages draw at most 4,096 rows
    std::uint64_t key = static_cast<std::uint64_t>(cell.tensor);
    for (const std::int64_t index : cell.at)
        key = key << bits | (static_cast<std::uint64_t>(index) & ((std::uint64_t{1} << bits) - 1));
    return key;
}

std::int64_t cells_of(const std::vector<MatrixGrid>& grids) {
    std::int64_t count = 0;
    for (const MatrixGrid& grid : grids)
        count += grid.rows * grid.cols;
    return count;
}

Rect bounds_of(const Rect& a, const Rect& b) {
    if (a.w <= 0)
        return b;
    const float x = std::min(a.x, b.x), y = std::min(a.y, b.y);
    return {x, y, std::max(a.right(), b.right()) - x, std::max(a.bottom(), b.bottom()) - y};
}

/// How a matrix of the arriving picture comes to its place.
struct GridMotion {
    const MatrixGrid* grid = nullptr;
    /// The places that its cells come from, row by row; width 0: from nowhere. Empty if none comes from
    /// anywhere.
    std::vector<Rect> sources = {};
    const MatrixGrid* left = nullptr;  ///< the left factor of a product that is filled
    const MatrixGrid* above = nullptr; ///< and the right one, above it

    bool glides() const { return !sources.empty(); }
    bool glides(std::int64_t row, std::int64_t col) const { return glides() && source(row, col).w > 0; }
    bool fills() const { return left != nullptr && above != nullptr; }
    const Rect& source(std::int64_t row, std::int64_t col) const {
        return sources[static_cast<std::size_t>(row * grid->cols + col)];
    }
};

/// The places that the cells of a matrix come from; empty if all of them are unknown.
std::vector<Rect> sources_of(const LeavingPicture& from, const MatrixGrid& grid) {
    std::vector<Rect> out;
    out.reserve(static_cast<std::size_t>(grid.rows * grid.cols));
    for (std::int64_t row = 0; row < grid.rows; ++row)
        for (std::int64_t col = 0; col < grid.cols; ++col) {
            const Rect* const place = from.places.find({grid.tensor, grid.index(row, col)}, from.dims);
            out.push_back(place == nullptr ? Rect{} : *place);
        }
    const bool known = std::ranges::any_of(out, [](const Rect& place) { return place.w > 0; });
    return known ? out : std::vector<Rect>{};
}

/// Finds the factors of a product by their places: the rows of the left one and the columns of the one above
/// are in line with those of the result.
void find_factors(GridMotion& motion, const std::vector<MatrixGrid>& grids) {
    constexpr float in_line = 1.5F;
    const MatrixGrid& result = *motion.grid;
    for (const MatrixGrid& grid : grids) {
        if (grid.rows == result.rows && std::abs(grid.area.y - result.area.y) < in_line &&
            grid.area.right() <= result.area.x &&
            (motion.left == nullptr || grid.area.x > motion.left->area.x))
            motion.left = &grid;
        if (grid.cols == result.cols && std::abs(grid.area.x - result.area.x) < in_line &&
            grid.area.bottom() <= result.area.y &&
            (motion.above == nullptr || grid.area.y > motion.above->area.y))
            motion.above = &grid;
    }
}

/// The state of one transition at one instant.
class Moment {
public:
    Moment(const LeavingPicture& from, const Picture& to, const DrawContext& context)
        : from_(from), to_(to), context_(context), background_(context.theme.canvas),
          t_(std::clamp(context.view.arrival, 0.0F, 1.0F)), eased_(ease_in_out(t_)) {
        const TensorId main = main_tensor(context.view);
        const bool few = cells_of(to.grids) <= most_cells;
        for (const MatrixGrid& grid : to.grids) {
            GridMotion motion{.grid = &grid};
            if (few && grid.outlined && !from.places.empty())
                motion.sources = sources_of(from, grid);
            if (!motion.glides() && grid.tensor == main)
                find_factors(motion, to.grids);
            motions_.push_back(std::move(motion));
        }
        find_camera(main);
    }

    Picture picture();

private:
    /// Cells that the zoom keeps in sight: those of `main`, else all that glide.
    void find_camera(TensorId main) {
        if (!from_.zooms)
            return;
        Rect source{}, target{};
        for (const bool all : {false, true}) {
            for (const GridMotion& motion : motions_) {
                const CellAddress first = by_head({motion.grid->tensor, motion.grid->origin}, from_.dims);
                if (!motion.glides() || (!all && first.tensor != by_head({main, {}}, from_.dims).tensor))
                    continue;
                for (const Rect& place : motion.sources)
                    if (place.w > 0)
                        source = bounds_of(source, place);
                target = bounds_of(target, motion.grid->area);
            }
            if (source.w > 0)
                break;
        }
        if (source.w <= 0)
            return;
        const Rect now = between(source, target, eased_);
        leaves_ = {source, now};
        arrives_ = {target, now};
        zooms_ = true;
    }

    /// How far a cell of a product is filled in, 0 to 1: its row has reached its column, and its column its
    /// row.
    float filled(const GridMotion& motion, std::int64_t row, std::int64_t col) const {
        constexpr float fade = 0.25F;
        const float met = std::max(static_cast<float>(row + 1) / static_cast<float>(motion.grid->rows),
                                   static_cast<float>(col + 1) / static_cast<float>(motion.grid->cols));
        return std::clamp((eased_ - met * (1 - fade)) / fade, 0.0F, 1.0F);
    }

    void add_leaving(figure::Scene& out) const;
    void add_item(figure::Scene& out, figure::SceneItem item) const;
    void add_factors(figure::Scene& out, const GridMotion& motion) const;
    void add_values(figure::Scene& out, const GridMotion& motion) const;
    const GridMotion* motion_at(const ItemPlace& place) const;

    const LeavingPicture& from_;
    const Picture& to_;
    const DrawContext& context_;
    figure::Color background_;
    float t_, eased_;
    std::vector<GridMotion> motions_;
    Mapping leaves_, arrives_;
    bool zooms_ = false;
};

/// The motion of the matrix with an item in one of its cells; null for an item that is larger than a cell.
const GridMotion* Moment::motion_at(const ItemPlace& place) const {
    constexpr float beyond = 8; // frames are larger than their cells
    for (const GridMotion& motion : motions_) {
        const MatrixGrid& grid = *motion.grid;
        if (!grid.area.contains(place.center.x, place.center.y))
            continue;
        const bool image = place.w > grid.pitch_x + beyond || place.h > grid.pitch_y + beyond;
        const bool whole = place.w <= grid.area.w + beyond && place.h <= grid.area.h + beyond;
        if (!image || whole)
            return &motion;
    }
    return nullptr;
}

/// The picture that leaves, without the cells that glide.
void Moment::add_leaving(figure::Scene& out) const {
    constexpr float early = 1.8F; // it is gone before the other one has arrived
    const float opacity = std::clamp(1 - early * t_, 0.0F, 1.0F);
    if (opacity <= 0)
        return;
    std::vector<Rect> gliding;
    for (const GridMotion& motion : motions_)
        for (const Rect& place : motion.sources)
            if (place.w > 0)
                gliding.push_back(place);
    const auto glides = [&](const ItemPlace& place) {
        return std::ranges::any_of(gliding, [&](const Rect& cell) {
            return cell.contains(place.center.x, place.center.y) && place.w <= cell.w + 2 &&
                   place.h <= cell.h + 2;
        });
    };
    for (figure::SceneItem item : from_.picture.scene.items) {
        const std::optional<ItemPlace> place = place_of(item);
        if (!place || glides(*place) || (zooms_ && !move_item(item, leaves_)))
            continue;
        const auto veil = fade_item(item, opacity, background_);
        out.items.push_back(std::move(item));
        if (veil)
            out.items.push_back(*veil);
    }
}

void Moment::add_item(figure::Scene& out, figure::SceneItem item) const {
    const std::optional<ItemPlace> place = place_of(item);
    if (!place) { // a clip
        if (!zooms_)
            out.items.push_back(std::move(item));
        return;
    }
    const GridMotion* const motion = motion_at(*place);
    float opacity = eased_;
    if (motion != nullptr) {
        const MatrixGrid& grid = *motion->grid;
        const auto row = std::clamp<std::int64_t>(
            static_cast<std::int64_t>((place->center.y - grid.area.y) / grid.pitch_y), 0, grid.rows - 1);
        const auto col = std::clamp<std::int64_t>(
            static_cast<std::int64_t>((place->center.x - grid.area.x) / grid.pitch_x), 0, grid.cols - 1);
        const bool of_cell = place->w <= grid.pitch_x + 1 && place->h <= grid.pitch_y + 1;
        if (motion->glides(row, col) && of_cell) {
            const Rect cell = grid.cell(row, col);
            if (move_item(item, {cell, between(motion->source(row, col), cell, eased_)}))
                out.items.push_back(std::move(item));
            return;
        }
        const bool whole = motion->glides(0, 0) && motion->glides(grid.rows - 1, grid.cols - 1);
        if (whole && std::holds_alternative<figure::GridItem>(item)) {
            const Rect source = bounds_of(motion->source(0, 0), motion->source(grid.rows - 1, grid.cols - 1));
            move_item(item, {grid.area, between(source, grid.area, eased_)});
            out.items.push_back(std::move(item));
            return;
        }
        if (motion->fills() && of_cell)
            opacity = filled(*motion, row, col);
    }
    if (zooms_ && !move_item(item, arrives_))
        return;
    const auto veil = fade_item(item, opacity, background_);
    out.items.push_back(std::move(item));
    if (veil)
        out.items.push_back(*veil);
}

/// The rows of the left factor reach to the right, the columns of the other one down, until they have met.
void Moment::add_factors(figure::Scene& out, const GridMotion& motion) const {
    const Rect &result = motion.grid->area, &left = motion.left->area, &above = motion.above->area;
    const float shown = std::sin(eased_ * 3.14159F); // from nothing to nothing
    const figure::Color color =
        figure::with_alpha(0xFF808080U, static_cast<std::uint32_t>(std::lround(46 * shown)));
    constexpr float apart = 1;
    for (std::int64_t row = 0; row < motion.grid->rows; ++row)
        out.add(figure::RectItem{.area = {left.x, result.y + motion.grid->pitch_y * static_cast<float>(row),
                                          std::lerp(left.right(), result.right(), eased_) - left.x,
                                          motion.grid->pitch_y - apart},
                                 .fill = color});
    for (std::int64_t col = 0; col < motion.grid->cols; ++col)
        out.add(figure::RectItem{.area = {result.x + motion.grid->pitch_x * static_cast<float>(col), above.y,
                                          motion.grid->pitch_x - apart,
                                          std::lerp(above.bottom(), result.bottom(), eased_) - above.y},
                                 .fill = color});
}

/// The values above the result slide into each row of it, as opaque as their weights.
void Moment::add_values(figure::Scene& out, const GridMotion& motion) const {
    const MatrixGrid &result = *motion.grid, &values = *motion.above, &weights = *motion.left;
    if (values.tensor != TensorId::v_heads || weights.tensor != TensorId::weights ||
        weights.cols != values.rows || result.rows * result.cols * values.rows > most_values)
        return add_factors(out, motion);
    // They appear over their places, and are gone when the result is written.
    const float shown = std::sin(eased_ * 3.14159F);
    const figure::Color color = context_.head_colours(result.origin[1]).colour;
    for (std::int64_t row = 0; row < result.rows; ++row)
        for (std::int64_t key = 0; key < values.rows; ++key) {
            const float weight = context_.shown.value({weights.tensor, weights.index(row, key)});
            const auto alpha = static_cast<std::uint32_t>(std::lround(110 * weight * shown));
            if (alpha < 4)
                continue;
            for (std::int64_t col = 0; col < result.cols; ++col) {
                const Rect place = between(values.cell(key, col), result.cell(row, col), eased_);
                out.add(figure::RectItem{.area = place, .fill = figure::with_alpha(color, alpha)});
            }
        }
}

Picture Moment::picture() {
    Picture out = to_;
    out.scene.items.clear();
    add_leaving(out.scene);
    for (const figure::SceneItem& item : to_.scene.items)
        add_item(out.scene, item);
    for (const GridMotion& motion : motions_)
        if (motion.fills() && !zooms_) {
            if (motion.grid->tensor == TensorId::head_out)
                add_values(out.scene, motion);
            else
                add_factors(out.scene, motion);
        }
    // The cells where they are now, so that the next transition begins there.
    out.grids.clear();
    for (const GridMotion& motion : motions_) {
        if (!motion.glides()) {
            out.grids.push_back(*motion.grid);
            continue;
        }
        const MatrixGrid& grid = *motion.grid;
        for (std::int64_t row = 0; row < grid.rows; ++row)
            for (std::int64_t col = 0; col < grid.cols; ++col) {
                MatrixGrid cell = grid;
                cell.origin = grid.index(row, col);
                cell.rows = cell.cols = 1;
                cell.column_indices.clear();
                const Rect place = grid.cell(row, col);
                cell.area = motion.glides(row, col) ? between(motion.source(row, col), place, eased_) : place;
                cell.pitch_x = cell.area.w;
                cell.pitch_y = cell.area.h;
                cell.gap = 0;
                out.grids.push_back(std::move(cell));
            }
    }
    return out;
}

} // namespace

CellPlaces::CellPlaces(const std::vector<MatrixGrid>& grids, const Dims& dims) {
    if (cells_of(grids) > most_cells)
        return;
    for (const MatrixGrid& grid : grids)
        for (std::int64_t row = 0; row < grid.rows && grid.outlined; ++row)
            for (std::int64_t col = 0; col < grid.cols; ++col)
                places_.insert_or_assign(cell_key(by_head({grid.tensor, grid.index(row, col)}, dims)),
                                         grid.cell(row, col));
}

const Rect* CellPlaces::find(const CellAddress& cell, const Dims& dims) const {
    const auto place = places_.find(cell_key(by_head(cell, dims)));
    return place == places_.end() ? nullptr : &place->second;
}

LeavingPicture leaving_picture(const Picture& picture, const Dims& dims, bool zooms) {
    LeavingPicture out{
        .picture = {}, .places = CellPlaces(picture.grids, dims), .dims = dims, .zooms = zooms};
    out.picture.scene = picture.scene;
    out.picture.grids = picture.grids;
    return out;
}

Picture transition(const LeavingPicture& from, Picture to, const DrawContext& context) {
    if (context.view.arrival >= 1)
        return to;
    return Moment(from, to, context).picture();
}

} // namespace headscope::app
