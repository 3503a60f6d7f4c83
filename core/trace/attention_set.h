#pragma once

#include "core/base/message.h"
#include "core/tensor/map_part.h"
#include "core/tensor/tensor.h"
#include "core/trace/attention_choice.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace headscope {

/// What the first axis of a set of attention weights counts.
enum class SetAxis : std::uint8_t {
    layers,
    sequences,
    one ///< there is one layer, and it has no number
};

/// What is known of a set before any weight is read.
struct AttentionInfo {
    std::int64_t L = 0; ///< layers, or sequences
    std::int64_t H = 0, Tq = 0, Tk = 0;
    SetAxis axis = SetAxis::layers;
    std::vector<std::int64_t> numbers; ///< L: what each layer or sequence is called, mostly 0 to L - 1; -1 of
                                       ///< a mean over layers
    std::string title;                 ///< for a window's title: the file's name
    std::string source;                ///< where it comes from: the path
    std::string held_as;               ///< "float16": the numbers' type there
    std::string tensor;                ///< the tensor's name, or "layers.{l}.weights"; may be empty
    std::uint64_t bytes = 0;           ///< of the weights, as they are held
    float sum_tolerance = 1e-4F;       ///< a row of weights of that type may miss 1 by this much
    bool cross = false;                ///< keys are other tokens than queries, though there may be as many
    /// L, or none: true for layers without attention, which have no weights.
    std::vector<bool> without_weights{};
    bool sinks = false;      ///< what a row misses of 1 went to a learned sink, so that it is no fault
    bool values = false;     ///< brought() knows what keys bring
    std::string tokens_from; ///< where the tokens come from; empty without tokens
    /// The other texts and attentions of the file, which can be opened in place of this set; null: none.
    AttentionOptionsPtr options{};
    AttentionChoice choice{}; ///< which of `options` this set is

    // Of a set that is read otherwise than it is held (ReadSet).
    Message made_head{};       ///< "mean", "rollout" or "flow": how the last head is made of the others;
                               ///< empty: it is a head like them
    bool mean_layer = false;   ///< the last layer is the mean over the others
    bool renormalised = false; ///< rows were divided by what was left of them
    std::string reading;       ///< what is read otherwise, in a few words; empty: nothing but a made head

    /// Returns true unless layer l has no weights. A mean over layers has some.
    bool has_weights(std::int64_t l) const {
        return l >= std::ssize(without_weights) || !without_weights[static_cast<std::size_t>(l)];
    }
    std::int64_t own_layers() const { return L - (mean_layer ? 1 : 0); }
    std::int64_t own_heads() const { return H - (made_head.empty() ? 0 : 1); }
    /// Whether a softmax would not have given a row with this sum.
    bool is_off(double sum) const {
        const auto tolerance = static_cast<double>(sum_tolerance);
        return sum > 1.0 + tolerance || (sum < 1.0 - tolerance && !sinks);
    }
    /// Whether a head is made of others, as no model has it.
    bool is_mean(std::int64_t l, std::int64_t h) const { return l >= own_layers() || h >= own_heads(); }
};

/// The attention weights of many heads, of which only those that are looked at are read. Any thread may use
/// every member. All weights are softmax output as somebody else computed it: nothing about them is sure.
class AttentionSet {
public:
    AttentionSet() = default;
    AttentionSet(const AttentionSet&) = delete;
    AttentionSet& operator=(const AttentionSet&) = delete;
    virtual ~AttentionSet() = default;

    virtual const AttentionInfo& info() const = 0;
    /// Tq texts, or none. `l` in [0, L), here and below.
    virtual const std::vector<std::string>& query_tokens(std::int64_t l) const = 0;
    /// Tk texts, or none. The query's own where Tq is Tk.
    virtual const std::vector<std::string>& key_tokens(std::int64_t l) const = 0;
    /// The same tokens as their vocabulary spells them, with its marks of where words begin; without marks
    /// where the set doesn't know them. As many, or none.
    virtual const std::vector<std::string>& query_pieces(std::int64_t l) const { return query_tokens(l); }
    virtual const std::vector<std::string>& key_pieces(std::int64_t l) const { return key_tokens(l); }
    /// All heads: (1, H, Tq, Tk). Kept for the next time within a budget. Throws Error(input) when it cannot
    /// be read.
    virtual TensorPtr layer(std::int64_t l) const = 0;
    /// Some weights of one head, row by row, past what is kept. `part`: of the head's (Tq, Tk), not empty;
    /// `to`: part.rows * part.cols numbers. Throws likewise.
    virtual void read_part(std::int64_t l, std::int64_t h, const MapPart& part,
                           std::span<float> to) const = 0;
    /// All of one head: Tq*Tk numbers.
    void read_head(std::int64_t l, std::int64_t h, std::span<float> to) const {
        read_part(l, h, {0, 0, info().Tq, info().Tk}, to);
    }
    /// (1, H, Tk): the Euclidean length of what key j brings to the layer's output at a weight of 1,
    /// (x_j W_V + b_V) W_O of the head (Kobayashi et al. 2020). Null where info().values is false.
    virtual TensorPtr brought(std::int64_t /*l*/) const { return nullptr; }
    /// Tq flags, or none: queries that pad a text to the length of others. Nothing is measured of their rows.
    virtual std::vector<bool> padding(std::int64_t /*l*/) const { return {}; }
    /// Tq numbers, or none: the part of each row of a head that went to its sink, where that is held beside
    /// the weights.
    virtual std::vector<float> sink_shares(std::int64_t /*l*/, std::int64_t /*h*/) const { return {}; }
    /// Returns true if no softmax gives a row with this sum for query i of head h.
    bool is_off(std::int64_t l, std::int64_t h, std::int64_t i, double sum) const {
        const std::vector<float> shares = info().sinks ? sink_shares(l, h) : std::vector<float>();
        const double rest = shares.empty() ? 0.0 : static_cast<double>(shares[static_cast<std::size_t>(i)]);
        return shares.empty() ? info().is_off(sum)
                              : std::abs(sum + rest - 1.0) > static_cast<double>(info().sum_tolerance);
    }
};
using AttentionSetPtr = std::shared_ptr<const AttentionSet>;

/// A part of head h of a layer (1, H, Tq, Tk) that is in memory, as read_part() gives it.
void copy_part(const Tensor& layer, std::int64_t h, const MapPart& part, std::span<float> to);

/// Reads a head from its first row to its last, some rows at a time, so that a head of any size takes about
/// 16 MB: calls `take(first, rows)` with the number of the first row and the numbers of whole rows. Throws
/// what the set throws.
void for_rows(const AttentionSet& set, std::int64_t l, std::int64_t h,
              const std::function<void(std::int64_t first, std::span<const float> rows)>& take);

} // namespace headscope
