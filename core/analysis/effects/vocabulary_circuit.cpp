#include "core/analysis/effects/vocabulary_circuit.h"

#include "core/analysis/effects/direct_projections.h"
#include "core/analysis/effects/rows.h"
#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/model/edited_table.h"
#include "core/checkpoint/model/stacks.h"
#include "core/checkpoint/run/from_rows.h"
#include "core/engine/cpu/dense.h"
#include "core/tensor/views.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>

namespace headscope::analysis {

namespace {

ConstRows whole(const TensorPtr& tensor) {
    return {tensor->data(), tensor->shape()[0], tensor->shape()[1]};
}

Tensor as_row(const Eigen::RowVectorXf& numbers) {
    return {Shape{1, 1, numbers.size()}, std::span(numbers.data(), static_cast<std::size_t>(numbers.size()))};
}

/// A text of one token, for both stacks of an encoder-decoder.
checkpoint::ModelInputs one_token(const checkpoint::Model& model) {
    checkpoint::ModelInputs inputs;
    inputs.T = 1;
    inputs.ids = {0};
    if (model.encoder() != nullptr)
        inputs.source.push_back(inputs);
    return inputs;
}

/// What the MLP of layer 0 makes of a vector alone, behind the norm that stands before it.
Eigen::RowVectorXf after_first_mlp(const checkpoint::Model& model, const checkpoint::ModelEdits& edits,
                                   const Eigen::RowVectorXf& e, const Progress& cancel) {
    const checkpoint::ModelConfig& a = model.config();
    const auto text = std::make_shared<const checkpoint::TextGraph>(
        std::shared_ptr<const checkpoint::Model>(std::shared_ptr<void>(), &model), one_token(model));
    const checkpoint::AttentionPlace place{
        model.encoder() != nullptr ? checkpoint::Stack::cross : checkpoint::Stack::own, 0};
    const checkpoint::ModelStages& stages = model.stages();
    const auto name = [&](TensorId stage) { return text->name(place, stage); };
    const graph::Graph& nodes = text->graph();
    const auto input_of = [&](const graph::Node& node) { return nodes.node(node.inputs.front().node); };
    const graph::Node& first = nodes[stages.has(place, TensorId::routing) ? layer_prefix(a, place) + "router"
                                                                          : name(TensorId::mlp_pre)];
    const graph::Node read = input_of(first), from = read.role == graph::Role::stream ? read : input_of(read);
    const bool is_normed = stages.norm(place, TensorId::mlp_out).has_value();
    const std::string made = name(is_normed ? TensorId::mlp_raw : TensorId::mlp_out);
    Progress progress{Progress::CancelledWith{cancel}};
    const TensorPtr out = checkpoint::FromRows(text, edits, from.name, {made})
                              .of(std::make_shared<const Tensor>(as_row(e)), progress)
                              .at(made);
    return ConstRow(out->data(), out->count());
}

/// The `top` entries that come first, in order.
template<class First>
std::vector<CircuitToken> extreme(std::span<const float> values, std::size_t top, const First& first) {
    std::vector<std::int64_t> ids(values.size());
    std::iota(ids.begin(), ids.end(), std::int64_t{0});
    const auto value = [&](std::int64_t id) { return values[static_cast<std::size_t>(id)]; };
    const auto end = ids.begin() + static_cast<std::ptrdiff_t>(std::min(top, ids.size()));
    std::partial_sort(ids.begin(), end, ids.end(), [&](std::int64_t a, std::int64_t b) {
        return value(a) == value(b) ? a < b : first(value(a), value(b));
    });
    std::vector<CircuitToken> out;
    for (auto id = ids.begin(); id != end; ++id)
        out.push_back({*id, static_cast<double>(value(*id))});
    return out;
}

} // namespace

VocabularyCircuit vocabulary_circuit(const checkpoint::Model& model, const checkpoint::ModelEdits& edits,
                                     std::int64_t n, std::int64_t head, std::int64_t token,
                                     TokenVector vector, std::size_t top, const Progress& cancel) {
    const checkpoint::ModelConfig& a = model.config();
    if (!model.has_head())
        fail_input(tr("vocabulary_circuit.no_language_model",
                      "{} has no language-model head, which the circuit needs; open a checkpoint "
                      "that was saved with its head",
                      model.path()));
    require_direct_circuits(model);
    require_number(n, attention_count(a), Numbered::layer);
    require_number(head, a.H, Numbered::head);
    require_number(token, a.vocab, Numbered::token);
    const checkpoint::WeightSet w = with_edits(model.layer(n), checkpoint::edits_of(edits, n));
    const std::int64_t dk = a.dk, kv = head / (a.H / a.Hkv);
    const checkpoint::EditedTable words(model, edits, TensorId::W_E), out(model, edits, TensorId::W_U);
    cpu::CpuDense cpu;
    const double embedding_scale = model.stages().embedding_scale(checkpoint::Stack::own);
    Eigen::RowVectorXf e =
        static_cast<float>(embedding_scale) * ConstRow(words.row(token).data(), words.own().shape()[1]);
    const TensorPtr map = model.weight(TensorId::embedding_map), dense = model.weight(TensorId::head_dense);
    if (map != nullptr)
        e = Eigen::RowVectorXf(e * whole(map));
    if (vector == TokenVector::first_mlp)
        e = after_first_mlp(model, edits, e, cancel);
    const double branch_scale =
        model.stages().branch_scale(attention_place(a, n), TensorId::attn_out).value_or(1.0);
    const Eigen::RowVectorXf written = (e * whole(w[TensorId::W_V]).middleCols(kv * dk, dk)) *
                                       whole(w[TensorId::W_O]).middleRows(head * dk, dk) *
                                       static_cast<float>(branch_scale);
    const Eigen::RowVectorXf wanted =
        (e * whole(w[TensorId::W_Q]).middleCols(head * dk, dk)) *
        whole(w[TensorId::W_K]).middleCols(kv * dk, dk).transpose() *
        static_cast<float>(embedding_scale / std::sqrt(static_cast<double>(dk)));
    // Embeddings that are narrower than the layers are reached through their map and the head's dense layer.
    const auto narrowed = [&](const Eigen::RowVectorXf& row, const TensorPtr& by, bool transposed) {
        if (map == nullptr || by == nullptr)
            return as_row(row);
        return as_row(transposed ? Eigen::RowVectorXf(row * whole(by).transpose())
                                 : Eigen::RowVectorXf(row * whole(by)));
    };
    const auto writes = out.multiply(cpu, narrowed(written, dense, false), nullptr, cancel);
    const auto keys = words.multiply(cpu, narrowed(wanted, map, true), nullptr, cancel);
    return {extreme(writes->values(), top, std::greater<>()), extreme(writes->values(), top, std::less<>()),
            extreme(keys->values(), top, std::greater<>())};
}

} // namespace headscope::analysis
