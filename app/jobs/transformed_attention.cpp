#include "app/jobs/transformed_attention.h"

#include <utility>

namespace headscope::app {

void TransformedAttention::end_means() const {
    if (stop_ != nullptr)
        stop_->cancel();
}

AttentionSetPtr TransformedAttention::follow(const AttentionSetPtr& set,
                                             const analysis::ReadingOptions& wanted) {
    if (set != held_ && set != shown_) {
        end_means();
        held_ = shown_ = set;
        stop_ = nullptr;
        options_ = {};
        possible_ = set == nullptr ? analysis::ReadingOptions{} : analysis::readings_that_act(*set);
    }
    if (held_ == nullptr || wanted == options_)
        return shown_;
    auto stop = std::make_shared<Progress>();
    AttentionSetPtr next = analysis::with_reading(held_, wanted, stop);
    end_means();
    shown_ = std::move(next);
    stop_ = std::move(stop);
    options_ = wanted;
    return shown_;
}

} // namespace headscope::app
