#include "core/graph/location.h"

#include "core/base/in_order.h"

#include <array>

namespace headscope::graph {

namespace {

struct StepRow {
    Step step;
    Page page;
};
constexpr std::array<StepRow, step_count> step_rows{{
    {Step::x, Page::tokens},
    {Step::qkv, Page::projection},
    {Step::split, Page::split},
    {Step::scores, Page::maps},
    {Step::scaled, Page::maps},
    {Step::masked, Page::maps},
    {Step::weights, Page::weights},
    {Step::head_out, Page::head_out},
    {Step::concat, Page::concat},
    {Step::contributions, Page::contributions},
    {Step::output, Page::output},
    {Step::gate, Page::gate},
    {Step::c2p, Page::maps},
    {Step::p2c, Page::maps},
    {Step::embedding, Page::residual},
    {Step::position, Page::residual},
    {Step::resid_in, Page::residual},
    {Step::norm1, Page::norm},
    {Step::attn_out, Page::norm},
    {Step::resid_mid, Page::residual},
    {Step::norm2, Page::norm},
    {Step::mlp_pre, Page::mlp},
    {Step::mlp_gate, Page::mlp},
    {Step::mlp_act, Page::mlp},
    {Step::mlp_shared, Page::mlp_out},
    {Step::routing, Page::routing},
    {Step::mlp_experts, Page::mlp_out},
    {Step::mlp_raw, Page::mlp_out},
    {Step::mlp_out, Page::mlp_out},
    {Step::resid_out, Page::residual},
    {Step::delta_qkv, Page::delta},
    {Step::delta_state, Page::delta},
    {Step::delta_out, Page::delta},
    {Step::predicted, Page::copies},
    {Step::laurel, Page::copies},
    {Step::mlp_sparse, Page::mlp},
    {Step::activated, Page::residual},
    {Step::corrected, Page::copies},
    {Step::layer_out, Page::copies},
    {Step::merged, Page::copies},
    {Step::final_norm, Page::norm},
    {Step::logits, Page::vocabulary},
    {Step::probabilities, Page::vocabulary},
}};
static_assert(is_in_enum_order(step_rows, &StepRow::step));

} // namespace

Page page_of(Step step) {
    return step_rows[static_cast<std::size_t>(step)].page;
}

} // namespace headscope::graph
