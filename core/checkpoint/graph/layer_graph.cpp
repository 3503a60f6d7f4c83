#include "core/checkpoint/graph/layer_graph.h"

#include "core/checkpoint/graph/weight_source.h"
#include "core/graph/labels.h"
#include "core/graph/parts/delta.h"
#include "core/graph/parts/mlp.h"
#include "core/graph/parts/sizes.h"

#include <numbers>
#include <string>

namespace headscope::checkpoint {

namespace {

namespace labels = graph::labels;
using graph::Builder;
using graph::OptionalValue;
using graph::Role;
using graph::Value;
using W = TensorId;

/// Adds the nodes of one attention, and of the MLP after it.
class LayerBuilder {
public:
    LayerBuilder(const Builder& root, LeafBuilder& leaves, const StackText& text, AttentionPlace place,
                 const SharedValues& shared, const OptionalValue& encoder)
        : leaves_(leaves), text_(text), place_(place), shared_(shared), encoder_(encoder),
          attention_(text_.layer(root, place)),
          // The MLP after a cross-attention is named by the decoder's layer: "decoder.layers.3.mlp_act".
          mlp_(text_.layer(root, {text.stack, place.layer})) {
        text_.dims.d_ff = a_.mlp_width(place.layer);
        if (encoder_) {
            text_.dims.Tk = encoder_->axes().size(1);
            text_.dims.Dkv = encoder_->axes().size(2);
        }
    }

    Value add(const Value& stream) {
        const Value x = attention_.alias(labels::resid_in, stream);
        const NormPlaces& norms = a_.norms;
        const bool has_first_norm = norms.before && (norms.first || place_.layer > 0);
        const Value attention_input = has_first_norm ? norm1(x) : x;
        const Value attended = attention_branch(attention_input);
        switch (a_.residual) {
        case Residual::serial:
            break;
        case Residual::parallel:
            return add_to_stream(attention_, labels::resid_out,
                                 {x, attended, mlp_branch(norms.before ? norm2(x) : x)});
        case Residual::parallel_one_norm:
            return add_to_stream(attention_, labels::resid_out, {x, attended, mlp_branch(attention_input)});
        }
        Value middle = add_to_stream(attention_, labels::resid_mid, {x, attended});
        if (norms.after_sum)
            middle = attention_.with_role(norm1(middle), Role::stream);
        if (a_.encoder != nullptr && place_.stack == Stack::own)
            return middle; // the cross-attention comes before the MLP
        const Value end = add_to_stream(mlp_, labels::resid_out,
                                        {middle, mlp_branch(norms.before ? norm2(middle) : middle)});
        return norms.after_sum ? mlp_.with_role(norm2(end), Role::stream) : end;
    }

    /// Layers of models with several copies of the residual stream.
    std::vector<Value> add(const std::vector<Value>& copies) {
        Builder& g = attention_;
        std::vector<Value> entering;
        for (std::int64_t copy = 0; copy < std::ssize(copies); ++copy)
            entering.push_back(for_copy(*a_.copies, copy, labels::resid_in, [&](const graph::Label& label) {
                return g.alias(label, copies[static_cast<std::size_t>(copy)]);
            }));
        CopiesBuilder around(g, a_, place_.layer, *shared_.layer_embeddings,
                             [&](TensorId id) { return weight(g, id); });
        const std::vector<Value> predicted = around.predict(entering);
        const Value& active = predicted[static_cast<std::size_t>(a_.copies->active)];
        const Value input = norm1(active);
        const Value laurel = around.laurel(input);
        const Value sum = g.add(labels::resid_sum, {active, attention_branch(input), laurel});
        const Value middle =
            g.with_role(g.scale(labels::resid_mid, sum, {.factor = 1.0 / std::numbers::sqrt2}), Role::stream);
        return around.finish(predicted,
                             add_to_stream(mlp_, labels::activated, {middle, mlp_branch(norm2(middle))}));
    }

private:
    OptionalValue weight(Builder& g, TensorId id) { return leaves_.weight(g, text_, place_, id); }

    static Value add_to_stream(Builder& g, const graph::Label& label, std::initializer_list<Value> terms) {
        return g.with_role(g.add(label, terms), Role::stream);
    }

    Value norm1(const Value& x) {
        return add_norm(attention_, labels::norm1, a_, x, weight(attention_, W::norm1_weight),
                        weight(attention_, W::norm1_bias));
    }
    Value norm2(const Value& x) {
        return add_norm(mlp_, labels::norm2, a_, x, weight(mlp_, W::norm2_weight),
                        weight(mlp_, W::norm2_bias));
    }

    /// Keys and values are made of the input and the weights of an earlier layer.
    bool shares_keys() const {
        return place_.stack != Stack::cross && a_.key_layer(place_.layer) != place_.layer;
    }
    std::string key_layer_prefix() const {
        return layer_prefix(text_.model, {place_.stack, a_.key_layer(place_.layer)});
    }
    /// A weight that makes keys or values.
    OptionalValue key_weight(TensorId id) {
        if (!shares_keys())
            return weight(attention_, id);
        const graph::Label label = label_of(id);
        if (!find_source(a_, {place_.stack, a_.key_layer(place_.layer)}, id))
            return std::nullopt;
        return attention_.alias(label,
                                attention_.existing(label, key_layer_prefix() + std::string(label.name)));
    }

    /// The attention's term of the residual stream.
    Value attention_branch(const Value& input) {
        Builder& g = attention_;
        const Value output = a_.has_attention(place_.layer) ? attended(input) : delta(input);
        return a_.changes_branches()
                   ? added(g, labels::attn_out, g.alias(labels::attn_raw, output), W::norm1_after_weight)
                   : g.with_role(g.alias(labels::attn_out, output), Role::adds);
    }

    Value attended(const Value& input) {
        return graph::attention(
            attention_,
            attention_of(a_.Dq() > 0 ? latent_queries(input) : attention_.alias(labels::x, input), input));
    }

    Value delta(const Value& input) {
        Builder& g = attention_;
        return graph::delta_layer(g, {.x = input,
                                      .token_valid = shared_.token_valid,
                                      .W_q = *weight(g, W::delta_W_Q),
                                      .W_k = *weight(g, W::delta_W_K),
                                      .W_v = *weight(g, W::delta_W_V),
                                      .W_z = *weight(g, W::delta_W_Z),
                                      .W_a = *weight(g, W::delta_W_A),
                                      .W_b = *weight(g, W::delta_W_B),
                                      .conv_q = *weight(g, W::delta_conv_Q),
                                      .conv_k = *weight(g, W::delta_conv_K),
                                      .conv_v = *weight(g, W::delta_conv_V),
                                      .A_log = *weight(g, W::delta_A_log),
                                      .dt_bias = *weight(g, W::delta_dt_bias),
                                      .norm = *weight(g, W::delta_norm),
                                      .W_out = *weight(g, W::delta_W_out),
                                      .eps = a_.norm_eps});
    }

    /// The MLP's term of the residual stream.
    Value mlp_branch(const Value& input) {
        const graph::Label& label = a_.changes_branches() ? labels::mlp_raw : labels::mlp_out;
        const Value out = a_.has_experts(place_.layer) ? experts_branch(label, input)
                                                       : graph::mlp(mlp_, label, input, mlp_of());
        return a_.changes_branches() ? added(mlp_, labels::mlp_out, out, W::norm2_after_weight)
                                     : mlp_.with_role(out, Role::adds);
    }

    /// Builds what a branch adds to the residual stream from its output: its norm, or a multiple of it.
    Value added(Builder& g, const graph::Label& label, const Value& returned, TensorId norm) {
        return g.with_role(a_.norms.after_branch ? add_norm(g, label, a_, returned, weight(g, norm))
                                                 : g.scale(label, returned, {.factor = a_.branch_scale}),
                           Role::adds);
    }

    /// The output of the chosen experts, plus that of the MLP for all tokens where there is one.
    Value experts_branch(const graph::Label& label, const Value& input) {
        if (a_.d_shared == 0)
            return graph::mixture(mlp_, label, input, mixture_of());
        const OptionalValue gate = weight(mlp_, W::shared_gate);
        Value shared = graph::mlp(mlp_, gate ? labels::shared_raw : labels::mlp_shared, input, mlp_of());
        if (gate)
            shared = mlp_.multiply(labels::mlp_shared, shared,
                                   mlp_.activation(labels::shared_fraction,
                                                   mlp_.linear(labels::shared_gate, input, *gate),
                                                   graph::Function::sigmoid));
        mlp_.alias(labels::shared_out, shared);
        return mlp_.add(label, {shared, graph::mixture(mlp_, labels::mlp_experts, input, mixture_of())});
    }

    /// Builds the input of the query projection, where it is not the block's input itself.
    Value latent_queries(const Value& input) {
        Builder& g = attention_;
        const Value latent =
            g.rms_norm(labels::x, g.linear(labels::q_down, input, *weight(g, W::W_DQ), weight(g, W::b_DQ)),
                       weight(g, W::q_latent_norm), a_.latent->norm_eps);
        g.alias(labels::q_latent, latent);
        return latent;
    }
    /// Builds the input of the key and value projections: the latent vector, then the numbers of the key that
    /// turn.
    Value latent_source(const Value& input) {
        Builder& g = attention_;
        const std::int64_t rank = a_.latent->rank;
        const Value down = g.linear(labels::kv_down, input, *weight(g, W::W_DKV), weight(g, W::b_DKV));
        const Value latent = g.rms_norm(
            labels::kv_latent, g.slice(labels::kv_latent_raw, down, {.first = 0, .axis = {"rank", rank}}),
            weight(g, W::kv_latent_norm), a_.latent->norm_eps);
        const Value rotary =
            g.slice(labels::k_rotary, down, {.first = rank, .axis = {"rotary", a_.rotary_width}});
        return g.concat(labels::x_kv, {latent, rotary}, "Dkv");
    }

    /// input: what the projections read, or their latent vectors.
    graph::Attention attention_of(const Value& x, const Value& input) {
        Builder& g = attention_;
        graph::Attention attention{.dims = text_.dims,
                                   .x = x,
                                   .W_Q = *weight(g, W::W_Q),
                                   .W_K = *key_weight(W::W_K),
                                   .W_V = *key_weight(W::W_V),
                                   .W_O = *weight(g, W::W_O),
                                   .b_Q = weight(g, W::b_Q),
                                   .b_K = key_weight(W::b_K),
                                   .b_V = key_weight(W::b_V),
                                   .b_O = weight(g, W::b_O)};
        attention.qkv_limit = a_.qkv_limit;
        attention.norm = {.eps = a_.norm_eps, .centered = a_.qk_norm == QkNorm::per_head_layer};
        attention.joint_norm = a_.qk_norm == QkNorm::whole_width;
        attention.q_norm = weight(g, attention.joint_norm ? W::q_norm_all : W::q_norm);
        attention.k_norm = key_weight(attention.joint_norm ? W::k_norm_all : W::k_norm);
        if (a_.value_norm)
            attention.v_norm = g.alias(labels::v_norm, *shared_.ones);
        if (a_.has_plain_norm(place_.layer)) {
            attention.q_norm = g.alias(labels::q_norm, *shared_.ones);
            attention.k_norm = g.alias(labels::k_norm, *shared_.ones);
        }
        attention.score_cap = a_.score_cap;
        if (const float temperature = static_cast<float>(a_.temperature(place_.layer)) * text_.temperature;
            temperature != 1.0F)
            attention.temperature =
                g.constant(labels::temperature, {}, make_tensor({}, std::vector{temperature}));
        if (place_.stack == Stack::cross)
            attention.x_kv = g.alias(labels::x_kv, *encoder_);
        else
            add_positions(attention);
        if (a_.latent)
            attention.x_kv = latent_source(input);
        if (shares_keys())
            attention.x_kv = g.alias(labels::x_kv,
                                     g.existing(labels::x, key_layer_prefix() + std::string(labels::x.name)));
        attention.allowed = shared_.key_valid;
        attention.sink = weight(g, W::sink);
        attention.W_G = weight(g, W::W_G);
        attention.b_G = weight(g, W::b_G);
        const std::vector<float> ones(static_cast<std::size_t>(a_.H), 1.0F);
        attention.gain =
            g.constant(labels::gain, graph::axes_of({Axis::H}, text_.dims), make_tensor({a_.H}, ones));
        return attention;
    }

    /// Sets what depends on the positions of queries and keys.
    void add_positions(graph::Attention& attention) {
        const auto layer = static_cast<std::size_t>(place_.layer);
        if (const auto rope = a_.layer_rope[layer])
            attention.rotary =
                graph::Rotary{.cos = attention_.alias(labels::rotary_cos, shared_.rotary[*rope].cos),
                              .sin = attention_.alias(labels::rotary_sin, shared_.rotary[*rope].sin)};
        if (a_.query_scale && !a_.has_rotary(place_.layer))
            attention.query_scale = attention_.alias(labels::query_scale, *shared_.query_scale);
        if (const std::optional<RelativeAttention>& relative = a_.relative)
            attention.relative =
                graph::RelativePositions{.rows = relative->rows,
                                         .table = attention_.alias(labels::rel_positions, *shared_.relative),
                                         .c2p = relative->c2p,
                                         .p2c = relative->p2c,
                                         .W_K = weight(attention_, W::W_KR),
                                         .b_K = weight(attention_, W::b_KR),
                                         .W_Q = weight(attention_, W::W_QR),
                                         .b_Q = weight(attention_, W::b_QR)};
        if (shared_.bias)
            attention.added = attention_.alias(labels::mask, *shared_.bias);
        if (const auto window = a_.windows[layer]) {
            attention.mask.before = a_.causal ? *window - 1 : *window; // a causal window counts the query
            attention.mask.after = *window;
        }
        attention.mask.chunk = a_.chunks[layer];
        if (a_.causal)
            attention.mask.after = 0;
    }

    graph::Mlp mlp_of() {
        return {.W_in = *weight(mlp_, W::W_in),
                .W_out = *weight(mlp_, W::W_out),
                .W_gate = weight(mlp_, W::W_gate),
                .b_in = weight(mlp_, W::b_in),
                .b_gate = weight(mlp_, W::b_gate),
                .b_out = weight(mlp_, W::b_out),
                .function = a_.activation,
                .sparse_gate = sparse_gate()};
    }

    std::optional<graph::GaussianTopK> sparse_gate() const {
        const std::optional<double> cutoff = a_.gate_cutoff(place_.layer);
        return cutoff ? std::optional(graph::GaussianTopK{.deviations = *cutoff}) : std::nullopt;
    }

    graph::Mixture mixture_of() {
        return {.W_router = *weight(mlp_, W::W_router),
                .b_router = weight(mlp_, W::b_router),
                .choice_bias = weight(mlp_, W::router_choice_bias),
                .W_gate = *weight(mlp_, W::expert_W_gate),
                .W_in = *weight(mlp_, W::expert_W_in),
                .b_gate = weight(mlp_, W::expert_b_gate),
                .b_in = weight(mlp_, W::expert_b_in),
                .W_out = *weight(mlp_, W::expert_W_out),
                .b_out = weight(mlp_, W::expert_b_out),
                .route = a_.route,
                .gate = a_.expert_gate,
                .experts = a_.expert_input};
    }

    LeafBuilder& leaves_;
    StackText text_;
    const Architecture& a_ = text_.architecture;
    const AttentionPlace place_;
    const SharedValues& shared_;
    const OptionalValue& encoder_;
    Builder attention_, mlp_;
};

} // namespace

Value add_layer(const Builder& root, LeafBuilder& leaves, const StackText& text, AttentionPlace place,
                const SharedValues& shared, const OptionalValue& encoder, const Value& stream) {
    return LayerBuilder(root, leaves, text, place, shared, encoder).add(stream);
}

std::vector<Value> add_layer(const Builder& root, LeafBuilder& leaves, const StackText& text,
                             AttentionPlace place, const SharedValues& shared,
                             const std::vector<Value>& copies) {
    const OptionalValue no_encoder;
    return LayerBuilder(root, leaves, text, place, shared, no_encoder).add(copies);
}

} // namespace headscope::checkpoint
