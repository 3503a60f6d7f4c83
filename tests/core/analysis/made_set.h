#pragma once

#include "core/analysis/attention_set.h"

#include <functional>
#include <numeric>
#include <utility>

namespace headscope::test {

using namespace headscope::analysis;

/// Attention weights in memory, with tokens in the spelling of a vocabulary.
class MadeSet final : public AttentionSet {
public:
    using Weight = std::function<float(std::int64_t l, std::int64_t h, std::int64_t i, std::int64_t j)>;

    /// lists: tokens of all layers, or one list per sequence; may be empty.
    MadeSet(std::int64_t L, std::int64_t H, std::int64_t T, std::vector<std::vector<std::string>> lists,
            const Weight& weight)
        : lists_(std::move(lists)) {
        info_.L = L;
        info_.H = H;
        info_.Tq = info_.Tk = T;
        info_.axis = lists_.size() > 1 ? SetAxis::sequences : SetAxis::layers;
        info_.title = "made";
        info_.numbers.resize(static_cast<std::size_t>(L));
        std::iota(info_.numbers.begin(), info_.numbers.end(), 0);
        for (std::int64_t l = 0; l < L; ++l) {
            auto layer = std::make_shared<Tensor>(Shape{1, H, T, T});
            for (std::int64_t h = 0; h < H; ++h)
                for (std::int64_t i = 0; i < T; ++i)
                    for (std::int64_t j = 0; j < T; ++j)
                        layer->at(0, h, i, j) = weight(l, h, i, j);
            layers_.push_back(std::move(layer));
        }
    }

    const AttentionInfo& info() const override { return info_; }
    const std::vector<std::string>& query_tokens(std::int64_t l) const override {
        static const std::vector<std::string> none;
        return lists_.empty() ? none : lists_[lists_.size() == 1 ? 0 : static_cast<std::size_t>(l)];
    }
    const std::vector<std::string>& key_tokens(std::int64_t l) const override { return query_tokens(l); }
    TensorPtr layer(std::int64_t l) const override { return layers_[static_cast<std::size_t>(l)]; }
    void read_part(std::int64_t l, std::int64_t h, const MapPart& part, std::span<float> to) const override {
        copy_part(*layers_[static_cast<std::size_t>(l)], h, part, to);
    }
    /// Sets the length of the vector that key j contributes to head h of layer l.
    void set_brought(std::function<float(std::int64_t l, std::int64_t h, std::int64_t j)> length) {
        brought_ = std::move(length);
        info_.values = true;
    }
    TensorPtr brought(std::int64_t l) const override {
        auto lengths = std::make_shared<Tensor>(Shape{1, info_.H, info_.Tk});
        for (std::int64_t h = 0; h < info_.H; ++h)
            for (std::int64_t j = 0; j < info_.Tk; ++j)
                lengths->data()[h * info_.Tk + j] = brought_(l, h, j);
        return lengths;
    }

private:
    std::function<float(std::int64_t l, std::int64_t h, std::int64_t j)> brought_;
    AttentionInfo info_;
    std::vector<std::vector<std::string>> lists_;
    std::vector<TensorPtr> layers_;
};

} // namespace headscope::test
