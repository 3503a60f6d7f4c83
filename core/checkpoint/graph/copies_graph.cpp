#include "core/checkpoint/graph/copies_graph.h"

#include "core/checkpoint/graph/weight_source.h"
#include "core/checkpoint/model/model_inputs.h"
#include "core/graph/labels.h"
#include "core/graph/parts/sizes.h"

#include <cmath>
#include <numbers>
#include <string>

namespace headscope::checkpoint {

namespace {

namespace labels = graph::labels;
using graph::Builder;
using graph::Label;
using graph::Op;
using graph::Role;
using graph::Value;
using W = TensorId;

/// A square root in float32, as files of the library define these factors.
double root_of(std::int64_t width) {
    return static_cast<double>(std::sqrt(static_cast<float>(width)));
}

Label numbered(const Label& label, const std::string& name) {
    return {name, label.title, label.symbol, label.step};
}

/// The product of a copy and its matrix, scaled to the magnitude of another copy.
Value projected_copy(Builder& g, LeafBuilder& leaves, const StackText& text, W weight, std::int64_t copy,
                     const Label& product, const Value& x, const Value& like,
                     const std::function<Value(Op, graph::Attributes, std::vector<Value>)>& make) {
    const std::string number = "." + std::to_string(copy);
    const Label matrix = label_of(weight);
    const std::string matrix_name = std::string(matrix.name) + number,
                      product_name = std::string(product.name) + number;
    const Value W_copy = leaves.matrix(g, text, numbered(matrix, matrix_name), weight, copy - 1);
    const Value projected = g.linear(numbered(product, product_name), x, W_copy);
    return make(Op::match_magnitude, graph::Magnitude{.least = 1e-5}, {projected, like});
}

} // namespace

Value for_copy(const StreamCopies& copies, std::int64_t copy, const Label& label,
               const std::function<Value(const Label&)>& add) {
    if (copy == copies.active)
        return add(label);
    const std::string name = std::string(label.name) + "." + std::to_string(copy);
    return add(numbered(label, name));
}

LayerEmbeddings add_layer_embeddings(Builder& g, LeafBuilder& leaves, const StackText& text,
                                     const Value& embedding) {
    const Architecture& a = text.architecture;
    const auto weight = [&](W id) { return *leaves.weight(g, text, {text.stack, -1}, id); };
    const std::vector<std::int64_t> rows = layer_embedding_rows(text.inputs, a);
    const Value ids = leaves.input(g, labels::layer_ids, graph::axes_of({Axis::B, Axis::Tq}, text.dims),
                                   {rows.begin(), rows.end()}, graph::Input::Kind::ids);
    const Value products = g.linear(labels::layer_projections_raw, embedding, weight(W::layer_projection));
    return {.rows = g.embedding(labels::layer_embeddings, ids, weight(W::layer_table),
                                root_of(a.copies->layer_width)),
            .projections = g.scale(labels::layer_projections, products, {.factor = 1.0 / root_of(a.D)}),
            .norm = weight(W::layer_projection_norm)};
}

std::vector<Value> add_copies(Builder& g, LeafBuilder& leaves, const StackText& text,
                              const Value& embedding) {
    const StreamCopies& copies = *text.architecture.copies;
    std::vector<Value> all;
    for (std::int64_t copy = 0; copy < copies.count; ++copy)
        all.push_back(for_copy(copies, copy, labels::copied, [&](const Label& label) {
            // A node of its own, so that the copy can be patched and the embedding stays.
            if (copy == 0)
                return g.scale(label, embedding, {});
            return projected_copy(g, leaves, text, W::copies_in, copy, labels::copy_projected, embedding,
                                  embedding,
                                  [&](Op op, graph::Attributes attributes, std::vector<Value> inputs) {
                                      return g.make(label, op, std::move(attributes), std::move(inputs));
                                  });
        }));
    g.with_role(all[static_cast<std::size_t>(copies.active)], Role::stream);
    return all;
}

Value merge_copies(Builder& g, LeafBuilder& leaves, const StackText& text, const std::vector<Value>& copies) {
    std::vector<Value> terms{copies.front()};
    for (std::int64_t copy = 1; copy < std::ssize(copies); ++copy) {
        const std::string name = std::string(labels::uncopied.name) + "." + std::to_string(copy);
        terms.push_back(projected_copy(
            g, leaves, text, W::copies_out, copy, labels::unembedded, copies[static_cast<std::size_t>(copy)],
            copies.front(), [&](Op op, graph::Attributes attributes, std::vector<Value> inputs) {
                return g.make(numbered(labels::uncopied, name), op, std::move(attributes), std::move(inputs));
            }));
    }
    const double part = 1.0 / static_cast<double>(copies.size());
    if (terms.size() == 1)
        return g.scale(labels::merged, terms.front(), {});
    return g.with_role(
        g.scale(labels::merged, g.make(labels::copies_sum, Op::add, {}, std::move(terms)), {.factor = part}),
        Role::stream);
}

Value CopiesBuilder::modalities(const RouterLabels& of, const Value& active) {
    if (!router_norm_) {
        router_norm_ = weight_(W::router_norm);
        W_router_ = weight_(W::W_copies);
    }
    const Value normed = g_.rms_norm(of.normed, active, *router_norm_, a_.norm_eps);
    const Value scaled = g_.scale(of.scaled, normed, {.factor = 1.0 / static_cast<double>(a_.D)});
    return g_.activation(of.modalities, g_.linear(of.routed, scaled, *W_router_), graph::Function::tanh);
}

std::vector<Value> CopiesBuilder::predict(const std::vector<Value>& copies) {
    const Value numbers = modalities(
        {labels::predict_normed, labels::predict_scaled, labels::predict_routed, labels::predict_modalities},
        copies[static_cast<std::size_t>(copies_.active)]);
    const Value coefficients = g_.linear(labels::predict_coefficients, numbers, *weight_(W::W_predict));
    std::vector<Value> predicted;
    for (std::int64_t copy = 0; copy < copies_.count; ++copy) {
        std::vector<Value> inputs{coefficients, copies[static_cast<std::size_t>(copy)]};
        inputs.insert(inputs.end(), copies.begin(), copies.end());
        predicted.push_back(for_copy(copies_, copy, labels::predicted, [&](const Label& label) {
            return g_.make(label, Op::mix, graph::Mix{.first = copy * copies_.count}, inputs);
        }));
    }
    g_.with_role(predicted[static_cast<std::size_t>(copies_.active)], Role::stream);
    return predicted;
}

Value CopiesBuilder::laurel(const Value& input) {
    const Value left = g_.linear(labels::laurel_left, input, *weight_(W::laurel_left)),
                right = g_.linear(labels::laurel_right, left, *weight_(W::laurel_right)),
                normed = g_.rms_norm(labels::laurel_normed, right, weight_(W::laurel_norm), a_.norm_eps);
    return g_.with_role(g_.add(labels::laurel_out, {input, normed}), Role::adds);
}

std::vector<Value> CopiesBuilder::finish(const std::vector<Value>& predicted, const Value& activated) {
    const auto active = static_cast<std::size_t>(copies_.active);
    const Value numbers = modalities(
        {labels::correct_normed, labels::correct_scaled, labels::correct_routed, labels::correct_modalities},
        activated);
    const Value coefficients = g_.linear(labels::correct_coefficients, numbers, *weight_(W::W_correct));
    const Value minus = g_.scale(labels::minus_predicted, predicted[active], {.factor = -1});
    const Value innovation = g_.add(labels::innovation, {activated, minus});
    std::vector<Value> corrected;
    for (std::int64_t copy = 0; copy < copies_.count; ++copy)
        corrected.push_back(for_copy(copies_, copy, labels::corrected, [&](const Label& label) {
            return g_.make(label, Op::mix, graph::Mix{.first = copy, .offset = 1},
                           {coefficients, predicted[static_cast<std::size_t>(copy)], innovation});
        }));
    g_.with_role(corrected[active], Role::stream);
    const Value added = layer_out(corrected[active]);
    const auto leave = [&](std::int64_t copy) {
        Value& one = corrected[static_cast<std::size_t>(copy)];
        one = for_copy(copies_, copy, labels::resid_out, [&](const Label& label) {
            // The first copy is a node of its own, so that it can be patched for the next layer alone.
            return copy == 0 ? g_.scale(label, one, {}) : g_.add(label, {one, added});
        });
    };
    for (std::int64_t copy = 0; copy < copies_.count; ++copy)
        if (copy != copies_.active)
            leave(copy);
    leave(copies_.active); // ends the layer
    g_.with_role(corrected[active], Role::stream);
    return corrected;
}

/// Builds the embedding that the layer has of its own for each token: (B, Tq, layer_width).
Value CopiesBuilder::layer_in() {
    const std::int64_t width = copies_.layer_width;
    const graph::Slice own{.first = layer_ * width, .axis = {"p", width}};
    const Value row = g_.slice(labels::layer_embedding, embeddings_.rows, own);
    const Value projection = g_.slice(labels::layer_projection, embeddings_.projections, own);
    const Value normed = g_.rms_norm(labels::layer_projection_normed, projection,
                                     embeddings_.norm.as(label_of(W::layer_projection_norm)), a_.norm_eps);
    return g_.scale(labels::layer_in, g_.add(labels::layer_in_sum, {normed, row}),
                    {.factor = 1.0 / std::numbers::sqrt2});
}

/// Builds what is added to all copies but the first.
Value CopiesBuilder::layer_out(const Value& corrected) {
    Value x = corrected;
    if (copies_.scales_active)
        x = g_.multiply(labels::corrected_scaled, x, *weight_(W::active_scale));
    const Value gate = g_.linear(labels::layer_gate, x, *weight_(W::W_layer_gate));
    const Value act = g_.gate(labels::layer_act, gate, layer_in(), {.function = a_.activation});
    const Value raw = g_.linear(labels::layer_raw, act, *weight_(W::W_layer_out));
    return g_.with_role(g_.rms_norm(labels::layer_out, raw, weight_(W::layer_norm_weight), a_.norm_eps),
                        Role::adds);
}

} // namespace headscope::checkpoint
