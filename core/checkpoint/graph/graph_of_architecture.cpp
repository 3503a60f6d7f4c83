// Longer than 500 lines: temporary, one conversion.
#include "core/checkpoint/graph/graph_of_architecture.h"

#include "core/base/in_order.h"
#include "core/checkpoint/model/model_edits.h"
#include "core/checkpoint/model/rope.h"
#include "core/checkpoint/model/stacks.h"
#include "core/graph/labels.h"
#include "core/graph/parts/attention.h"
#include "core/graph/parts/mlp.h"
#include "core/graph/parts/sizes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace headscope::checkpoint {

namespace {

namespace labels = graph::labels;
using graph::Builder;
using graph::Label;
using graph::OptionalValue;
using graph::Role;
using graph::Step;
using graph::Value;
using W = WeightId;
using A = Axis;

struct FunctionRow {
    Activation activation;
    graph::Function function;
};
constexpr std::array<FunctionRow, graph::function_count> functions{{
    {Activation::gelu, graph::Function::gelu},
    {Activation::gelu_tanh, graph::Function::gelu_tanh},
    {Activation::gelu_quick, graph::Function::gelu_quick},
    {Activation::relu, graph::Function::relu},
    {Activation::relu6, graph::Function::relu6},
    {Activation::relu_square, graph::Function::relu_square},
    {Activation::leaky_relu, graph::Function::leaky_relu},
    {Activation::silu, graph::Function::silu},
    {Activation::mish, graph::Function::mish},
    {Activation::tanh, graph::Function::tanh},
    {Activation::sigmoid, graph::Function::sigmoid},
    {Activation::linear, graph::Function::identity},
}};
static_assert(in_order(functions, &FunctionRow::activation));

graph::Function function_of(Activation activation) {
    return functions[static_cast<std::size_t>(activation)].function;
}

graph::Stack graph_stack(Stack stack) {
    switch (stack) {
    case Stack::own:
        return graph::Stack::own;
    case Stack::encoder:
        return graph::Stack::encoder;
    case Stack::cross:
        return graph::Stack::cross;
    }
    return graph::Stack::own;
}

/// The slopes of Press et al. 2022: a geometric sequence for a power of two of heads; the others have every
/// second number of the sequence for twice as many.
std::vector<float> alibi_slopes(std::int64_t H) {
    const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(H)));
    std::vector<float> slopes;
    for (std::int64_t h = 0; h < H; ++h) {
        const double step = (h < power ? 8.0 : 4.0) / static_cast<double>(power);
        const auto factor = static_cast<double>(h < power ? h + 1 : 2 * (h - power) + 1);
        slopes.push_back(static_cast<float>(std::exp2(-step * factor)));
    }
    return slopes;
}

/// Weights without a row in the stage table.
constexpr Label embedding_norm_weight{"embedding_norm_weight", untranslated("γ"), "γ", Step::position};
constexpr Label embedding_norm_bias{"embedding_norm_bias", untranslated("β"), "β", Step::position};
constexpr Label head_dense_weight{"head_dense_weight", untranslated("W"), "W", Step::logits};
constexpr Label head_dense_bias{"head_dense_bias", untranslated("b"), "b", Step::logits};
constexpr Label head_norm_weight{"head_norm_weight", untranslated("γ"), "γ", Step::logits};
constexpr Label head_norm_bias{"head_norm_bias", untranslated("β"), "β", Step::logits};
constexpr Label bucket_table{"bucket_table", untranslated("bucket_table"), "bucket_table", Step::masked};

Label label_of(WeightId weight) {
    switch (weight) {
    case W::embedding_norm_weight:
        return embedding_norm_weight;
    case W::embedding_norm_bias:
        return embedding_norm_bias;
    case W::head_dense:
        return head_dense_weight;
    case W::head_dense_bias:
        return head_dense_bias;
    case W::head_norm_weight:
        return head_norm_weight;
    case W::head_norm_bias:
        return head_norm_bias;
    case W::bucket_table:
        return bucket_table;
    default:
        break;
    }
    const TensorInfo& info = tensor_info(*tensor_of(weight));
    return {info.name, info.title, info.symbol, static_cast<Step>(info.group)};
}

/// The tensor of a file that holds a weight together with others, if files of the model have it so, and the
/// columns that it has there.
struct Packed {
    const TensorName* row = nullptr;
    std::optional<graph::Parameter::Columns> columns = {};
};

/// The columns of queries (part 0), keys (1) or values (2) among those of all three.
graph::Parameter::Columns qkv_columns(const Architecture& a, int part) {
    const std::int64_t blocks = a.qkv == QkvPacking::by_head ? a.Hkv : 1;
    const std::int64_t queries = a.H / blocks * a.dk, keys = a.Hkv / blocks * a.dk;
    return {.first = part == 0 ? 0 : queries + (part - 1) * keys,
            .count = part == 0 ? queries : keys,
            .blocks = blocks,
            .stride = queries + 2 * keys};
}

Packed packed_in(const std::vector<TensorName>& rows, const Architecture& a, WeightId weight) {
    if (const TensorName* row = find_row(rows, weight))
        return {row};
    const auto in = [&](WeightId whole, graph::Parameter::Columns columns) {
        const TensorName* row = find_row(rows, whole);
        return row == nullptr ? Packed() : Packed{row, columns};
    };
    switch (weight) {
    case W::W_Q:
        return in(W::W_QKV, qkv_columns(a, 0));
    case W::W_K:
        return in(W::W_QKV, qkv_columns(a, 1));
    case W::W_V:
        return in(W::W_QKV, qkv_columns(a, 2));
    case W::b_Q:
        return in(W::b_QKV, qkv_columns(a, 0));
    case W::b_K:
        return in(W::b_QKV, qkv_columns(a, 1));
    case W::b_V:
        return in(W::b_QKV, qkv_columns(a, 2));
    case W::mlp_gate:
        return in(W::mlp_gate_in, {.first = 0, .count = a.d_ff});
    case W::mlp_in:
        return in(W::mlp_gate_in, {.first = a.d_ff, .count = a.d_ff});
    case W::experts_gate:
        return in(W::experts_gate_in, {.first = 0, .count = 1, .blocks = a.d_ff, .stride = 2});
    case W::experts_in:
        return in(W::experts_gate_in, {.first = 1, .count = 1, .blocks = a.d_ff, .stride = 2});
    case W::experts_gate_bias:
        return in(W::experts_gate_in_bias, {.first = 0, .count = 1, .blocks = a.d_ff, .stride = 2});
    case W::experts_in_bias:
        return in(W::experts_gate_in_bias, {.first = 1, .count = 1, .blocks = a.d_ff, .stride = 2});
    default:
        return {};
    }
}

graph::Parameter::Layout layout_of(Layout layout) {
    switch (layout) {
    case Layout::linear:
        return graph::Parameter::Layout::transposed;
    case Layout::row:
        return graph::Parameter::Layout::row;
    case Layout::vector:
    case Layout::table:
    case Layout::conv1d:
    case Layout::experts:
    case Layout::expert_vectors:
        return graph::Parameter::Layout::as_used;
    }
    return graph::Parameter::Layout::as_used;
}

/// The axes of a weight in our layout.
graph::Axes weight_axes(WeightId weight, const Dims& dims, const Architecture& a) {
    switch (weight) {
    case W::embedding_norm_weight:
    case W::embedding_norm_bias:
    case W::head_dense_bias:
    case W::head_norm_weight:
    case W::head_norm_bias:
        return graph::axes_of({A::D}, dims);
    case W::head_dense:
        return graph::axes_of({A::D, A::D}, dims);
    case W::bucket_table:
        return {{"buckets", a.buckets->count}, {"H", a.H}};
    default:
        break;
    }
    const TensorInfo& info = tensor_info(*tensor_of(weight));
    std::vector<graph::Axis> axes;
    for (int axis = 0; axis < info.rank(); ++axis)
        axes.push_back(graph::axis_of(info.axes[static_cast<std::size_t>(axis)], dims));
    return graph::Axes(std::move(axes));
}

/// One batch of texts that a stack reads.
struct Text {
    const Architecture& a;
    const ModelInputs& inputs;
    Dims dims;
};

Text text_of(const Architecture& a, const ModelInputs& inputs) {
    return {a,
            inputs,
            {.B = inputs.B,
             .Tq = inputs.T,
             .Tk = inputs.T,
             .D = a.D,
             .Dkv = a.D,
             .H = a.H,
             .Hkv = a.Hkv,
             .dk = a.dk,
             .dv = a.dk,
             .d_ff = a.d_ff,
             .vocab = a.vocab,
             .positions = a.position_rows,
             .token_types = a.token_types,
             .experts = a.experts}};
}

class Converter {
public:
    Converter(const Architecture& architecture, const ModelInputs& inputs, bool head)
        : whole_(architecture), inputs_(inputs), head_(head) {}

    ModelGraph convert();

private:
    /// What the layers of a stack share.
    struct Shared {
        std::vector<graph::Rotary> rotary; ///< for each of Architecture::ropes
        OptionalValue bias;                ///< added to the scaled scores
        OptionalValue key_valid;           ///< if the batch has padding
    };

    /// A weight, if the model has it; `rows`: its names in files.
    OptionalValue weight(Builder& g, const Text& text, const std::vector<TensorName>& rows, WeightId id,
                         WeightPlace place, std::int64_t layer);
    Value input(Builder& g, const Label& label, graph::Axes axes, std::vector<float> numbers,
                graph::Input::Kind kind);
    Value norm(Builder& g, const Label& label, const Text& text, const Value& x, const OptionalValue& weight,
               const OptionalValue& bias) const;
    Value embed(Builder& g, const Text& text, bool encoder);
    Shared shared(Builder& g, const Text& text, bool encoder);
    Value layer(const Text& text, AttentionPlace place, const Value& stream, const Shared& shared,
                const OptionalValue& source, const OptionalValue& source_valid);
    Value stack(const Text& text, Stack stack, const OptionalValue& source, const OptionalValue& source_valid,
                OptionalValue& key_valid);
    void head(const Text& text, const Value& hidden);

    std::string prefix(Stack stack) const { return stack_prefix(whole_, stack); }

    const Architecture& whole_;
    const ModelInputs& inputs_;
    const bool head_;
    Builder root_;
    ModelGraph out_{.graph = Builder().finish(), .inputs = {}, .weights = {}};
    OptionalValue word_table_;
};

OptionalValue Converter::weight(Builder& g, const Text& text, const std::vector<TensorName>& rows,
                                WeightId id, WeightPlace place, std::int64_t layer) {
    const Packed packed = packed_in(rows, text.a, id);
    if (packed.row == nullptr || !is_needed(*packed.row, text.a) || !is_in_layer(*packed.row, text.a, layer))
        return std::nullopt;
    const bool of_head = &rows == &text.a.names.head;
    graph::Parameter source{.tensor =
                                full_name(*packed.row, of_head ? "" : text.a.names.prefixes.front(), layer),
                            .layout = layout_of(packed.row->layout),
                            .columns = packed.columns};
    place.id = id;
    const Value value = g.parameter(label_of(id), weight_axes(id, text.dims, text.a), std::move(source));
    out_.weights.emplace(g.full_name(label_of(id).name), place);
    return value;
}

Value Converter::input(Builder& g, const Label& label, graph::Axes axes, std::vector<float> numbers,
                       graph::Input::Kind kind) {
    out_.inputs.emplace(g.full_name(label.name), make_tensor(axes.shape(), numbers));
    return g.input(label, std::move(axes), kind);
}

Value Converter::norm(Builder& g, const Label& label, const Text& text, const Value& x,
                      const OptionalValue& weight, const OptionalValue& bias) const {
    if (text.a.norm == NormKind::layer)
        return g.layer_norm(label, x, weight, bias, text.a.norm_eps);
    return g.rms_norm(label, x, weight, text.a.norm_eps);
}

Value Converter::embed(Builder& g, const Text& text, bool encoder) {
    using Kind = graph::Input::Kind;
    const Architecture& a = text.a;
    const ModelInputs& inputs = text.inputs;
    const graph::Axes tokens = graph::axes_of({A::B, A::Tq}, text.dims);
    const auto around = [&](WeightId id) {
        return weight(g, text, a.names.body, id, {.encoder = encoder}, 0);
    };
    const auto as_floats = [](const std::vector<std::int64_t>& whole) {
        return std::vector<float>(whole.begin(), whole.end());
    };
    const Value ids = input(g, labels::ids, tokens, as_floats(inputs.ids), Kind::ids);
    if (OptionalValue table = around(W::word_table))
        word_table_ = table;
    else // a decoder without a table reads with its encoder's
        word_table_ = g.alias(label_of(W::word_table), *word_table_);
    const double factor = static_cast<double>(static_cast<float>(a.embedding_scale));
    const bool has_types = a.token_types > 0 || (a.word_token_types && !inputs.token_types.empty());
    Value x = g.embedding(has_types ? labels::word_embedding : labels::embedding, ids, *word_table_, factor);
    if (has_types) {
        std::vector<float> types = as_floats(inputs.token_types);
        types.resize(inputs.ids.size());
        const Value type_ids = input(g, labels::type_ids, tokens, types, Kind::ids);
        const Value table = a.token_types > 0 ? *around(W::token_type_table) : *word_table_;
        x = g.add(labels::embedding, {x, g.embedding(labels::type_embedding, type_ids, table)});
    }
    g.with_role(x, Role::adds);
    if (a.position_rows > 0) {
        OptionalValue table = around(W::position_table);
        if (!table) { // sinusoids, which Model computes
            table = g.parameter(label_of(W::position_table), weight_axes(W::position_table, text.dims, a));
            out_.weights.emplace(g.full_name(label_of(W::position_table).name),
                                 WeightPlace{.encoder = encoder, .id = W::position_table});
        }
        const Value rows =
            input(g, labels::positions, tokens, as_floats(learned_positions(inputs, a)), Kind::ids);
        const Value position = g.with_role(g.embedding(labels::position, rows, *table), Role::adds);
        x = g.add(labels::embedding_sum, {x, position});
    }
    if (a.embedding_norm)
        x = norm(g, labels::embedding_norm, text, x, around(W::embedding_norm_weight),
                 around(W::embedding_norm_bias));
    return x;
}

Converter::Shared Converter::shared(Builder& g, const Text& text, bool encoder) {
    const Architecture& a = text.a;
    const ModelInputs& inputs = text.inputs;
    Shared shared;
    const graph::Axes keys = graph::axes_of({A::B, A::Tk}, text.dims);
    for (std::size_t r = 0; r < a.ropes.size(); ++r) {
        const headscope::Rotary tables = rotary_tables(a, a.ropes[r], inputs.T);
        const graph::Axes axes{{"B", 1}, {"Tq", inputs.T}, {"dk", a.dk}};
        const auto table = [&](const Label& label, const TensorPtr& numbers) {
            const std::string name = a.ropes.size() == 1 ? std::string(label.name)
                                                         : std::string(label.name) + "." + std::to_string(r);
            return g.constant({name, label.title, label.symbol, label.step}, axes, numbers);
        };
        const Value cos = table(labels::rotary_cos, tables.cos), sin = table(labels::rotary_sin, tables.sin);
        shared.rotary.push_back({.cos = cos, .sin = sin});
    }
    const bool padded = std::ranges::find(inputs.attention_mask, 0) != inputs.attention_mask.end();
    if (padded)
        shared.key_valid =
            input(g, labels::key_valid, keys,
                  std::vector<float>(inputs.attention_mask.begin(), inputs.attention_mask.end()),
                  graph::Input::Kind::flags);
    if (a.alibi != Alibi::none) {
        std::vector<float> places;
        for (std::int64_t b = 0; b < inputs.B; ++b) {
            float place = 0;
            for (std::int64_t j = 0; j < inputs.T; ++j) {
                const bool real =
                    !padded || inputs.attention_mask[static_cast<std::size_t>(b * inputs.T + j)] != 0;
                places.push_back(real ? place++ : 0.0F);
            }
        }
        const bool before_scale = a.alibi == Alibi::before_scale_bfloat16;
        graph::Alibi attributes{.slopes = alibi_slopes(a.H), .bfloat16 = before_scale};
        if (before_scale)
            attributes.divisor = std::sqrt(static_cast<double>(a.dk));
        shared.bias = g.make(labels::alibi, graph::Op::alibi, std::move(attributes),
                             {input(g, labels::key_places, keys, places, graph::Input::Kind::numbers)});
    } else if (a.buckets) {
        const Value table = *weight(g, text, a.names.body, W::bucket_table, {.encoder = encoder}, 0);
        shared.bias = g.make(labels::distance_bias, graph::Op::distance_bias,
                             graph::DistanceBias{.queries = inputs.T,
                                                 .keys = inputs.T,
                                                 .furthest = a.buckets->furthest,
                                                 .both_sides = a.buckets->both_sides},
                             {table});
    }
    return shared;
}

Value Converter::layer(const Text& text, AttentionPlace place, const Value& stream, const Shared& shared,
                       const OptionalValue& source, const OptionalValue& source_valid) {
    const Architecture& a = text.a;
    const bool cross = place.stack == Stack::cross;
    const std::int64_t l = place.layer, number = attention_number(whole_, place);
    const std::vector<TensorName>& rows = cross ? a.names.cross : a.names.body;
    Builder g = root_.layer(graph_stack(place.stack), l, prefix(place.stack));
    // The MLP after a cross-attention is named by the decoder's layer.
    Builder mlp_g = cross ? root_.layer(graph::Stack::own, l, prefix(Stack::own)) : g;
    Text own = text;
    if (cross) {
        own.dims.Tk = source->axes().size(1);
        own.dims.Dkv = source->axes().size(2);
    }
    const auto of_attention = [&](WeightId id) { return weight(g, own, rows, id, {.attention = number}, l); };
    const auto of_mlp = [&](WeightId id) { return weight(mlp_g, own, rows, id, {.attention = number}, l); };

    const Value x = g.with_role(g.alias(labels::resid_in, stream), Role::stream);
    const bool first_norm = a.norms.before && (a.norms.first || l > 0);
    const bool after_sum = a.residual == Residual::serial && a.norms.after_sum;
    OptionalValue norm1_weight = of_attention(W::norm1_weight), norm1_bias = of_attention(W::norm1_bias);
    Value inside = x;
    if (first_norm)
        inside = g.with_role(norm(g, labels::norm1, own, x, norm1_weight, norm1_bias), Role::reads);
    inside = g.alias(labels::x, inside);

    graph::Attention attention{.dims = own.dims,
                               .x = inside,
                               .W_Q = *of_attention(W::W_Q),
                               .W_K = *of_attention(W::W_K),
                               .W_V = *of_attention(W::W_V),
                               .W_O = *of_attention(W::W_O),
                               .b_Q = of_attention(W::b_Q),
                               .b_K = of_attention(W::b_K),
                               .b_V = of_attention(W::b_V),
                               .b_O = of_attention(W::b_O)};
    attention.qkv_limit = static_cast<double>(static_cast<float>(a.qkv_limit));
    attention.norm = {.eps = static_cast<double>(static_cast<float>(a.norm_eps)),
                      .centered = a.qk_norm == QkNorm::per_head_layer};
    attention.joint_norm = a.qk_norm == QkNorm::whole_width;
    attention.q_norm = of_attention(attention.joint_norm ? W::q_norm_all : W::q_norm);
    attention.k_norm = of_attention(attention.joint_norm ? W::k_norm_all : W::k_norm);
    attention.score_cap = static_cast<double>(static_cast<float>(a.score_cap));
    if (const auto temperature = static_cast<float>(a.temperature(l)); temperature != 1.0F)
        attention.temperature =
            g.constant(labels::temperature, {}, make_tensor({}, std::vector{temperature}));
    if (cross) {
        attention.x_kv = g.alias(labels::x_kv, *source);
        attention.allowed = source_valid;
    } else {
        if (const auto rope = a.layer_rope[static_cast<std::size_t>(l)]) {
            const graph::Rotary& tables = shared.rotary[*rope];
            attention.rotary = graph::Rotary{.cos = g.alias(labels::rotary_cos, tables.cos),
                                             .sin = g.alias(labels::rotary_sin, tables.sin)};
        }
        const auto& window = a.windows[static_cast<std::size_t>(l)];
        if (window)
            attention.mask.before = a.causal ? *window - 1 : *window;
        if (a.causal)
            attention.mask.after = 0;
        else if (window)
            attention.mask.after = *window;
        attention.added = shared.bias;
        attention.allowed = shared.key_valid;
    }
    attention.sink = of_attention(W::sink);
    attention.gain = g.constant(labels::gain, graph::axes_of({A::H}, own.dims),
                                make_tensor({a.H}, std::vector<float>(static_cast<std::size_t>(a.H), 1.0F)));
    const Value raw = graph::attention(g, attention);

    const auto branch = [&](Builder& at, const Value& made, const Label& out, WeightId after) {
        return at.with_role(
            norm(at, out, own, made, weight(at, own, rows, after, {.attention = number}, l), {}), Role::adds);
    };
    const Value attended = a.norms.after_branch ? branch(g, g.alias(labels::attn_raw, raw), labels::attn_out,
                                                         W::norm1_after_weight)
                                                : g.with_role(g.alias(labels::attn_out, raw), Role::adds);
    const auto second_norm = [&](const Value& in) {
        return norm(mlp_g, labels::norm2, own, in, of_mlp(W::norm2_weight), of_mlp(W::norm2_bias));
    };
    const auto mlp_of = [&](const Value& in) {
        const Label& out = a.norms.after_branch ? labels::mlp_raw : labels::mlp_out;
        Value made = in;
        if (a.experts > 0) {
            made = graph::mixture(
                mlp_g, out, in,
                {.W_router = *of_mlp(W::router),
                 .b_router = of_mlp(W::router_bias),
                 .W_gate = *of_mlp(W::experts_gate),
                 .W_in = *of_mlp(W::experts_in),
                 .b_gate = of_mlp(W::experts_gate_bias),
                 .b_in = of_mlp(W::experts_in_bias),
                 .W_out = *of_mlp(W::experts_out),
                 .b_out = of_mlp(W::experts_out_bias),
                 .route = {.used = a.experts_used},
                 .gate = {.function = graph::Function::gelu_quick, .limit = a.expert_limit, .offset = 1}});
        } else {
            made = graph::mlp(mlp_g, out, in,
                              {.W_in = *of_mlp(W::mlp_in),
                               .W_out = *of_mlp(W::mlp_out),
                               .W_gate = of_mlp(W::mlp_gate),
                               .b_in = of_mlp(W::mlp_in_bias),
                               .b_gate = of_mlp(W::mlp_gate_bias),
                               .b_out = of_mlp(W::mlp_out_bias),
                               .function = function_of(a.activation)});
        }
        return a.norms.after_branch ? branch(mlp_g, made, labels::mlp_out, W::norm2_after_weight)
                                    : mlp_g.with_role(made, Role::adds);
    };
    const auto is_stream = [](Builder& at, const Value& sum) { return at.with_role(sum, Role::stream); };

    if (a.residual != Residual::serial) {
        const bool one_norm = a.residual == Residual::parallel_one_norm;
        Value mlp_in = x;
        if (one_norm && first_norm)
            mlp_in = inside.as(labels::norm1);
        else if (!one_norm && a.norms.before)
            mlp_in = mlp_g.with_role(second_norm(x), Role::reads);
        return is_stream(g, g.add(labels::resid_out, {x, attended, mlp_of(mlp_in)}));
    }
    Value middle = is_stream(g, g.add(labels::resid_mid, {x, attended}));
    if (after_sum)
        middle = is_stream(g, norm(g, labels::norm1, own, middle, norm1_weight, norm1_bias));
    if (a.encoder != nullptr && place.stack == Stack::own)
        return middle; // the cross-attention comes before the MLP
    const Value mlp_in = a.norms.before ? mlp_g.with_role(second_norm(middle), Role::reads) : middle;
    const Value sum = is_stream(mlp_g, mlp_g.add(labels::resid_out, {middle, mlp_of(mlp_in)}));
    return after_sum ? is_stream(mlp_g, second_norm(sum)) : sum;
}

Value Converter::stack(const Text& text, Stack kind, const OptionalValue& source,
                       const OptionalValue& source_valid, OptionalValue& key_valid) {
    const Architecture& a = text.a;
    const bool encoder = kind == Stack::encoder;
    Builder g = root_.around(graph_stack(kind), prefix(kind));
    Value x = embed(g, text, encoder);
    const Shared of_layers = shared(g, text, encoder);
    key_valid = of_layers.key_valid;
    const auto name_hidden = [&](std::int64_t l, const Value& hidden) {
        const std::string name = "hidden." + std::to_string(l);
        g.alias({name, untranslated(""), "hidden", Step::resid_in}, hidden);
    };
    for (std::int64_t l = 0; l < a.layers; ++l) {
        name_hidden(l, x);
        x = layer(text, {kind, l}, x, of_layers, {}, {});
        if (source)
            x = layer(text, {Stack::cross, l}, x, of_layers, source, source_valid);
    }
    Value last = x;
    if (a.final_norm) {
        const auto around = [&](WeightId id) {
            return weight(g, text, a.names.body, id, {.encoder = encoder}, 0);
        };
        last = g.with_role(
            norm(g, labels::final_norm, text, x, around(W::final_norm_weight), around(W::final_norm_bias)),
            Role::reads);
    }
    name_hidden(a.layers, a.final_norm_in_head ? x : last);
    return last;
}

void Converter::head(const Text& text, const Value& hidden) {
    const Architecture& a = text.a;
    Builder g = root_.around(graph::Stack::own);
    const auto of_head = [&](WeightId id) { return weight(g, text, a.names.head, id, {}, 0); };
    Value x = hidden;
    if (a.head_scale != 1.0)
        x = g.scale(labels::head_scaled, x,
                    {.factor = static_cast<double>(static_cast<float>(a.head_scale))});
    if (const OptionalValue dense = of_head(W::head_dense)) {
        x = g.linear(labels::head_dense, x, *dense, of_head(W::head_dense_bias));
        x = g.activation(labels::head_act, x, function_of(a.head_activation));
        x = norm(g, labels::head_norm, text, x, of_head(W::head_norm_weight), of_head(W::head_norm_bias));
    }
    OptionalValue table = of_head(W::output_table);
    if (!table)
        table = g.alias(label_of(W::output_table), *word_table_);
    const bool capped = a.logit_cap != 0.0;
    Value logits = g.linear(capped ? labels::logits_raw : labels::logits, x, *table, of_head(W::output_bias),
                            {.transposed = true});
    if (capped)
        logits =
            g.scale(labels::logits, logits, {.cap = static_cast<double>(static_cast<float>(a.logit_cap))});
    g.softmax(labels::probabilities, logits);
}

ModelGraph Converter::convert() {
    check_inputs(inputs_, whole_);
    const Text own = text_of(whole_, inputs_);
    OptionalValue source, source_valid, key_valid;
    if (whole_.encoder != nullptr)
        source =
            stack(text_of(*whole_.encoder, inputs_.source.front()), Stack::encoder, {}, {}, source_valid);
    const Value hidden = stack(own, Stack::own, source, source_valid, key_valid);
    if (head_)
        head(own, hidden);
    out_.graph = root_.finish();
    return std::move(out_);
}

} // namespace

ModelGraph graph_of(const Architecture& architecture, const ModelInputs& inputs, bool head) {
    return Converter(architecture, inputs, head).convert();
}

graph::LeafSource ModelGraph::leaves(const Model& model) const {
    return [this, &model](const graph::Node& node) -> TensorPtr {
        if (const auto given = inputs.find(node.name); given != inputs.end())
            return given->second;
        const auto found = weights.find(node.name);
        if (found == weights.end())
            return nullptr;
        const WeightPlace& place = found->second;
        TensorPtr numbers = place.attention >= 0 ? model.layer(place.attention)[place.id]
                            : place.encoder      ? model.encoder()->weight(place.id)
                                                 : model.weight(place.id);
        return numbers != nullptr ? numbers : std::make_shared<const Tensor>(node.axes.shape(), 0.0F);
    };
}

} // namespace headscope::checkpoint
