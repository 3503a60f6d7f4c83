#include "app/jobs/model_look.h"

#include "app/state/attention_document.h"
#include "core/base/error.h"
#include "core/checkpoint/spelled_run.h"

#include <algorithm>
#include <exception>

namespace headscope {

namespace {

/// Not met by a document of the history: pictures are kept by it.
constexpr std::uint64_t first_revision = std::uint64_t{1} << 40U;

DocumentPtr look_of(const AttentionSetPtr& set, std::int64_t layer, const Document& document,
                    std::uint64_t revision) {
    auto look = std::make_shared<Document>(*attention_document(set, layer, document));
    look->model = document.model;
    look->title = document.title;
    look->revision = revision;
    if (const LayerEdits* edits = edits_of(document.model->edits, layer))
        look->problem.gains = edits->gains;
    return look;
}

} // namespace

void ModelLook::clear() {
    read_.follow(nullptr, {});
    spelled_ = nullptr;
    set_ = nullptr;
    document_ = nullptr;
}

void ModelLook::follow(const ModelRunPtr& run, const Document& document, AttentionView& view) {
    if (run == nullptr)
        return clear();
    if (spelled_ == nullptr || spelled_->run() != run)
        spelled_ = std::make_shared<const SpelledRun>(run, *document.model->model);
    view.reading.means = false;
    std::exception_ptr fault;
    AttentionSetPtr read;
    try {
        read = read_.follow(spelled_, view.reading);
    } catch (const Error&) {
        fault = std::current_exception();
        view.reading = read_.options();
        read = read_.follow(spelled_, view.reading);
    }
    view.possible = read_.possible();
    view.possible.means = false;
    if (read == spelled_) {
        set_ = run;
        document_ = nullptr;
    } else if (const std::int64_t layer = std::clamp<std::int64_t>(view.layer, 0, run->info().L - 1);
               document_ == nullptr || set_ != read || document_->layer != layer ||
               document_->model != document.model) {
        set_ = read;
        document_ = look_of(read, layer, document, first_revision + ++looks_);
    }
    if (fault)
        std::rethrow_exception(fault);
}

} // namespace headscope
