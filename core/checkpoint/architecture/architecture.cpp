#include "core/checkpoint/architecture/architecture.h"

#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace headscope::checkpoint {

double Architecture::temperature(std::int64_t l) const {
    const double own = score_scale ? 1.0 / (*score_scale * std::sqrt(static_cast<double>(dk))) : 1.0;
    return divide_by_layer ? own * static_cast<double>(l + 1) : own;
}

double QueryScale::at(std::int64_t position) const {
    return 1.0 + factor * std::log1p(static_cast<double>((position + 1) / span));
}

std::optional<double> Architecture::gate_cutoff(std::int64_t l) const {
    return gate_cutoffs.empty() ? std::nullopt : gate_cutoffs[static_cast<std::size_t>(l)];
}

bool Architecture::has_experts(std::int64_t l) const {
    return experts > 0 && (mixtures.empty() || mixtures[static_cast<std::size_t>(l)]);
}

std::int64_t Architecture::mlp_width(std::int64_t l) const {
    if (has_experts(l))
        return d_shared;
    return d_ffs.empty() ? d_ff : d_ffs[static_cast<std::size_t>(l)];
}

void Architecture::set_encoder(Architecture own) {
    own.complete();
    encoder_architecture = std::make_shared<const Architecture>(std::move(own));
    encoder = encoder_architecture;
}

void Architecture::complete() {
    if (const TensorName* const row = find_row(names.body, TensorId::W_Q))
        layers_sharing = row->shared_by;
    if (copies) {
        stream_copies = copies->count;
        active_copy = copies->active;
    }
    reads_encoder_table = encoder != nullptr && find_row(names.body, TensorId::W_E) == nullptr;
    if (position_rows > 0)
        longest_text = std::max<std::int64_t>(0, position_rows - position_offset);
    else if (!buckets && !relative)
        longest_text = max_positions;
}

const Architecture& in_stack(const Architecture& a, Stack stack) {
    return stack == Stack::encoder && a.encoder != nullptr ? *a.encoder_architecture : a;
}

void require_supported(const Architecture& a, const std::string& source) {
    const std::array faults = std::to_array<std::pair<bool, Message>>({
        {a.norms.after_branch && a.residual != Residual::serial,
         translatable("architecture.norms_outputs_parallel", "norms on the outputs of parallel branches")},
        {a.qk_norm == QkNorm::per_head_layer,
         translatable("architecture.norms_queries_keys", "norms on queries and keys that are LayerNorms")},
    });
    for (const auto& [present, what] : faults)
        if (present)
            fail_input(tr("architecture.model_not_computed_here",
                          "{}: this {} model has {}, which is not computed here; open another checkpoint",
                          source, a.family, tr(what)));
}

} // namespace headscope::checkpoint
