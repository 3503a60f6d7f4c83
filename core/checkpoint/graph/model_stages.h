#pragma once

#include "core/checkpoint/graph/model_graph.h"

#include <optional>
#include <string>
#include <vector>

namespace headscope::checkpoint {

/// How a norm is computed: x, less its mean if `centered`, is divided by the root of the mean square plus
/// eps, then multiplied by the weight; the bias is added.
struct NormOfRows {
    bool centered = false;
    double eps = 0;
    bool adds_one = false;                ///< the file has the weight less 1
    std::optional<TensorId> weight, bias; ///< nothing: the norm has none
};

/// The rows of block_table() that a model has around its attentions, found among the nodes of its graph: the
/// graph decides which there are and what each is computed from. The graph is that of a text of one token;
/// texts of other lengths have the same stages. Immutable; any thread may use it.
class ModelStages {
public:
    /// has_head: see graph_of.
    ModelStages(const Architecture& architecture, bool has_head);

    /// The name of the node of a stage, of an attention or around it: "layers.3.head_out". Layer -1: of a
    /// stack as a whole, "embedding". The MLP after a decoder's cross-attention is named by the layer:
    /// "decoder.layers.3.mlp_act". The model need not have the stage.
    std::string name(AttentionPlace place, TensorId stage) const;
    /// The place in that name.
    AttentionPlace named_place(AttentionPlace place, TensorId stage) const;

    // `place` is an attention of the model, or layer -1 of one of its stacks. Throws Error(input) for others.
    /// The stages around an attention in the order in which they are computed, from resid_in to those before
    /// the resid_in of the next attention.
    const std::vector<TensorId>& in_layer(AttentionPlace place) const;
    /// Returns true for a stage of the layer, in its attention or around it; in layer -1 for those before and
    /// after the layers too.
    bool has(AttentionPlace place, TensorId stage) const;
    /// Those before the first layer of a stack.
    std::vector<TensorId> before_layers(Stack stack) const;
    /// Those after the last layer, and of the language-model head where the stack has one.
    std::vector<TensorId> after_layers(Stack stack) const;

    // In layer -1, stages of the last layer of the stack and its final_norm.
    /// The stages that a stage is computed from: the terms of a sum, the input of a norm or of a product.
    /// `output` is the attention's own. Empty for resid_in, and where the model lacks the stage.
    std::vector<TensorId> sources(AttentionPlace place, TensorId stage) const;
    /// Nothing if the stage is not a norm.
    std::optional<NormOfRows> norm(AttentionPlace place, TensorId stage) const;
    /// The constant that multiplies what attention or MLP returned; nothing for other stages.
    std::optional<double> branch_scale(AttentionPlace place, TensorId stage) const;
    /// Returns true for the sum of the chosen experts' outputs, each times its fraction.
    bool is_sum_of_experts(AttentionPlace place, TensorId stage) const;
    /// Returns true for a state of the residual stream: a sum, or a norm of the sum that replaces it.
    bool is_stream(AttentionPlace place, TensorId stage) const;
    /// Returns true if the attention reads norm1 of the residual stream, false if it reads the stream itself.
    bool has_norm_before(AttentionPlace place) const;
    /// The stage that is the output of the attention, or of the delta layer in its place, under another name:
    /// attn_raw where a norm or a scale follows, else attn_out.
    TensorId attention_output(AttentionPlace place) const;

    // Of an attention that the layer has.
    /// Returns true if the model has a parameter with the name of this weight there, or, in layer -1, around
    /// the layers.
    bool has_parameter(AttentionPlace place, TensorId weight) const;
    /// Its shape; nothing if there is none.
    std::optional<Shape> parameter_shape(AttentionPlace place, TensorId weight) const;
    /// Numbers of each row of a stage that the model has.
    std::int64_t width(AttentionPlace place, TensorId stage) const;
    /// Returns true if keys and values are products of latent vectors instead of what enters the attention.
    bool has_latent_keys(AttentionPlace place) const;
    /// Returns true if scores have terms by relative position beside the product of query and key.
    bool has_relative_terms(AttentionPlace place) const;
    /// Returns true if queries or keys pass a norm.
    bool has_norm_of_queries(AttentionPlace place) const;
    /// How many keys back a query sees, itself included, or in a model that reads both ways to each side.
    std::optional<std::int64_t> window(AttentionPlace place) const;
    /// Tokens of the chunks that a query does not see beyond.
    std::optional<std::int64_t> chunk(AttentionPlace place) const;
    /// Scaled scores are cap tanh(score / cap); 0: they are not bounded.
    double score_cap(AttentionPlace place) const;

    // Of a layer with an MLP.
    /// The activation function of the MLP for all tokens, with or without a gate.
    graph::Function activation(AttentionPlace place) const;
    /// Standard deviations above the mean from which gates are kept; nothing: all are.
    std::optional<double> gate_cutoff(AttentionPlace place) const;
    graph::Route route(AttentionPlace place) const;
    graph::Gate expert_gate(AttentionPlace place) const;
    /// Returns true if the fraction of an expert multiplies its input instead of its output.
    bool scales_expert_input(AttentionPlace place) const;
    /// The eps of the norm on the head outputs of a delta layer.
    double delta_eps(AttentionPlace place) const;

    // Around the layers.
    /// A node around the layers of a stack, or of the head, by the name in labels.h; null if there is none.
    const graph::Node* around(Stack stack, const graph::Label& label) const;
    /// A norm among them, which the model has.
    NormOfRows norm_around(Stack stack, const graph::Label& label) const;
    /// Multiplies the rows of the word table.
    double embedding_scale(Stack stack) const;
    /// Multiplies what the head reads.
    double head_scale() const;
    /// Logits are cap tanh(logit / cap); 0: they are not bounded.
    double logit_cap() const;

private:
    /// A stage and its node.
    struct Stage {
        TensorId id{};
        graph::NodeId node = -1;
        bool is_alias = false; ///< another name of the node
        std::vector<TensorId> sources = {};
    };
    struct Layer {
        std::vector<TensorId> ids;
        std::vector<Stage> stages; ///< the same, and of the last layer of a stack what follows it
    };

    std::optional<Stage> find(AttentionPlace place, TensorId id) const;
    /// The stages of an attention up to the node `end`.
    Layer layer_at(AttentionPlace place, graph::NodeId end) const;
    /// Adds those of `candidates` that a node is computed from with no other of them between. The first one
    /// enters the layer.
    void add_sources(const std::vector<Stage>& candidates, const graph::Node& node,
                     std::vector<TensorId>& to) const;
    std::vector<TensorId> around_layers(Stack stack, bool before) const;
    const graph::Graph& graph() const { return built_.graph; }
    const Layer& layer(AttentionPlace place) const;
    const Stage* stage(AttentionPlace place, TensorId id) const;
    /// The node of a stage, unless the stage is another name of a node; null for those and where it is
    /// absent.
    const graph::Node* node(AttentionPlace place, TensorId id) const;

    NormOfRows norm_of(const graph::Node& norm) const;
    /// The node of a stage, or the one that it is another name of. The model has it.
    const graph::Node& made_by(AttentionPlace place, TensorId stage) const;
    /// A node of the layer of the attention or of the MLP, which the layer has.
    const graph::Node& in_layer(AttentionPlace place, const graph::Label& label) const;

    ModelConfig config_;
    ModelGraph built_;
    std::vector<Layer> layers_; ///< by the number of the attention
};

} // namespace headscope::checkpoint
