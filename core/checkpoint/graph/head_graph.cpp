#include "core/checkpoint/graph/head_graph.h"

#include "core/checkpoint/graph/weight_source.h"
#include "core/graph/labels.h"

namespace headscope::checkpoint {

void add_head(const graph::Builder& root, LeafBuilder& leaves, const StackText& text,
              const graph::Value& hidden, const graph::Value& word_table) {
    namespace labels = graph::labels;
    using graph::Value;
    const Architecture& a = text.architecture;
    graph::Builder g = root.around(graph::Stack::own); // "logits", also in an encoder-decoder
    const auto weight = [&](TensorId id) { return leaves.weight(g, text, {text.stack, -1}, id); };

    Value x = hidden;
    if (a.head_scale != 1.0)
        x = g.scale(labels::head_scaled, x, {.factor = a.head_scale});
    if (const graph::OptionalValue dense = weight(TensorId::head_dense)) {
        x = g.linear(labels::head_dense, x, *dense, weight(TensorId::head_dense_bias));
        x = g.activation(labels::head_act, x, a.head_activation);
        x = add_norm(g, labels::head_norm, a, x, weight(TensorId::head_norm_weight),
                     weight(TensorId::head_norm_bias));
    }
    const graph::OptionalValue own_table = weight(TensorId::W_U);
    const Value table = own_table ? *own_table : g.alias(label_of(TensorId::W_U), word_table);
    const bool has_cap = a.logit_cap > 0;
    Value logits = g.linear(has_cap ? labels::logits_raw : labels::logits, x, table, weight(TensorId::b_U),
                            {.transposed = true});
    if (has_cap)
        logits = g.scale(labels::logits, logits, {.cap = a.logit_cap});
    g.softmax(labels::probabilities, logits);
}

} // namespace headscope::checkpoint
