#include "core/attention/mask.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headscope {

namespace {

constexpr std::int64_t any_distance = MaskRows::Stored::any_distance;

/// A shape viewed as (B, H, Tq, Tk), in which extents of 1 are repeated.
struct Broadcast {
    std::int64_t b = 1, h = 1, i = 1, j = 1;
    std::int64_t count() const { return b * h * i * j; }
    bool fits(const Dims& d) const {
        return (b == 1 || b == d.B) && (h == 1 || h == d.H) && (i == 1 || i == d.Tq) && (j == 1 || j == d.Tk);
    }
    std::int64_t at(std::int64_t bb, std::int64_t hh, std::int64_t ii, std::int64_t jj) const {
        return (((b == 1 ? 0 : bb) * h + (h == 1 ? 0 : hh)) * i + (i == 1 ? 0 : ii)) * j + (j == 1 ? 0 : jj);
    }
};

/// rank3_is_batch: the third axis from the right is B (explicit masks) rather than H (additive ones).
Broadcast broadcast_of(const Shape& shape, bool rank3_is_batch) {
    Broadcast out;
    const int rank = shape.rank();
    if (rank >= 1)
        out.j = shape.back(0);
    if (rank >= 2)
        out.i = shape.back(1);
    if (rank == 3)
        (rank3_is_batch ? out.b : out.h) = shape.back(2);
    if (rank == 4) {
        out.h = shape.back(2);
        out.b = shape.back(3);
    }
    return out;
}

std::string full_shape(const Dims& d) {
    return Shape({d.B, d.H, d.Tq, d.Tk}).text();
}

[[noreturn]] void fail_shape(const std::string& what, const Shape& has, const std::string& wants) {
    fail_input(tr("mask.shape_should", "{} has shape {}; it should have {}", what, has.text(), wants));
}

void check_bytes(Message what, const BoolTensorPtr& tensor) {
    if (tensor == nullptr || static_cast<std::int64_t>(tensor->values.size()) != tensor->shape.count())
        fail_input(tr("mask.holds_no_values_shape",
                      "{} holds no values for its shape; give one 0 or 1 per element", tr(what)));
}

Broadcast padding_broadcast(const KeyPaddingMask& rule, const Dims& d) {
    check_bytes(translatable("mask.key_padding_mask", "the key padding mask"), rule.key_valid);
    const Shape& shape = rule.key_valid->shape;
    if (shape.rank() != 2 || (shape[0] != d.B && shape[0] != 1) || shape[1] != d.Tk)
        fail_shape(tr("mask.key_padding_mask_key", "the key padding mask key_valid"), shape,
                   "(B, Tk) = " + Shape({d.B, d.Tk}).text());
    return {.b = shape[0], .h = 1, .i = 1, .j = shape[1]};
}

Broadcast explicit_broadcast(const ExplicitMask& rule, const Dims& d) {
    check_bytes(translatable("mask.explicit_mask", "the explicit mask"), rule.allowed);
    const Shape& shape = rule.allowed->shape;
    const Broadcast out = broadcast_of(shape, true);
    if (shape.rank() < 2 || !out.fits(d))
        fail_shape(tr("mask.explicit_mask_allowed", "the explicit mask allowed"), shape,
                   tr("mask.tq_tk_b_tq", "(Tq, Tk), (B, Tq, Tk) or (B, H, Tq, Tk), that is the end of {}",
                      full_shape(d)));
    return out;
}

Broadcast additive_broadcast(const AdditiveMask& rule, const Dims& d) {
    if (rule.add == nullptr)
        fail_input(tr("mask.additive_mask_holds_no",
                      "the additive mask holds no tensor; give one that broadcasts to {}", full_shape(d)));
    const Shape& shape = rule.add->shape();
    const Broadcast out = broadcast_of(shape, false);
    if (!out.fits(d))
        fail_shape(
            tr("mask.additive_mask", "the additive mask"), shape,
            tr("mask.shape_broadcasts_b_h", "a shape that broadcasts to (B, H, Tq, Tk) = {}", full_shape(d)));
    const auto values = rule.add->values();
    if (std::ranges::any_of(values, [](float v) { return std::isnan(v) || (std::isinf(v) && v > 0); }))
        fail_input(
            tr("mask.additive_mask_holds_nan",
               "the additive mask holds NaN or plus infinity; only finite numbers and minus infinity are "
               "allowed"));
    return out;
}

/// The smallest shape that fits both.
Broadcast join(const Broadcast& a, const Broadcast& b) {
    return {std::max(a.b, b.b), std::max(a.h, b.h), std::max(a.i, b.i), std::max(a.j, b.j)};
}

/// Calls visit(offset in target, offset in source) for every element of the target.
template<class Visit>
void for_each_element(const Broadcast& target, const Broadcast& source, const Visit& visit) {
    std::int64_t offset = 0;
    for (std::int64_t b = 0; b < target.b; ++b)
        for (std::int64_t h = 0; h < target.h; ++h)
            for (std::int64_t i = 0; i < target.i; ++i)
                for (std::int64_t j = 0; j < target.j; ++j, ++offset)
                    visit(static_cast<std::size_t>(offset), static_cast<std::size_t>(source.at(b, h, i, j)));
}

} // namespace

MaskRows::MaskRows(const Mask& mask, const Dims& dims)
    : dims_(dims), empty_(mask.empty()), reach_back_(any_distance), reach_ahead_(any_distance) {
    const auto see = [this](std::int64_t before, std::int64_t after) {
        reach_back_ = std::min(reach_back_, before);
        reach_ahead_ = std::min(reach_ahead_, after);
    };
    Broadcast allowed{.j = dims.Tk}, add{.j = dims.Tk};
    bool any_allowed = false, any_add = false;
    for (const MaskRule& rule : mask)
        std::visit(
            Overloaded{
                [&](const CausalMask&) { see(any_distance, 0); },
                [&](const SlidingWindowCausalMask& r) {
                    if (r.window < 1)
                        fail_input(tr("mask.causal_sliding_window_keys",
                                      "the causal sliding window is {} keys wide; it should be at least 1",
                                      r.window));
                    see(r.window - 1, 0);
                },
                [&](const SlidingWindowSymmetricMask& r) {
                    if (r.half_width < 0)
                        fail_input(
                            tr("mask.symmetric_sliding_window_half",
                               "the symmetric sliding window has half_width {}; it should be at least 0",
                               r.half_width));
                    see(r.half_width, r.half_width);
                },
                [&](const ChunkedCausalMask& r) {
                    if (r.chunk < 1)
                        fail_input(tr("mask.causal_chunks_keys",
                                      "the chunks of the causal mask are {} keys wide; they should be at "
                                      "least 1",
                                      r.chunk));
                    if (chunk_ != any_distance && chunk_ != r.chunk)
                        fail_input(tr("mask.one_size_of_chunks",
                                      "the mask has chunks of {} and of {} keys; give one size", chunk_,
                                      r.chunk));
                    chunk_ = r.chunk;
                    see(any_distance, 0);
                },
                [&](const KeyPaddingMask& r) {
                    allowed = join(allowed, padding_broadcast(r, dims));
                    any_allowed = true;
                },
                [&](const ExplicitMask& r) {
                    allowed = join(allowed, explicit_broadcast(r, dims));
                    any_allowed = true;
                },
                [&](const AdditiveMask& r) {
                    add = join(add, additive_broadcast(r, dims));
                    any_add = true;
                }},
            rule);
    if (any_allowed)
        allowed_.assign(static_cast<std::size_t>(allowed.count()), 1);
    if (any_add)
        add_.assign(static_cast<std::size_t>(add.count()), 0.0F);
    const auto combine = [&](const BoolTensor& tensor, const Broadcast& source) {
        for_each_element(allowed, source, [&](std::size_t to, std::size_t from) {
            allowed_[to] = static_cast<std::uint8_t>(allowed_[to] != 0 && tensor.values[from] != 0);
        });
    };
    for (const MaskRule& rule : mask)
        std::visit(
            Overloaded{[&](const KeyPaddingMask& r) { combine(*r.key_valid, padding_broadcast(r, dims)); },
                       [&](const ExplicitMask& r) { combine(*r.allowed, explicit_broadcast(r, dims)); },
                       [&](const AdditiveMask& r) {
                           const auto values = r.add->values();
                           for_each_element(
                               add, additive_broadcast(r, dims),
                               [&](std::size_t to, std::size_t from) { add_[to] += values[from]; });
                       },
                       [](const auto&) {}},
            rule);
    if (std::ranges::any_of(add_, [](float v) { return std::isnan(v) || (std::isinf(v) && v > 0); }))
        fail_input(tr("mask.additive_masks_together_leave",
                      "the additive masks together leave float32's range; make their numbers smaller"));
    const auto strides = [](const Broadcast& s) {
        return Strides{s.b == 1 ? 0 : s.h * s.i * s.j, s.h == 1 ? 0 : s.i * s.j, s.i == 1 ? 0 : s.j};
    };
    allowed_strides_ = strides(allowed);
    add_strides_ = strides(add);
}

MaskRow MaskRows::Stored::row(const Dims& dims, std::int64_t b, std::int64_t h, std::int64_t i) const {
    const std::int64_t position = i + dims.Tk - dims.Tq;
    const auto row_in = [&](const auto& numbers, const Strides& s) {
        return numbers.empty() ? nullptr : numbers.data() + b * s.b + h * s.h + i * s.i;
    };
    MaskRow row;
    row.begin = std::clamp<std::int64_t>(position - reach_back, 0, dims.Tk);
    row.end = std::clamp<std::int64_t>(position + reach_ahead + 1, row.begin, dims.Tk);
    if (chunk != any_distance) {
        const std::int64_t first = (position < 0 ? position - chunk + 1 : position) / chunk * chunk;
        row.begin = std::clamp<std::int64_t>(first, row.begin, row.end);
        row.end = std::clamp<std::int64_t>(first + chunk, row.begin, row.end);
    }
    row.allowed = row_in(allowed, allowed_strides);
    row.add = row_in(add, add_strides);
    return row;
}

MaskRow MaskRows::row(std::int64_t b, std::int64_t h, std::int64_t i) const {
    return stored().row(dims_, b, h, i);
}

bool MaskRows::allows(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    const MaskRow mask = row(b, h, i);
    return j >= mask.begin && j < mask.end && (mask.allowed == nullptr || mask.allowed[j] != 0) &&
           (mask.add == nullptr || !std::isinf(mask.add[j]));
}

} // namespace headscope
