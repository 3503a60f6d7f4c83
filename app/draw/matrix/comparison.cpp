#include "app/draw/matrix/comparison.h"

#include "app/state/model_document.h"
#include "core/base/message.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headscope::app {

namespace {

/// Returns true for logits and probabilities, which exist only for one token's row.
bool is_one_row(TensorId id) {
    return tensor_info(id).axes[2] == Axis::vocab;
}

} // namespace

void Comparison::mark(Shown baseline, std::string name) {
    baseline_ = std::move(baseline);
    name_ = std::move(name);
    reset();
}

void Comparison::drop() {
    baseline_ = {};
    name_.clear();
    reset();
}

void Comparison::set_baseline_block(const checkpoint::RunPartPtr& block) {
    if (baseline_.block == block)
        return;
    baseline_.block = block;
    reset();
}

void Comparison::follow(const Shown& now, std::int64_t batch, StageGroup page) {
    now_.head_changes = now.head_changes; // not compared
    if (now.trace == now_.trace && now.document == now_.document && now.block == now_.block &&
        batch == batch_ && page == followed_page_)
        return;
    followed_page_ = page;
    now_ = now;
    batch_ = batch;
    reset();
}

void Comparison::reset() {
    differences_ = {};
    page_.reset();
    difference_ = {};
    obstacle_.clear();
    if (!marked() || now_.document == nullptr)
        return;
    obstacle_ = now_.is_pending() ? tr("common.computed", "Computing …")
                : is_pending()    ? tr("comparison.computed_layer", "A is being computed for this layer.")
                : now_.document->shows_weights()
                    ? tr("common.filtered_weights_not_compared",
                         "Filtered weights are not compared; the other stages are.")
                    : analysis::why_not_comparable(baseline_.problem(), now_.problem());
}

bool Comparison::is_pending() const {
    const auto is_layer = [](const Shown& shown) {
        return shown.document != nullptr && shown.document->is_checkpoint() &&
               !shown.document->shows_weights();
    };
    return is_layer(baseline_) && is_layer(now_) &&
           open_attention(*baseline_.document) != open_attention(*now_.document);
}

const analysis::TensorDifference* Comparison::of(TensorId id) const {
    if (!comparable() || now_.trace == nullptr || id == TensorId::mask || id == TensorId::gain)
        return nullptr;
    const Tensor *a = baseline_.tensor(id), *b = now_.tensor(id);
    if (a == nullptr || b == nullptr)
        return nullptr;
    auto& kept = differences_[static_cast<std::size_t>(id)];
    if (kept)
        return &*kept;
    Dims dims = now_.dims();
    const bool one_row = is_one_row(id);
    if (one_row)
        dims.Tq = 1;
    kept = headscope::analysis::difference(id, *a, *b, dims, batch_);
    if (one_row && kept->largest_at)
        (*kept->largest_at)[1] = now_.block->position;
    return &*kept;
}

float Comparison::change_at(const CellAddress& cell) const {
    const Tensor& cells = *of(cell.tensor)->cells;
    Index at = cell.at;
    if (is_one_row(cell.tensor))
        at[1] -= now_.block->position;
    return cells.data()[cells.shape().offset(at)];
}

const Shown& Comparison::difference(StageGroup page) const {
    if (page_ == page)
        return difference_;
    difference_ = now_;
    auto trace = std::make_shared<Trace>(*now_.trace);
    for (const TensorId id : results_of(page)) {
        const analysis::TensorDifference* change = of(id);
        if (change == nullptr)
            continue;
        if (change->largest_at)
            difference_.largest.push_back({id, *change->largest_at});
        if (is_stage(id)) {
            trace->slot(id) = change->cells;
            continue;
        }
        if (is_around(page)) {
            auto block = std::make_shared<checkpoint::RunPart>(*difference_.block);
            block->given[id] = change->cells;
            difference_.block = std::move(block);
            continue;
        }
        auto document = std::make_shared<Document>(*difference_.document);
        *document->problem.input_slot(id) = change->cells;
        difference_.document = std::move(document);
    }
    difference_.trace = std::move(trace);
    page_ = page;
    return difference_;
}

float Comparison::limit(StageGroup page) const {
    float largest = 0;
    for (const TensorId id : results_of(page))
        if (const analysis::TensorDifference* change = of(id))
            largest = std::max(largest, std::abs(change->largest));
    return symmetric_end(largest);
}

std::span<const TensorId> results_of(StageGroup page) {
    return group_info(page).results.all();
}

TensorId tensor_compared_by_head(const ViewState& view) {
    const TensorId main = main_tensor(view);
    return main == TensorId::x || main == TensorId::output ? TensorId::contributions : main;
}

float symmetric_end(float largest) {
    if (!(largest > 0))
        return 0.1F;
    const double step = std::min(0.1, std::pow(10.0, std::floor(std::log10(static_cast<double>(largest)))));
    // The small offset keeps a value that equals the end from being rounded up past it.
    return std::max(static_cast<float>(std::ceil(static_cast<double>(largest) / step - 1e-5) * step), 1e-6F);
}

std::optional<CellAddress> current_cell_on_canvas(const DrawContext& context) {
    const bool differs = context.compare != nullptr && draws_difference(context.view) &&
                         side_to_show(*context.compare, context.view.compare) == Compare::difference;
    const auto cell =
        current_cell(differs ? context.compare->difference(context.view.group) : context.shown, context.view);
    return cell && context.shown.is_known(*cell) ? cell : std::nullopt;
}

Compare side_to_show(const Comparison& comparison, Compare asked) {
    return comparison.comparable() ? asked : Compare::now;
}

bool draws_difference(const ViewState& view) {
    return view.group != StageGroup::weights || view.weights_view == WeightsView::heatmap;
}

DrawContext factor_context(const DrawContext& context) {
    if (!context.difference())
        return context;
    return {context.compare->now(), context.view,    context.theme,
            context.measure,        context.width,   context.height,
            context.controls,       context.history, context.history_position,
            context.compare,        Compare::now,    context.flash};
}

} // namespace headscope::app
