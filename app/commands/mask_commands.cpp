#include "app/commands/edit_commands.h"
#include "core/base/error.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

/// Returns the current mask as one explicit rule plus the additive masks. In those, infinite entries become
/// 0, so that painting can allow what they masked.
Mask as_painted(const Problem& problem) {
    const Dims& d = problem.dims;
    const MaskRows rows(problem.mask, d);
    auto allowed = std::make_shared<BoolTensor>();
    allowed->shape = {d.B, d.H, d.Tq, d.Tk};
    allowed->values.reserve(static_cast<std::size_t>(allowed->shape.count()));
    for (std::int64_t b = 0; b < d.B; ++b)
        for (std::int64_t h = 0; h < d.H; ++h)
            for (std::int64_t i = 0; i < d.Tq; ++i)
                for (std::int64_t j = 0; j < d.Tk; ++j)
                    allowed->values.push_back(static_cast<std::uint8_t>(rows.allows(b, h, i, j)));
    Mask mask{ExplicitMask{std::move(allowed)}};
    for (const MaskRule& rule : problem.mask)
        if (const auto* additive = std::get_if<AdditiveMask>(&rule)) {
            Tensor add(additive->add->shape(), additive->add->values());
            std::ranges::replace_if(
                add.values(), [](float v) { return std::isinf(v); }, 0.0F);
            mask.emplace_back(AdditiveMask{std::make_shared<const Tensor>(std::move(add))});
        }
    return mask;
}

} // namespace

CommandName name_of(const Document&, const PaintMask& c) {
    return {c.head < 0 ? tr("mask_commands.paint_mask_all_heads", "paint mask, all heads")
                       : tr("mask_commands.paint_mask_head", "paint mask, head {}", c.head),
            c.allowed ? tr("mask_commands.allowed", "[{}, {}] allowed", c.i, c.j)
                      : tr("mask_commands.forbidden", "[{}, {}] forbidden", c.i, c.j)};
}

CommandName name_of(const Document&, const ResetMask&) {
    return {tr("mask_commands.mask_chosen", "mask as chosen"), {}};
}

bool change(project::Recipe& recipe, const Document& document, const PaintMask& c) {
    const Dims& d = document.problem.dims;
    if (c.head >= 0)
        check_head(d, c.head);
    if (c.batch < 0 || c.batch >= d.B || c.head < -1 || c.i < 0 || c.i >= d.Tq || c.j < 0 || c.j >= d.Tk)
        fail_input(tr("mask_commands.no_cell_mask", "there is no cell [{}, {}] in the mask; it has {} and {}",
                      c.i, c.j, tr_n("mask_commands.query", "{} query", "{} queries", d.Tq, d.Tq),
                      tr_n("mask_commands.key", "{} key", "{} keys", d.Tk, d.Tk)));
    if (!project::painted_mask_fits(recipe, d))
        recipe.painted_mask = as_painted(document.problem);
    auto& rule = std::get<ExplicitMask>(recipe.painted_mask.front());
    auto allowed = std::make_shared<BoolTensor>(*rule.allowed);
    for (std::int64_t h = 0; h < d.H; ++h)
        if (c.head < 0 || h == c.head)
            allowed->values[static_cast<std::size_t>(allowed->shape.offset({c.batch, h, c.i, c.j}))] =
                static_cast<std::uint8_t>(c.allowed);
    rule.allowed = std::move(allowed);
    return true;
}

bool change(project::Recipe& recipe, const Document&, const ResetMask&) {
    recipe.painted_mask.clear();
    return true;
}

} // namespace headscope::app
