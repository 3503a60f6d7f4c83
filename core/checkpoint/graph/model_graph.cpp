#include "core/checkpoint/graph/model_graph.h"

#include "core/base/error.h"
#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/graph/copies_graph.h"
#include "core/checkpoint/graph/embedding_graph.h"
#include "core/checkpoint/graph/head_graph.h"
#include "core/checkpoint/graph/layer_graph.h"
#include "core/checkpoint/graph/stack_text.h"
#include "core/graph/labels.h"
#include "core/trace/stage.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace headscope::checkpoint {

namespace {

using graph::Builder;
using graph::OptionalValue;
using graph::Value;

/// The results of a stack.
struct StackOutput {
    Value hidden;            ///< (B, Tq, D), after the final norm
    OptionalValue key_valid; ///< (B, Tk): 1 for tokens that are not padding; empty without padding
    Value word_table;
};

/// Adds the embedding, the layers and the final norm of a stack. `encoder`: the output that the
/// cross-attention of a decoder reads.
StackOutput add_stack(const Builder& root, LeafBuilder& leaves, const StackText& text,
                      const std::optional<StackOutput>& encoder) {
    const Architecture& a = text.architecture;
    Builder g = text.around(root);
    const Embedding embedded =
        add_embedding(g, leaves, text, encoder ? OptionalValue(encoder->word_table) : std::nullopt);
    SharedValues shared = add_shared_values(g, leaves, text);
    const auto name_hidden = [&](std::int64_t l, const Value& hidden) {
        const std::string name = "hidden." + std::to_string(l);
        g.alias({name, untranslated("hidden"), "hidden", graph::Step::resid_in}, hidden);
    };
    Value x = embedded.stream;
    if (a.copies) {
        shared.layer_embeddings = add_layer_embeddings(g, leaves, text, x);
        std::vector<Value> copies = add_copies(g, leaves, text, x);
        for (std::int64_t l = 0; l < a.layers; ++l) {
            name_hidden(l, copies[static_cast<std::size_t>(a.copies->active)]);
            copies = add_layer(root, leaves, text, {text.stack, l}, shared, copies);
        }
        x = merge_copies(g, leaves, text, copies);
    }
    for (std::int64_t l = 0; l < a.layers && !a.copies; ++l) {
        name_hidden(l, x);
        x = add_layer(root, leaves, text, {text.stack, l}, shared, {}, x);
        if (encoder)
            x = add_layer(root, leaves, text, {Stack::cross, l}, {.key_valid = encoder->key_valid},
                          encoder->hidden, x);
    }
    Value last = x;
    if (a.final_norm) {
        const AttentionPlace around{text.stack, -1};
        last = add_norm(g, graph::labels::final_norm, a, x,
                        leaves.weight(g, text, around, TensorId::final_norm_weight),
                        leaves.weight(g, text, around, TensorId::final_norm_bias));
    }
    name_hidden(a.layers, a.final_norm_in_head ? x : last);
    return {.hidden = last, .key_valid = shared.key_valid, .word_table = embedded.word_table};
}

} // namespace

ModelGraph graph_of(const Architecture& architecture, const ModelInputs& inputs, bool has_head,
                    float temperature) {
    check_inputs(inputs, architecture);
    Builder root;
    LeafBuilder leaves;
    std::optional<StackOutput> encoder;
    if (architecture.encoder != nullptr)
        encoder = add_stack(root, leaves,
                            text_of(architecture, Stack::encoder, inputs.source.front(), temperature), {});
    const StackText text = text_of(architecture, Stack::own, inputs, temperature);
    const StackOutput own = add_stack(root, leaves, text, encoder);
    if (has_head)
        add_head(root, leaves, text, own.hidden, own.word_table);
    return {.graph = root.finish(), .inputs = leaves.take_inputs(), .weights = leaves.take_weights()};
}

WeightReader::WeightReader(std::map<std::string, WeightPlace, std::less<>> places,
                           std::shared_ptr<const Model> model)
    : places_(std::move(places)), model_(std::move(model)) {}

TensorPtr WeightReader::weight_at(const WeightPlace& at) {
    if (at.place.layer < 0)
        return at.place.stack == Stack::encoder ? model_->encoder()->weight(at.weight)
                                                : model_->weight(at.weight);
    const std::int64_t attention = attention_number(model_->architecture(), at.place);
    const std::scoped_lock lock(mutex_);
    if (attention_ != attention) {
        weights_ = {}; // its memory first
        attention_ = -1;
        weights_ = model_->layer(attention);
        attention_ = attention;
    }
    return weights_[at.weight];
}

TensorPtr WeightReader::read(const graph::Node& node) {
    const auto found = places_.find(node.name);
    if (found == places_.end())
        return nullptr;
    TensorPtr numbers = weight_at(found->second);
    if (const auto matrix = found->second.matrix; matrix && numbers != nullptr)
        numbers = std::make_shared<const Tensor>(row_shape(numbers->shape()), row_of(*numbers, *matrix));
    if (numbers == nullptr && found->second.may_lack)
        numbers = std::make_shared<const Tensor>(node.axes.shape(), 0.0F);
    return numbers;
}

void WeightReader::release() {
    const std::scoped_lock lock(mutex_);
    weights_ = {};
    attention_ = -1;
}

graph::LeafSource leaves_of(const ModelGraph& graph, const Model& model) {
    const auto reader = std::make_shared<WeightReader>(
        graph.weights, std::shared_ptr<const Model>(std::shared_ptr<void>(), &model));
    return [&graph, reader](const graph::Node& node) -> TensorPtr {
        const auto input = graph.inputs.find(node.name);
        return input != graph.inputs.end() ? input->second : reader->read(node);
    };
}

} // namespace headscope::checkpoint
