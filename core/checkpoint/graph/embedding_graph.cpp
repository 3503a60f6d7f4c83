#include "core/checkpoint/graph/embedding_graph.h"

#include "core/checkpoint/graph/weight_source.h"
#include "core/graph/labels.h"
#include "core/graph/parts/sizes.h"

namespace headscope::checkpoint {

namespace {

namespace labels = graph::labels;
using graph::OptionalValue;
using graph::Role;
using graph::Value;

std::vector<float> as_floats(const std::vector<std::int64_t>& whole) {
    return {whole.begin(), whole.end()};
}

} // namespace

Embedding add_embedding(graph::Builder& g, LeafBuilder& leaves, const StackText& text,
                        const OptionalValue& encoder_table) {
    const Architecture& a = text.architecture;
    const graph::Axes tokens = graph::axes_of({Axis::B, Axis::Tq}, text.dims);
    const auto weight = [&](TensorId id) { return leaves.weight(g, text, {text.stack, -1}, id); };
    const auto ids = [&](const graph::Label& label, std::vector<std::int64_t> rows) {
        rows.resize(text.inputs.ids.size()); // no token types: all are 0
        return leaves.input(g, label, tokens, as_floats(rows), graph::Input::Kind::ids);
    };

    const OptionalValue own_table = weight(TensorId::W_E);
    const Value table = own_table ? *own_table : g.alias(label_of(TensorId::W_E), *encoder_table);
    const Value words = ids(labels::ids, text.inputs.ids);
    const bool has_types = a.token_types > 0 || (a.word_token_types && !text.inputs.token_types.empty());
    Value x =
        g.embedding(has_types ? labels::word_embedding : labels::embedding, words, table, a.embedding_scale);
    if (has_types) {
        const Value types = ids(labels::type_ids, text.inputs.token_types);
        const Value type_table = a.token_types > 0 ? *weight(TensorId::W_type) : table;
        x = g.add(labels::embedding, {x, g.embedding(labels::type_embedding, types, type_table)});
    }
    g.with_role(x, Role::adds);

    if (a.position_rows > 0) {
        const Value position_table =
            a.sinusoids != Sinusoids::none ? leaves.position_table(g, text) : *weight(TensorId::W_P);
        const Value places = ids(labels::positions, learned_positions(text.inputs, a));
        const Value position = g.with_role(g.embedding(labels::position, places, position_table), Role::adds);
        x = g.with_role(g.add(labels::embedding_sum, {x, position}), Role::stream);
    }
    const auto add_map = [&] {
        x = g.with_role(g.linear(labels::embedding_mapped, x, *weight(TensorId::embedding_map),
                                 weight(TensorId::embedding_map_bias)),
                        Role::stream);
    };
    if (a.d_embed > 0 && a.map_before_norm)
        add_map();
    if (a.embedding_norm)
        x = g.with_role(add_norm(g, labels::embedding_norm, a, x, weight(TensorId::embedding_norm_weight),
                                 weight(TensorId::embedding_norm_bias)),
                        Role::stream);
    if (a.d_embed > 0 && !a.map_before_norm)
        add_map();
    return {.stream = x, .word_table = table};
}

} // namespace headscope::checkpoint
