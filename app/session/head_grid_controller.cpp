#include "app/session/head_grid_controller.h"

#include "core/analysis/read_set.h"

#include <utility>

namespace headscope::app {

void HeadGridController::follow(const AttentionSetPtr& set, std::optional<std::int64_t> changed_from) {
    if (set == set_) {
        complete_ = maps_ == nullptr || maps_->ready() == set_->info().L;
        return;
    }
    state_.head_grid = nullptr;
    if (changed_from && set != nullptr && maps_ != nullptr) {
        maps_ = std::make_unique<HeadMaps>(set, wake_, *maps_, *changed_from);
    } else {
        maps_.reset();
        if (set != nullptr)
            maps_ = std::make_unique<HeadMaps>(set, wake_);
    }
    state_.head_grid = maps_.get();
    set_ = set;
    complete_ = maps_ == nullptr;
}

void HeadGridController::prioritize(std::int64_t first, std::int64_t last) {
    if (maps_ != nullptr)
        maps_->prioritize(state_.view.attention.layer, first, last);
}

void HeadGridController::wait() {
    if (maps_ != nullptr)
        maps_->wait();
}

std::optional<CellAddress> corresponding_cell(const std::optional<CellAddress>& cell,
                                              const AttentionSet& from, const AttentionSet& to,
                                              std::int64_t l) {
    if (!cell || cell->tensor != TensorId::weights)
        return std::nullopt;
    const auto i = analysis::same_query(from, to, l, cell->at[2]),
               j = analysis::same_key(from, to, l, cell->at[3]);
    if (!i || !j)
        return std::nullopt;
    return CellAddress{TensorId::weights, {cell->at[0], cell->at[1], *i, *j}};
}

void PendingView::take(ViewState& view) {
    const PendingView waited = std::exchange(*this, {});
    if (waited.head)
        view.head = *waited.head;
    if (waited.row)
        view.row = *waited.row;
    if (waited.selected && !view.selected) {
        view.selected = waited.selected;
        view.selected->at[1] = view.head;
    }
}

} // namespace headscope::app
