#include "core/attention/dirty.h"

#include "core/attention/same_bits.h"
#include "core/base/overloaded.h"

#include <algorithm>
#include <cstring>

namespace headscope {

namespace {

template<class T>
bool same_bytes(const T* a, const T* b, std::int64_t count) {
    return std::memcmp(a, b, static_cast<std::size_t>(count) * sizeof(T)) == 0;
}

bool same_row(const MaskRow& a, const MaskRow& b, std::int64_t Tk) {
    const auto same = [Tk](const auto* left, const auto* right) {
        return left == right || (left != nullptr && right != nullptr && same_bytes(left, right, Tk));
    };
    return a.begin == b.begin && a.end == b.end && same(a.allowed, b.allowed) && same(a.add, b.add);
}

/// Compares two problems of equal sizes and follows the differences through the stage table.
class Comparison {
public:
    Comparison(const Problem& before, const Problem& after)
        : before_(before), after_(after),
          d_(after.dims), dirty_{{}, std::vector<StageSet>(static_cast<std::size_t>(d_.H))} {}

    DirtySet follow();

private:
    HeadAxis heads_of(TensorId id) const { return head_axis(tensor_info(id), d_); }
    std::int64_t count(const HeadAxis& heads) const { return heads.kv ? d_.Hkv : d_.H; }
    void touch(TensorId id, std::int64_t head) {
        StageSet& set = dirty_.heads[static_cast<std::size_t>(head)];
        set = set.with(id);
    }
    void touch(TensorId id);
    void compare_tensors(TensorId id, const TensorPtr& a, const TensorPtr& b);
    void compare_masks(TensorId id, const Mask& before, const Mask& after);
    void compare_fields();
    void compare_rows();
    void spread(TensorId from, TensorId to, bool joined);

    const Problem &before_, &after_;
    const Dims& d_;
    DirtySet dirty_;
};

void Comparison::touch(TensorId id) {
    const HeadAxis heads = heads_of(id);
    if (heads.axis < 0)
        dirty_.whole = dirty_.whole.with(id);
    else
        for (std::int64_t h = 0; h < count(heads); ++h)
            touch(id, h);
}

/// Compares by head. Each head has an equal range of columns, or of rows for W_O.
void Comparison::compare_tensors(TensorId id, const TensorPtr& a, const TensorPtr& b) {
    if (a == b)
        return;
    const HeadAxis heads = heads_of(id);
    if (heads.axis < 0 || a == nullptr || b == nullptr || a->shape() != b->shape()) {
        if (!same_bits(a, b))
            touch(id);
        return;
    }
    const bool by_rows = heads.axis < a->shape().rank() - 1;
    const std::int64_t row = by_rows ? a->count() : a->shape().back(0), run = row / count(heads);
    for (std::int64_t h = 0; h < count(heads); ++h)
        for (std::int64_t first = h * run; first < a->count(); first += row)
            if (!same_bytes(a->data() + first, b->data() + first, run)) {
                touch(id, h);
                break;
            }
}

void Comparison::compare_masks(TensorId id, const Mask& before, const Mask& after) {
    if (same_bits(before, after))
        return;
    const MaskRows a(before, d_), b(after, d_);
    for (std::int64_t h = 0; h < d_.H; ++h)
        for (std::int64_t row = 0; row < d_.B * d_.Tq && !dirty_.has(id, h); ++row)
            if (!same_row(a.row(row / d_.Tq, h, row % d_.Tq), b.row(row / d_.Tq, h, row % d_.Tq), d_.Tk))
                touch(id, h);
}

void Comparison::compare_fields() {
    using Labels = std::vector<std::string>;
    visit_fields(
        Overloaded{[](const Field&, const Dims&, const Dims&) {},
                   [&](const Field& field, const TensorPtr& a, const TensorPtr& b) {
                       compare_tensors(*field.row, a, b);
                   },
                   [&](const Field&, const std::optional<Rotary>& a, const std::optional<Rotary>& b) {
                       if (!a || !b)
                           return;
                       compare_tensors(TensorId::rotary_cos, a->cos, b->cos);
                       compare_tensors(TensorId::rotary_sin, a->sin, b->sin);
                   },
                   [&](const Field& field, const Mask& a, const Mask& b) { compare_masks(*field.row, a, b); },
                   [&](const Field& field, const std::vector<float>&, const std::vector<float>&) {
                       for (std::int64_t h = 0; h < d_.H; ++h)
                           if (!same_bits(before_.gain(h), after_.gain(h)))
                               touch(*field.row, h);
                   },
                   [&](const Field& field, float a, float b) {
                       if (a != b)
                           touch(*field.row);
                   },
                   [](const Field&, const Labels&, const Labels&) {}},
        before_, after_);
}

/// Marks the stages that the two problems compute by different formulas or from different tensors.
void Comparison::compare_rows() {
    const ProblemParts a = before_.parts(), b = after_.parts();
    for (const TensorInfo& stage : stage_table()) {
        const TensorInfo &row_a = tensor_info(stage.id, a), &row_b = tensor_info(stage.id, b);
        const auto source = [](const ProblemParts& parts) {
            return [&parts](TensorId input) { return source_of(input, parts); };
        };
        if (&row_a != &row_b || has_tensor(stage.id, a) != has_tensor(stage.id, b) ||
            !std::ranges::equal(row_a.reads(), row_b.reads(), {}, source(a), source(b)))
            touch(stage.id);
    }
}

/// Marks the parts of `to` that read a marked part of `from`: every head, if `joined`.
void Comparison::spread(TensorId from, TensorId to, bool joined) {
    const HeadAxis source = heads_of(from), target = heads_of(to);
    if (source.axis < 0) {
        if (dirty_.whole.has(from))
            touch(to);
        return;
    }
    const bool shared = source.kv && target.axis >= 0 && !target.kv;
    for (std::int64_t h = 0; h < d_.H; ++h) {
        if (!dirty_.has(from, shared ? d_.kv_head(h) : h))
            continue;
        if (target.axis < 0 || joined)
            touch(to);
        else
            touch(to, h);
    }
}

DirtySet Comparison::follow() {
    compare_fields();
    const ProblemParts parts = after_.parts();
    if (before_.parts() != parts)
        compare_rows();
    for (const TensorInfo& stage : stage_table()) {
        const TensorInfo& row = tensor_info(stage.id, parts);
        for (const TensorId input : row.reads())
            spread(source_of(input, parts), stage.id, row.joins_heads && input == row.inputs[0]);
    }
    const StageSet stages = StageSet::of(parts);
    dirty_.whole = dirty_.whole & stages;
    for (StageSet& head : dirty_.heads)
        head = head & stages;
    return std::move(dirty_);
}

} // namespace

DirtySet dirty_after(const Problem& before, const Problem& after) {
    if (before.dims != after.dims || before.cross() != after.cross())
        return DirtySet::all(after.dims.H, StageSet::of(after.parts()));
    return Comparison(before, after).follow();
}

} // namespace headscope
