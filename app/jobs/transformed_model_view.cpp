#include "app/jobs/transformed_model_view.h"

#include "app/state/attention_document.h"
#include "core/base/error.h"
#include "core/checkpoint/run/spelled_run.h"

#include <algorithm>
#include <exception>

namespace headscope::app {

namespace {

/// Larger than any revision in the history, because cached pictures are keyed by revision.
constexpr std::uint64_t first_revision = std::uint64_t{1} << 40U;

DocumentPtr transformed_document(const AttentionSetPtr& set, std::int64_t layer, const Document& document,
                                 std::uint64_t revision) {
    auto out = std::make_shared<Document>(*attention_document(set, layer, {}, document));
    const checkpoint::AttentionPlace place{document.stack(), layer};
    out->kind = CheckpointLayer{document.part(), place, set};
    out->title = document.title;
    out->revision = revision;
    const checkpoint::LayerEdits* const edits =
        layer >= set->info().own_layers()
            ? nullptr // a mean has no edits
            : checkpoint::edits_of(document.part()->edits,
                                   attention_number(document.part()->config(), place));
    if (edits != nullptr && !edits->gains.empty()) {
        out->problem.gains = edits->gains;
        out->problem.gains.resize(static_cast<std::size_t>(set->info().H), 1.0F); // a mean has no head gain
    }
    return out;
}

} // namespace

void TransformedModelView::clear() {
    read_.follow(nullptr, {});
    spelled_ = nullptr;
    set_ = nullptr;
    document_ = nullptr;
}

void TransformedModelView::follow(const checkpoint::ModelRunPtr& run, const Document& document,
                                  ViewState& view) {
    if (run == nullptr || run->model_ptr() != document.part()->model->model)
        return clear();
    AttentionView& attention = view.attention;
    if (document.is_long())
        attention.reading = {}; // means and merged words would hold whole maps in memory
    if (spelled_ == nullptr || spelled_->run() != run || spelled_->stack() != attention.stack)
        spelled_ =
            std::make_shared<const checkpoint::SpelledRun>(run, *document.part()->model, attention.stack);
    std::exception_ptr fault;
    AttentionSetPtr read;
    try {
        read = read_.follow(spelled_, attention.reading);
    } catch (const Error&) {
        fault = std::current_exception();
        attention.reading = read_.options();
        read = read_.follow(spelled_, attention.reading);
    }
    attention.possible = document.is_long() ? analysis::ReadingOptions{} : read_.possible();
    show(read, document, view);
    if (fault)
        std::rethrow_exception(fault);
}

void TransformedModelView::leave_mean(ViewState& view) const {
    if (set_ == nullptr || view.group == StageGroup::weights ||
        !set_->info().is_mean(view.attention.layer, view.head))
        return;
    view.attention.layer = std::min(view.attention.layer, set_->info().own_layers() - 1);
    view.head = std::min(view.head, set_->info().own_heads() - 1);
}

void TransformedModelView::show(const AttentionSetPtr& read, const Document& document, ViewState& view) {
    const AttentionInfo& info = read->info();
    std::int64_t& layer = view.attention.layer;
    layer = std::clamp<std::int64_t>(layer, 0, info.L - 1);
    view.head = std::clamp<std::int64_t>(view.head, 0, info.H - 1);
    set_ = read;
    const bool mean = info.is_mean(layer, view.head);
    if (mean) {
        view.group = StageGroup::weights;
        view.playing = false;
    }
    if (!mean && (info.reading.empty() || view.group != StageGroup::weights))
        document_ = nullptr;
    else if (document.stack() == view.attention.stack && // otherwise the document of the new stack is pending
             (document_ == nullptr || document_->shown_weights() != read || document_->layer() != layer ||
              document_->part() != document.part()))
        document_ = transformed_document(read, layer, document, first_revision + ++shown_count_);
}

} // namespace headscope::app
