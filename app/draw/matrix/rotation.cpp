#include "app/draw/matrix/rotation.h"
#include "core/attention/graph_of_problem.h"

#include <cmath>
#include <numbers>

namespace headscope::app {

RotatedNumber rotated_number(const Shown& shown, const CellAddress& cell) {
    const Problem& problem = shown.problem();
    const Dims& dims = problem.dims;
    const std::int64_t c = cell.at[3], partner = rotary_partner(c, dims.dk);
    const auto reads = shown.attention().reads(cell.tensor, cell.at);
    const std::int64_t entry = problem.rotary->cos->shape()[0] == 1 ? 0 : cell.at[0];
    RotatedNumber turn{.own = {reads[0].source, reads[0].first},
                       .partner = {reads[1].source, reads[1].first},
                       .cos = problem.rotary->cos->at(entry, cell.at[2], c),
                       .sin = problem.rotary->sin->at(entry, cell.at[2], c),
                       .sign = c < partner ? -1.0F : 1.0F,
                       .pair = std::min(c, partner)};
    turn.angle =
        std::atan2(static_cast<double>(turn.sin), static_cast<double>(turn.cos)) * 180 / std::numbers::pi;
    if (turn.angle < 0)
        turn.angle += 360;
    return turn;
}

} // namespace headscope::app
