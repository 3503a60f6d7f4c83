#pragma once

#include "app/draw/kit/picture.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace headscope::app {

/// Where the cells of a picture are, by the number that they show. A number has one address in all tensors
/// that only arrange it in another way: the columns of Q and the queries of the heads, the head outputs and
/// their concatenation.
class CellPlaces {
public:
    CellPlaces() = default;
    CellPlaces(const std::vector<MatrixGrid>& grids, const Dims& dims);

    /// Returns the place of the number that `cell` shows; null if the picture does not have it.
    const figure::Rect* find(const CellAddress& cell, const Dims& dims) const;
    bool empty() const { return places_.empty(); }

private:
    std::unordered_map<std::uint64_t, figure::Rect> places_;
};

/// A picture that is being replaced by another one.
struct LeavingPicture {
    Picture picture;    ///< its scene and its grids
    CellPlaces places;  ///< of its cells
    Dims dims;          ///< of the problem that it shows
    bool zooms = false; ///< the next picture opens out of a part of this one, or closes into a part of it
};
LeavingPicture leaving_picture(const Picture& picture, const Dims& dims, bool zooms);

/// A picture between the one that leaves and the one that arrives; both have the same origin. Cells that show
/// the same number in both glide from place to place; a product without such cells is filled where its rows
/// have met its columns, and a mix of values gathers its values by their weights; everything else fades. With
/// `zooms`, everything else also moves with the cells of the stage's tensor, as if the picture that leaves
/// were approached. The instant is context.view.arrival, and the picture depends on nothing before it. Its
/// grids are those of the arriving picture, in motion: a further transition can begin from it.
Picture transition(const LeavingPicture& from, Picture to, const DrawContext& context);

} // namespace headscope::app
