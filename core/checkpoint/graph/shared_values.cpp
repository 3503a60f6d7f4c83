#include "core/checkpoint/graph/layer_graph.h"
#include "core/checkpoint/model/rope.h"
#include "core/graph/labels.h"
#include "core/graph/parts/sizes.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace headscope::checkpoint {

namespace {

namespace labels = graph::labels;
using graph::Value;

bool is_padding(const ModelInputs& inputs, std::size_t token) {
    return !inputs.attention_mask.empty() && inputs.attention_mask[token] == 0;
}

/// The place of each token among those of its text that are not padding; 0 for padding.
std::vector<float> places_without_padding(const ModelInputs& inputs) {
    std::vector<float> places(inputs.ids.size());
    float place = 0;
    for (std::size_t token = 0; token < places.size(); ++token) {
        if (token % static_cast<std::size_t>(inputs.T) == 0)
            place = 0;
        if (!is_padding(inputs, token))
            places[token] = place++;
    }
    return places;
}

/// The slope of each of H heads (Press et al. 2022): a geometric sequence for a power of two of heads; the
/// remaining heads take every second number of the sequence for twice as many heads.
std::vector<float> alibi_slopes(std::int64_t H) {
    const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(H)));
    std::vector<float> slopes;
    for (std::int64_t h = 0; h < H; ++h) {
        const double step = h < power ? 8.0 / static_cast<double>(power) : 4.0 / static_cast<double>(power);
        const auto factor = static_cast<double>(h < power ? h + 1 : 2 * (h - power) + 1);
        slopes.push_back(static_cast<float>(std::exp2(-step * factor)));
    }
    return slopes;
}

Value add_alibi(graph::Builder& g, LeafBuilder& leaves, const StackText& text) {
    const Architecture& a = text.architecture;
    graph::Alibi alibi{.slopes = alibi_slopes(a.H)};
    if (a.alibi == Alibi::before_scale_bfloat16) {
        alibi.bfloat16 = true;
        alibi.divisor = std::sqrt(static_cast<double>(a.dk));
    }
    const Value places = leaves.input(g, labels::key_places, graph::axes_of({Axis::B, Axis::Tk}, text.dims),
                                      places_without_padding(text.inputs), graph::Input::Kind::numbers);
    return g.make(labels::alibi, graph::Op::alibi, std::move(alibi), {places});
}

Value add_distance_bias(graph::Builder& g, LeafBuilder& leaves, const StackText& text) {
    const DistanceBuckets& buckets = *text.architecture.buckets;
    const Value table = *leaves.weight(g, text, {text.stack, -1}, TensorId::bucket_table);
    return g.make(labels::distance_bias, graph::Op::distance_bias,
                  graph::DistanceBias{.queries = text.dims.Tq,
                                      .keys = text.dims.Tk,
                                      .furthest = buckets.furthest,
                                      .both_sides = buckets.both_sides},
                  {table});
}

Value add_relative_positions(graph::Builder& g, LeafBuilder& leaves, const StackText& text) {
    const auto weight = [&](TensorId id) { return leaves.weight(g, text, {text.stack, -1}, id); };
    const Value table = *weight(TensorId::W_R);
    const graph::OptionalValue norm = weight(TensorId::rel_norm_weight);
    return norm ? g.layer_norm(labels::rel_positions, table, norm, weight(TensorId::rel_norm_bias),
                               text.architecture.norm_eps)
                : g.alias(labels::rel_positions, table);
}

/// The tables for heads whose numbers Model has in rotary_order: halves of the whole head rotate together.
graph::Rotary add_rotary(graph::Builder& g, const StackText& text, std::size_t rope) {
    const Architecture& a = text.architecture;
    const Rotary tables = rotary_tables(a, a.ropes[rope], text.inputs.T);
    const graph::Axes axes{{"B", 1}, {"Tq", text.inputs.T}, {"dk", a.dk}};
    const std::string number = a.ropes.size() == 1 ? "" : "." + std::to_string(rope);
    const auto constant = [&](const graph::Label& label, const TensorPtr& values) {
        const std::string name = std::string(label.name) + number;
        return g.constant({name, label.title, label.symbol, label.step}, axes, values);
    };
    return {.cos = constant(labels::rotary_cos, tables.cos), .sin = constant(labels::rotary_sin, tables.sin)};
}

} // namespace

SharedValues add_shared_values(graph::Builder& g, LeafBuilder& leaves, const StackText& text) {
    const Architecture& a = text.architecture;
    const ModelInputs& inputs = text.inputs;
    SharedValues shared;
    for (std::size_t rope = 0; rope < a.ropes.size(); ++rope)
        shared.rotary.push_back(add_rotary(g, text, rope));
    if (a.query_scale) {
        std::vector<float> scales(static_cast<std::size_t>(inputs.T));
        for (std::int64_t i = 0; i < inputs.T; ++i)
            scales[static_cast<std::size_t>(i)] = static_cast<float>(a.query_scale->at(i));
        shared.query_scale = g.constant(labels::query_scale, graph::axes_of({Axis::Tq}, text.dims),
                                        make_tensor({inputs.T}, scales));
    }
    if (a.qk_norm == QkNorm::per_head_plain || a.value_norm)
        shared.ones = g.constant(labels::ones, graph::axes_of({Axis::dk}, text.dims),
                                 std::make_shared<const Tensor>(Shape{a.dk}, 1.0F));
    if (a.alibi != Alibi::none)
        shared.bias = add_alibi(g, leaves, text);
    else if (a.buckets)
        shared.bias = add_distance_bias(g, leaves, text);
    if (a.relative)
        shared.relative = add_relative_positions(g, leaves, text);
    if (std::ranges::find(inputs.attention_mask, 0) != inputs.attention_mask.end())
        shared.key_valid = leaves.input(g, labels::key_valid, graph::axes_of({Axis::B, Axis::Tk}, text.dims),
                                        {inputs.attention_mask.begin(), inputs.attention_mask.end()},
                                        graph::Input::Kind::flags);
    if (a.delta && shared.key_valid)
        shared.token_valid = leaves.input(
            g, labels::token_valid, {{"B", inputs.B}, {"Tq", inputs.T}, {"D", 1}},
            {inputs.attention_mask.begin(), inputs.attention_mask.end()}, graph::Input::Kind::flags);
    return shared;
}

} // namespace headscope::checkpoint
