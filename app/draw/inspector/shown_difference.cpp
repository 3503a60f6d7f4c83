#include "app/draw/inspector/inspector_sections.h"
#include "app/draw/kit/format.h"
#include "app/draw/matrix/comparison.h"
#include "app/draw/pages/attention_pages.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

std::string two_numbers(double from, double taken) {
    const int decimals = std::max(std::abs(from), std::abs(taken)) < 10 ? 4 : 2;
    return number(from, decimals) + " − " + number(taken, decimals);
}

std::optional<ShownDifference> difference_of_heads(const DrawContext& context, const CellAddress& cell) {
    CellAddress twin = cell;
    twin.at[1] = cell.at[1] == context.view.compared_head ? context.view.head : context.view.compared_head;
    if (twin.at[1] == cell.at[1] || twin.at[1] >= context.shown.tensor(cell.tensor)->shape()[1])
        return std::nullopt;
    const auto own = static_cast<double>(context.shown.value(cell)),
               other = static_cast<double>(context.shown.value(twin));
    return ShownDifference{own - other, head_title_in_sentence(context, cell.at[1]) + " − " +
                                            head_title_in_sentence(context, twin.at[1]) + ": " +
                                            two_numbers(own, other)};
}

std::optional<ShownDifference> difference_from_a(const DrawContext& context, const CellAddress& cell) {
    const Comparison* const compare = context.compare;
    if (compare == nullptr || side_to_show(*compare, context.view.compare) != Compare::difference ||
        !draws_difference(context.view) || compare->of(cell.tensor) == nullptr ||
        std::ranges::find(results_of(context.view.group), cell.tensor) ==
            results_of(context.view.group).end())
        return std::nullopt;
    return ShownDifference{static_cast<double>(compare->change_at(cell)),
                           "B − A: " + two_numbers(static_cast<double>(compare->now().value(cell)),
                                                   static_cast<double>(compare->baseline().value(cell)))};
}

} // namespace

bool compares_heads(const DrawContext& context, TensorId id) {
    const TensorInfo& info = tensor_info(id);
    return context.view.heads_view == HeadsView::difference && info.stage &&
           info.axes == tensor_info(TensorId::scores).axes;
}

std::optional<ShownDifference> difference_on_canvas(const DrawContext& context, const CellAddress& cell) {
    auto difference = difference_from_a(context, cell);
    if (!difference && compares_heads(context, cell.tensor))
        difference = difference_of_heads(context, cell);
    return difference && std::isfinite(difference->value) ? difference : std::nullopt;
}

} // namespace headscope::app
