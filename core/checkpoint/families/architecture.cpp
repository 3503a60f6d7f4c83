#include "core/checkpoint/families/architecture.h"

#include "core/base/error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace headscope::checkpoint {

double Architecture::temperature(std::int64_t l) const {
    const double own = score_scale ? 1.0 / (*score_scale * std::sqrt(static_cast<double>(dk))) : 1.0;
    return divide_by_layer ? own * static_cast<double>(l + 1) : own;
}

std::int64_t Architecture::longest_text() const {
    return position_rows > 0 ? std::max<std::int64_t>(0, position_rows - position_offset) : max_positions;
}

void require_supported(const Architecture& a, const std::string& source) {
    const std::array faults = std::to_array<std::pair<bool, const char*>>({
        {a.norms.after_branch && a.residual != Residual::serial, "norms on the outputs of parallel branches"},
        {a.qk_norm == QkNorm::per_head_layer, "norms on queries and keys that are LayerNorms"},
    });
    for (const auto& [present, what] : faults)
        if (present)
            fail_input(source + ": this " + a.family + " model has " + what +
                       ", which is not computed here; open another checkpoint");
}

} // namespace headscope::checkpoint
