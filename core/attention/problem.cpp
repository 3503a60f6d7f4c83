#include "core/attention/problem.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"

#include <algorithm>
#include <cmath>

namespace headscope {

namespace {

bool fits(const Shape& shape, const TensorInfo& info, const Dims& dims) {
    for (int axis = 0; axis < Shape::max_rank; ++axis) {
        const Axis wanted = info.axes[static_cast<std::size_t>(axis)];
        if (wanted == Axis::none || axis == shape.rank())
            return wanted == Axis::none && axis == shape.rank();
        if (shape[axis] != extent(wanted, dims))
            return false;
    }
    return shape.rank() == Shape::max_rank;
}

/// "W_Q has shape (8, 6); it should have (D, H·dk) = (8, 8)".
void check_shape(const Field& field, const TensorPtr& tensor, const Dims& dims, const ProblemParts& parts) {
    const TensorInfo& info = tensor_info(*field.row);
    if (tensor == nullptr) {
        if (field.required || (info.when.front() != nullptr && has_tensor(info.id, parts)))
            fail_input(tr("problem.missing_give_tensor_shape", "{} is missing; give a tensor of shape {}",
                          tr(field.label), info.shape(dims).text()));
        return;
    }
    if (fits(tensor->shape(), info, dims))
        return;
    fail_input(tr("problem.shape_should", "{} has shape {}; it should have ({}) = {}", tr(field.label),
                  tensor->shape().text(), axis_names(info.axes, dims), info.shape(dims).text()));
}

void check_finite(const Field& field, const TensorPtr& tensor) {
    if (tensor == nullptr || tensor->all_finite())
        return;
    const std::string name = tr(field.label);
    const auto values = tensor->values();
    const auto bad = std::ranges::find_if(values, [](float v) { return !std::isfinite(v); });
    std::int64_t offset = bad - values.begin();
    std::string place;
    for (int axis = tensor->shape().rank() - 1; axis >= 0; --axis) {
        place = std::to_string(offset % tensor->shape()[axis]) + (place.empty() ? "" : ", ") + place;
        offset /= tensor->shape()[axis];
    }
    fail_input(std::isnan(*bad)
                   ? tr("problem.nan_every_number_should",
                        "{}[{}] is NaN; every number of {} should be finite", name, place, name)
                   : tr("problem.infinite_every_number_should",
                        "{}[{}] is infinite; every number of {} should be finite", name, place, name));
}

void check_positive(Message name, std::int64_t value) {
    if (value < 1)
        fail_input(tr("problem.should_least_1", "{} is {}; it should be at least 1", tr(name), value));
}

void check_groups(const Dims& d) {
    if (d.H % d.Hkv != 0)
        fail_input(tr("problem.h_hkv_hkv_should", "H is {} and Hkv is {}; Hkv should divide H", d.H, d.Hkv));
}

void check_dims(const Dims& d) {
    check_positive(untranslated("B"), d.B);
    check_positive(translatable("problem.number_query_tokens_tq", "the number of query tokens Tq"), d.Tq);
    check_positive(translatable("problem.number_key_tokens_tk", "the number of key tokens Tk"), d.Tk);
    check_positive(untranslated("D"), d.D);
    check_positive(untranslated("Dkv"), d.Dkv);
    check_positive(untranslated("H"), d.H);
    check_positive(untranslated("Hkv"), d.Hkv);
    check_positive(untranslated("dk"), d.dk);
    check_positive(untranslated("dv"), d.dv);
    check_groups(d);
}

void check_count(const Field& field, std::size_t has, const Dims& dims) {
    const std::int64_t wants = extent(field.entries, dims);
    if (has != 0 && static_cast<std::int64_t>(has) != wants)
        // Translators: the second {} is "gains", "tokens" or "key tokens"
        fail_input(tr("problem.should", "there are {} {}; there should be {}", has, tr(field.label), wants));
}

void check_rotary(const Problem& problem) {
    const Dims& d = problem.dims;
    if (problem.cross())
        fail_input(
            tr("problem.rotary_position_embedding_given",
               "a rotary position embedding is given together with X_kv; it works only with self-attention"));
    if (d.dk % 2 != 0)
        fail_input(tr("problem.dk_rotary_position_embedding",
                      "dk is {}; a rotary position embedding rotates pairs of numbers, so dk should be even",
                      d.dk));
    for (const auto& [name, table] :
         {std::pair("cos", problem.rotary->cos), std::pair("sin", problem.rotary->sin)}) {
        const std::string what = tr("problem.rotary_table", "the rotary table {}", name);
        const Shape wanted{d.B, d.Tq, d.dk}, shared{1, d.Tq, d.dk};
        if (table == nullptr)
            fail_input(tr("problem.missing_give_tensor_shape", "{} is missing; give a tensor of shape {}",
                          what, shared.text()));
        if (table->shape() != wanted && table->shape() != shared)
            fail_input(tr("problem.shape_should_b_tq",
                          "{} has shape {}; it should have (B, Tq, dk) = {} or {}", what,
                          table->shape().text(), wanted.text(), shared.text()));
        if (!table->all_finite())
            fail_input(tr("problem.not_every_number_finite",
                          "not every number of {} is finite; they should be cosines and sines", what));
    }
    if (problem.rotary->cos->shape() != problem.rotary->sin->shape())
        fail_input(tr("problem.rotary_tables_shapes_should",
                      "the rotary tables have shapes {} and {}; they should be equal",
                      problem.rotary->cos->shape().text(), problem.rotary->sin->shape().text()));
}

void check_relative(const Problem& problem) {
    const Dims& d = problem.dims;
    const RelativeTerms& relative = *problem.relative;
    const RelativeRows& rows = relative.rows;
    if (problem.has_source() || d.Tq != d.Tk)
        fail_input(tr("problem.relative_with_source",
                      "scores with terms by relative position are given together with X_kv; they work only "
                      "with self-attention"));
    if (d.Hkv != d.H)
        fail_input(tr("problem.relative_groups",
                      "H is {} and Hkv is {}; with terms by relative position they should be equal", d.H,
                      d.Hkv));
    if (!relative.c2p && !relative.p2c)
        fail_input(tr("problem.relative_no_term",
                      "there is neither a term c2p nor a term p2c by relative position; give one, or leave "
                      "relative positions out"));
    const bool has_buckets = rows.buckets != 0;
    if (rows.span < 1 || (has_buckets && (rows.buckets < 2 || rows.buckets != rows.span ||
                                          rows.furthest < 2 || rows.furthest - 1 == rows.buckets / 2)))
        fail_input(tr("problem.relative_rows",
                      "the relative positions have {} buckets, a span of {} and a furthest distance of {}; "
                      "the span should be at least 1, and buckets, if there are some, as many as the span, "
                      "at least 2, and with another half than the furthest distance minus 1",
                      rows.buckets, rows.span, rows.furthest));
    if (rows.count() != d.distances)
        fail_input(tr("problem.relative_count",
                      "there are {} relative positions; twice the span of {} should be as many", d.distances,
                      rows.span));
    const Weights& w = problem.weights;
    if ((w.W_KR == nullptr && w.b_KR != nullptr) || (w.W_QR == nullptr && w.b_QR != nullptr) ||
        (w.W_KR != nullptr && !relative.c2p) || (w.W_QR != nullptr && !relative.p2c))
        fail_input(tr("problem.relative_weights",
                      "W_KR belongs to the term c2p and W_QR to p2c, and a bias to its weights; leave out "
                      "those that no term reads"));
}

/// The extent of an axis of a tensor. Throws Error(input) if the tensor does not have it.
std::int64_t extent_of(const TensorPtr& tensor, const char* name, int rank, int axis) {
    if (tensor == nullptr)
        fail_input(
            tr("problem.missing_give_tensor_axes", "{} is missing; give a tensor with {} axes", name, rank));
    if (tensor->shape().rank() != rank)
        fail_input(tr("problem.shape_should_axes", "{} has shape {}; it should have {} axes", name,
                      tensor->shape().text(), rank));
    if (tensor->count() == 0)
        fail_input(tr("problem.shape_no_number_no", "{} has shape {} and is empty; no dimension may be 0",
                      name, tensor->shape().text()));
    return tensor->shape()[axis];
}

std::int64_t divided(const char* name, std::int64_t columns, const char* by_name, std::int64_t by) {
    if (columns % by != 0)
        fail_input(
            tr("problem.columns_heads_not_divide",
               "{} has {} columns, which {} = {} heads do not divide; the columns should be a multiple of {}",
               name, columns, by_name, by, by_name));
    return columns / by;
}

} // namespace

TensorPtr* Problem::input_slot(TensorId id) {
    TensorPtr* slot = nullptr;
    visit_fields(Overloaded{[&](const Field& field, TensorPtr& tensor) {
                                if (field.row == id)
                                    slot = &tensor;
                            },
                            [](const Field&, auto&) {}},
                 *this);
    return slot;
}

TensorPtr Problem::input_ptr(TensorId id) const {
    // The slot is only read.
    const TensorPtr* slot = const_cast<Problem*>(this)->input_slot(id);
    return slot == nullptr ? nullptr : *slot;
}

const Tensor* Problem::input(TensorId id) const {
    // The slot is only read.
    const TensorPtr* slot = const_cast<Problem*>(this)->input_slot(id);
    return slot == nullptr ? nullptr : slot->get();
}

TensorPtr input_tensor(const Problem& problem, TensorId id) {
    if (problem.rotary && id == TensorId::rotary_cos)
        return problem.rotary->cos;
    if (problem.rotary && id == TensorId::rotary_sin)
        return problem.rotary->sin;
    return problem.input_ptr(id);
}

bool is_editable(TensorId id) {
    Problem none;
    // The numbers of the positions belong to them, as those of the rotation do.
    return id != TensorId::query_scale && none.input_slot(id) != nullptr;
}

std::string Problem::query_label(std::int64_t i) const {
    return tokens.empty() ? std::to_string(i) : tokens[static_cast<std::size_t>(i)];
}

std::string Problem::key_label(std::int64_t j) const {
    const auto& labels = cross() ? kv_tokens : tokens;
    return labels.empty() ? std::to_string(j) : labels[static_cast<std::size_t>(j)];
}

Dims infer_dims(const TensorPtr& x, const TensorPtr& x_kv, const Weights& weights, std::int64_t H,
                std::optional<std::int64_t> Hkv) {
    Dims d;
    d.B = extent_of(x, "X", 3, 0);
    d.Tq = extent_of(x, "X", 3, 1);
    d.D = extent_of(x, "X", 3, 2);
    const TensorPtr& source = x_kv != nullptr ? x_kv : x;
    d.Tk = extent_of(source, "X_kv", 3, 1);
    d.Dkv = extent_of(source, "X_kv", 3, 2);
    d.H = H;
    d.Hkv = Hkv.value_or(H);
    check_positive(untranslated("H"), d.H);
    check_positive(untranslated("Hkv"), d.Hkv);
    check_groups(d);
    d.dk = divided("W_Q", extent_of(weights.W_Q, "W_Q", 2, 1), "H", d.H);
    d.dv = divided("W_V", extent_of(weights.W_V, "W_V", 2, 1), "Hkv", d.Hkv);
    return d;
}

void validate(const Problem& problem) {
    const Dims& d = problem.dims;
    check_dims(d);
    const ProblemParts parts = problem.parts();
    if (parts.qk_norm && parts.joint_norm)
        fail_input(
            tr("problem.q_norm_k_norm",
               "q_norm or k_norm is given together with q_norm_all or k_norm_all; norm the heads one by "
               "one or all together"));
    if (parts.rotary && parts.query_scale)
        fail_input(tr("problem.rotary_and_query_scale",
                      "query_scale is given together with a rotary position embedding; give one of them"));
    visit_fields(
        Overloaded{[&](const Field& field, const TensorPtr& tensor) { check_shape(field, tensor, d, parts); },
                   [](const Field&, const auto&) {}},
        problem);
    const Weights& w = problem.weights;
    if (!problem.relative && (problem.rel_positions != nullptr || w.W_KR != nullptr || w.W_QR != nullptr ||
                              w.b_KR != nullptr || w.b_QR != nullptr))
        fail_input(tr("problem.relative_missing",
                      "rel_positions or its weights are given without the terms that read them; give "
                      "“relative”, or leave them out"));
    if (!problem.has_source() && (d.Tq != d.Tk || extent(Axis::Dq, d) != d.Dkv))
        fail_input(tr("problem.x_kv_missing_x",
                      "X_kv is missing, and X has {} where keys and values should have (Tk, Dkv) = {}; give "
                      "X_kv, or make them equal",
                      Shape({d.Tq, extent(Axis::Dq, d)}).text(), Shape({d.Tk, d.Dkv}).text()));
    if (problem.latent && d.Tq != d.Tk)
        fail_input(
            tr("problem.latent_tokens_differ",
               "X has {} tokens and X_kv has {}; rows of latent vectors should be those of the same tokens",
               d.Tq, d.Tk));
    visit_fields(
        Overloaded{[](const Field& field, const TensorPtr& tensor) { check_finite(field, tensor); },
                   [](const Field&, const Dims&) {},
                   [&](const Field&, const std::optional<Rotary>& rotary) {
                       if (rotary)
                           check_rotary(problem);
                   },
                   [&](const Field&, const std::optional<RelativeTerms>& relative) {
                       if (relative)
                           check_relative(problem);
                   },
                   [&](const Field&, const Mask& mask) { [[maybe_unused]] const MaskRows rows(mask, d); },
                   [&](const Field& field, const std::vector<float>& gains) {
                       check_count(field, gains.size(), d);
                       for (std::size_t h = 0; h < gains.size(); ++h)
                           if (!std::isfinite(gains[h]))
                               fail_input(tr("problem.gain_head_not_finite",
                                             "the gain of head {} is not a finite number; give one", h));
                   },
                   [&](const Field& field, float number) {
                       if (has_tensor(*field.row, parts) && (!std::isfinite(number) || number <= 0))
                           // Translators: the first {} is "temperature", "soft cap" and the like
                           fail_input(tr("problem.should_above_0", "the {} is {}; it should be above 0",
                                         tr(field.label), fmt::format("{}", number)));
                   },
                   [&](const Field& field, const std::vector<std::string>& labels) {
                       check_count(field, labels.size(), d);
                   }},
        problem);
}

} // namespace headscope
