#include "app/jobs/transformed_attention.h"

#include <utility>

namespace headscope::app {

void TransformedAttention::end_means() const {
    if (stop_ != nullptr)
        stop_->cancel();
}

AttentionSetPtr TransformedAttention::follow(const AttentionSetPtr& set,
                                             const analysis::ReadingOptions& wanted) {
    if (set != stored_ && set != shown_) {
        end_means();
        stored_ = shown_ = set;
        stop_ = nullptr;
        options_ = {};
        possible_ = set == nullptr ? analysis::ReadingOptions{} : analysis::readings_that_act(*set);
    }
    if (stored_ == nullptr || wanted == options_)
        return shown_;
    auto stop = std::make_shared<Progress>();
    AttentionSetPtr next = analysis::with_reading(stored_, wanted, stop);
    end_means();
    shown_ = std::move(next);
    stop_ = std::move(stop);
    options_ = wanted;
    return shown_;
}

} // namespace headscope::app
