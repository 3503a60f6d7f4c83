#include "core/attention/reach.h"

#include <algorithm>
#include <cstring>

namespace headscope {

namespace {

/// How a tensor is divided among heads.
enum class Division { whole, query_heads, kv_heads };

Division division_of(TensorId id) {
    for (const Axis axis : tensor_info(id).axes) {
        if (axis == Axis::H || axis == Axis::H_dk || axis == Axis::H_dv)
            return Division::query_heads;
        if (axis == Axis::Hkv || axis == Axis::Hkv_dk || axis == Axis::Hkv_dv)
            return Division::kv_heads;
    }
    return Division::whole;
}

template<class T>
bool same_bytes(const T* a, const T* b, std::int64_t count) {
    return std::memcmp(a, b, static_cast<std::size_t>(count) * sizeof(T)) == 0;
}

bool same_numbers(const TensorPtr& a, const TensorPtr& b) {
    if (a == b)
        return true;
    return a != nullptr && b != nullptr && a->shape() == b->shape() &&
           same_bytes(a->data(), b->data(), a->count());
}

/// The same rules with the same tensors; unequal ones may still say the same.
bool same_rules(const Mask& a, const Mask& b) {
    const auto same = [](const MaskRule& left, const MaskRule& right) {
        if (left.index() != right.index())
            return false;
        if (const auto* rule = std::get_if<KeyPaddingMask>(&left))
            return rule->key_valid == std::get<KeyPaddingMask>(right).key_valid;
        if (const auto* rule = std::get_if<SlidingWindowCausalMask>(&left))
            return rule->window == std::get<SlidingWindowCausalMask>(right).window;
        if (const auto* rule = std::get_if<SlidingWindowSymmetricMask>(&left))
            return rule->half_width == std::get<SlidingWindowSymmetricMask>(right).half_width;
        if (const auto* rule = std::get_if<ExplicitMask>(&left))
            return rule->allowed == std::get<ExplicitMask>(right).allowed;
        if (const auto* rule = std::get_if<AdditiveMask>(&left))
            return rule->add == std::get<AdditiveMask>(right).add;
        return true;
    };
    return std::ranges::equal(a, b, same);
}

bool same_row(const MaskRow& a, const MaskRow& b, std::int64_t Tk) {
    const auto same = [Tk](const auto* left, const auto* right) {
        return left == right || (left != nullptr && right != nullptr && same_bytes(left, right, Tk));
    };
    return a.begin == b.begin && a.end == b.end && same(a.allowed, b.allowed) && same(a.add, b.add);
}

/// Compares two problems of equal sizes and follows what differs through the stage table.
class Comparison {
public:
    Comparison(const Problem& before, const Problem& after)
        : before_(before), after_(after),
          d_(after.dims), reach_{{}, std::vector<StageSet>(static_cast<std::size_t>(d_.H))} {}

    Reach follow();

private:
    void touch(TensorId id, std::int64_t head) {
        StageSet& set = reach_.heads[static_cast<std::size_t>(head)];
        set = set.with(id);
    }
    void touch(TensorId id);
    void compare_inputs();
    void compare_by_head(TensorId id);
    void compare_masks();
    void spread(TensorId from, TensorId to);

    const Problem &before_, &after_;
    const Dims& d_;
    Reach reach_;
};

void Comparison::touch(TensorId id) {
    const Division division = division_of(id);
    if (division == Division::whole)
        reach_.whole = reach_.whole.with(id);
    else
        for (std::int64_t h = 0; h < (division == Division::kv_heads ? d_.Hkv : d_.H); ++h)
            touch(id, h);
}

/// Heads own equal runs: of columns, or for W_O of rows.
void Comparison::compare_by_head(TensorId id) {
    const Tensor *a = before_.input(id), *b = after_.input(id);
    if (a == b)
        return;
    if (a == nullptr || b == nullptr || a->shape() != b->shape()) {
        touch(id);
        return;
    }
    const std::int64_t heads = division_of(id) == Division::kv_heads ? d_.Hkv : d_.H;
    const std::int64_t row = id == TensorId::W_O ? a->count() : a->shape().back(0), run = row / heads;
    for (std::int64_t h = 0; h < heads; ++h)
        for (std::int64_t first = h * run; first < a->count(); first += row)
            if (!same_bytes(a->data() + first, b->data() + first, run)) {
                touch(id, h);
                break;
            }
}

void Comparison::compare_masks() {
    if (same_rules(before_.mask, after_.mask))
        return;
    const MaskRows a(before_.mask, d_), b(after_.mask, d_);
    for (std::int64_t h = 0; h < d_.H; ++h)
        for (std::int64_t row = 0; row < d_.B * d_.Tq && !reach_.has(TensorId::mask, h); ++row)
            if (!same_row(a.row(row / d_.Tq, h, row % d_.Tq), b.row(row / d_.Tq, h, row % d_.Tq), d_.Tk))
                touch(TensorId::mask, h);
}

void Comparison::compare_inputs() {
    using enum TensorId;
    if (!same_numbers(before_.x, after_.x))
        touch(x);
    if (!same_numbers(before_.x_kv, after_.x_kv))
        touch(x_kv);
    if (!same_numbers(before_.weights.b_O, after_.weights.b_O))
        touch(b_O);
    for (const TensorId id : {W_Q, W_K, W_V, W_O, b_Q, b_K, b_V})
        compare_by_head(id);
    compare_masks();
    for (std::int64_t h = 0; h < d_.H; ++h)
        if (const float a = before_.gain(h), b = after_.gain(h); !same_bytes(&a, &b, 1))
            touch(gain, h);
    // Two inputs that no cell of the table stands for.
    if (before_.temperature != after_.temperature)
        touch(scaled);
    const auto &turned = before_.rotary, &turns = after_.rotary;
    if (turned.has_value() != turns.has_value() ||
        (turns && !(same_numbers(turned->cos, turns->cos) && same_numbers(turned->sin, turns->sin)))) {
        touch(q_heads);
        touch(k_heads);
    }
}

/// What is touched of `from` touches those parts of `to` that read it.
void Comparison::spread(TensorId from, TensorId to) {
    const Division source = division_of(from), target = division_of(to);
    if (source == Division::whole) {
        if (reach_.whole.has(from))
            touch(to);
        return;
    }
    for (std::int64_t h = 0; h < d_.H; ++h) {
        if (!reach_.has(from,
                        source == Division::kv_heads && target == Division::query_heads ? d_.kv_head(h) : h))
            continue;
        if (target == Division::whole)
            touch(to);
        else
            touch(to, h);
    }
}

Reach Comparison::follow() {
    compare_inputs();
    for (const TensorInfo& stage : stage_table())
        for (const TensorId input : stage.reads()) {
            const bool key_side = stage.id == TensorId::k || stage.id == TensorId::v;
            spread(key_side && input == TensorId::x && after_.cross() ? TensorId::x_kv : input, stage.id);
        }
    reach_.whole = reach_.whole & StageSet::all();
    for (StageSet& head : reach_.heads)
        head = head & StageSet::all();
    return std::move(reach_);
}

} // namespace

Reach reach_of(const Problem& before, const Problem& after) {
    if (before.dims != after.dims || before.cross() != after.cross())
        return Reach::all(after.dims.H);
    return Comparison(before, after).follow();
}

} // namespace headscope
