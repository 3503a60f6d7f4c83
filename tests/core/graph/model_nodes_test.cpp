#include "core/attention/graph_of_problem.h"
#include "core/checkpoint/families/families.h"
#include "core/checkpoint/graph/model_stages.h"
#include "core/checkpoint/graph/stack_text.h"
#include "core/checkpoint/graph/weight_source.h"
#include "core/checkpoint/model/rope.h"
#include "core/graph/ops/mlp/functions.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/core/graph/copies_formulas.h"
#include "tests/support.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
using Catch::Contains;

namespace {

struct GraphOfModel {
    Model model;
    ModelInputs inputs;
    ModelGraph built;

    explicit GraphOfModel(const std::string& name)
        : model(Model::open(test_data("/models/") + name)), inputs(first_text(name)),
          built(graph_of(model.architecture(), inputs, model.has_head())) {}
    const Architecture& architecture() const { return model.architecture(); }
    const graph::Graph& graph() const { return built.graph; }
    std::string prefix(AttentionPlace place) const {
        return stack_prefix(architecture(), place.stack) +
               (place.layer < 0 ? "" : "layers." + std::to_string(place.layer) + ".");
    }
    /// The name of a node for a stage around attention.
    std::string name(AttentionPlace place, TensorId id) const { return model.stages().name(place, id); }
};

/// " · W + b", with the parameters that the graph has in this layer.
std::string weighted(const GraphOfModel& one, const std::string& prefix, std::optional<TensorId> weight,
                     std::optional<TensorId> bias) {
    std::string text;
    for (const auto& [sign, id] : {std::pair(" · ", weight), std::pair(" + ", bias)})
        if (id && one.graph().try_find(prefix + std::string(label_of(*id).name)))
            text += sign + std::string(label_of(*id).name);
    return text;
}

/// The formula of a stage around attention, from its sources.
std::string block_formula(const GraphOfModel& one, AttentionPlace place, TensorId id) {
    using enum TensorId;
    const Architecture& a = in_stack(one.architecture(), place.stack);
    if (std::string of_copies = a.copies ? formula_of_copies(a, place, id) : ""; !of_copies.empty())
        return of_copies;
    const std::string out(tensor_info(id).name);
    const ModelStages& stages = one.model.stages();
    const std::string prefix = one.prefix(stages.named_place(place, id));
    std::vector<std::string> from;
    for (const TensorId input : stages.sources(place, id))
        from.emplace_back(tensor_info(input).name);
    if (const auto norm = stages.norm(place, id)) {
        // The norm of the residual stream after a sum has the weights of norm1 or norm2 in the same layer.
        const std::string scaled = weighted(one, prefix, norm->weight, norm->bias);
        return is_layer_norm(a.norm) ? out + " = (" + from[0] + " − mean) ÷ √(variance + ε)" + scaled
                                     : out + " = " + from[0] + " ÷ √(mean of its squares + ε)" + scaled;
    }
    if (stages.branch_scale(place, id)) {
        std::ostringstream factor;
        factor << a.branch_scale;
        return out + " = " + from[0] + " · " + factor.str();
    }
    const std::string function(graph::ops::function_name(a.activation));
    switch (id) {
    case delta_q:
    case delta_k:
        return out + " = [" + out + "_heads[0], " + out + "_heads[1], …]";
    case delta_v:
        return "delta.v = silu(delta.v_conv)";
    case delta_decay:
        return "delta.decay = exp(−exp(delta.A_log) · softplus(delta.a))";
    case delta_beta:
        return "delta.beta = sigmoid(delta.b)";
    case delta_y:
        return "delta.y[i] = delta.q[i] · S[i] ÷ √dk,  S[i] = delta.decay[i] · S[i−1] + delta.k[i]ᵀ · "
               "delta.beta[i] · (delta.v[i] − delta.k[i] · delta.decay[i] · S[i−1])";
    case delta_z:
        return "delta.z = norm1 · delta.W_z";
    case delta_out:
        return "delta.out = delta.y_gated · delta.W_out";
    case resid_mid:
    case resid_out: {
        std::string sum = out + " = " + from[0];
        for (std::size_t term = 1; term < from.size(); ++term)
            sum += " + " + from[term];
        return sum;
    }
    case mlp_pre:
        return out + " = " + from[0] + weighted(one, prefix, TensorId::W_in, TensorId::b_in);
    case mlp_gate:
        return out + " = " + from[0] + weighted(one, prefix, TensorId::W_gate, TensorId::b_gate);
    case mlp_act:
        return out + " = " + function + "(" + from[0] + ")" + (from.size() == 1 ? "" : " × " + from[1]);
    case mlp_shared:
        if (find_row(a.names.body, TensorId::shared_gate) != nullptr)
            return out + " = shared_raw × shared_fraction";
        return out + " = " + from[0] + weighted(one, prefix, TensorId::W_out, TensorId::b_out);
    case mlp_experts:
    case mlp_raw:
    case mlp_out:
        if (stages.is_sum_of_experts(place, id) && a.expert_input.scaled_input)
            return out + " = sum of expert_act[e] · expert_W_out[e] over the chosen experts e";
        if (stages.is_sum_of_experts(place, id))
            return out + (find_row(a.names.body, TensorId::expert_b_out) == nullptr
                              ? " = Σ_e routing[e] · expert_act[e] · expert_W_out[e]"
                              : " = Σ_e routing[e] · (expert_act[e] · expert_W_out[e] + expert_b_out[e])");
        if (from.size() > 1)
            return out + " = " + from[0] + " + " + from[1];
        return out + " = " + from[0] + weighted(one, prefix, TensorId::W_out, TensorId::b_out);
    case logits: {
        const std::string read = one.graph().try_find("head_norm")     ? "head_norm"
                                 : one.graph().try_find("head_scaled") ? "head_scaled"
                                 : a.final_norm                        ? "final_norm"
                                 : a.norms.after_sum                   ? "norm2"
                                                                       : "resid_out";
        if (a.logit_cap > 0)
            return out + " = c · tanh(logits_raw ÷ c)";
        return out + " = " + read + weighted(one, "", TensorId::W_U, TensorId::b_U);
    }
    case probabilities:
        return out + " = softmax(logits)";
    default:
        return {};
    }
}

/// Returns false for stages that are other names of a node, or whose formula is made of words.
bool has_formula(const Architecture& a, TensorId id) {
    const bool renamed = id == TensorId::resid_in || id == TensorId::attn_raw ||
                         (id == TensorId::attn_out && !a.changes_branches());
    return !renamed && id != TensorId::embedding && id != TensorId::position && id != TensorId::routing;
}

void check_words(const GraphOfModel& one, const std::string& name, TensorId id) {
    const graph::NodeId node_id = one.graph().find(name);
    const graph::Node& node = one.graph().node(node_id);
    const TensorInfo& info = tensor_info(id);
    CHECK(node.name == name);
    CHECK(node.title == info.title);
    CHECK(node.symbol == info.symbol);
    CHECK(static_cast<int>(node.location.step) == static_cast<int>(info.group));
    CHECK(node.axes.names() == axis_names(std::span(info.axes).first(static_cast<std::size_t>(info.rank())),
                                          {.Dq = one.architecture().Dq()}));
}

/// The matrices of the last two axes, transposed.
TensorPtr transposed(const Tensor& x) {
    if (x.shape().rank() == 3) {
        auto all = std::make_shared<Tensor>(Shape{x.shape()[0], x.shape()[2], x.shape()[1]});
        for (std::int64_t e = 0; e < x.shape()[0]; ++e)
            for (std::int64_t i = 0; i < x.shape()[1]; ++i)
                for (std::int64_t j = 0; j < x.shape()[2]; ++j)
                    all->at(e, j, i) = x.at(e, i, j);
        return all;
    }
    auto out = std::make_shared<Tensor>(Shape{x.shape()[1], x.shape()[0]});
    for (std::int64_t i = 0; i < x.shape()[0]; ++i)
        for (std::int64_t j = 0; j < x.shape()[1]; ++j)
            out->at(j, i) = x.at(i, j);
    return out;
}

/// The numbers of a parameter, from the tensor of the file as its attributes say.
std::vector<float> numbers_of(const graph::Parameter& source, TensorPtr file) {
    if (file->shape().rank() == 3 && file->shape()[1] == 1) // the weights of a convolution for each column
        file = make_tensor({file->shape()[0], file->shape()[2]}, file->values());
    if (source.layout == graph::Parameter::Layout::transposed)
        file = transposed(*file);
    const std::int64_t width = file->shape().back(0);
    const auto columns = source.columns.value_or(graph::Parameter::Columns{.first = 0, .count = width});
    std::vector<float> numbers;
    for (std::int64_t row = 0; row < file->count(); row += width)
        for (std::int64_t block = 0; block < columns.blocks; ++block)
            for (std::int64_t c = 0; c < columns.count; ++c)
                numbers.push_back(file->data()[row + columns.first + block * columns.stride + c] +
                                  static_cast<float>(source.offset));
    return numbers;
}

/// Brings the numbers of each head into the order in which attention rotates them.
void reorder_heads(std::vector<float>& numbers, const std::vector<std::int64_t>& order) {
    const std::vector<float> in_file = numbers;
    const std::size_t dk = order.size();
    for (std::size_t at = 0; at < numbers.size(); ++at)
        numbers[at] = in_file[at / dk * dk + static_cast<std::size_t>(order[at % dk])];
}

bool is_rotated(TensorId weight) {
    using enum TensorId;
    constexpr std::array rotated{W_Q, W_K, b_Q, b_K, q_norm, k_norm, q_norm_all, k_norm_all};
    return std::ranges::find(rotated, weight) != rotated.end();
}

/// The name under which a file of the model has the tensor.
std::string name_in_file(const Model& model, const std::string& usual, TensorId weight) {
    if (model.files().find(usual) != nullptr)
        return usual;
    for (const Model* stack : {model.encoder(), &model})
        if (stack != nullptr)
            for (const auto& [id, twin] : stack->architecture().names.twins)
                if (id == weight && model.files().find(twin) != nullptr)
                    return twin;
    return "";
}

/// The numbers of a parameter that has a tensor for each expert, whose names are added to `read`.
std::vector<float> numbers_of_experts(const graph::Parameter& source, const Model& model,
                                      std::set<std::string>& read) {
    std::vector<float> numbers;
    for (std::int64_t expert = 0; expert < model.architecture().experts; ++expert) {
        std::string name = source.tensor;
        name.replace(name.find("{e}"), 3, std::to_string(expert));
        const std::vector<float> own = numbers_of(source, model.files().tensor(name));
        numbers.insert(numbers.end(), own.begin(), own.end());
        read.insert(name);
    }
    return numbers;
}

/// Returns true for keys and values of a layer that has those of an earlier layer.
bool is_replaced_by_shared_keys(const Architecture& a, const std::string& name) {
    return !a.key_layers.empty() && std::ranges::any_of(a.names.not_needed, [&](const std::string& part) {
        return name.find(part) != std::string::npos;
    });
}

std::set<std::string> set_of(const std::vector<std::string>& names) {
    return {names.begin(), names.end()};
}

ModelInputs short_text(const Architecture& model) {
    ModelInputs inputs;
    inputs.T = 3;
    inputs.ids = {1, 2, 3};
    if (model.encoder != nullptr)
        inputs.source = {inputs};
    return inputs;
}

/// Columns of zeros after those of each head of W_K, for the numbers that turn.
std::vector<float> with_turning_columns(const Architecture& a, const std::vector<float>& numbers) {
    const auto still = static_cast<std::ptrdiff_t>(a.dk - a.rotary_width);
    std::vector<float> all;
    for (auto at = numbers.begin(); at != numbers.end(); at += still) {
        all.insert(all.end(), at, at + still);
        all.insert(all.end(), static_cast<std::size_t>(a.rotary_width), 0.0F);
    }
    return all;
}

std::set<std::string> tensors_of_parameters(const graph::Graph& graph) {
    std::set<std::string> names;
    for (const graph::Node& node : graph.nodes())
        if (node.op == graph::Op::parameter)
            names.insert(std::get<graph::Parameter>(node.attributes).tensor);
    names.erase(""); // sinusoids
    return names;
}

} // namespace

TEST_CASE(
    "each stage of each attention of a model is a node with the table's words and its problem's formula",
    "[graph]") {
    for (const std::string& name : all_model_names()) {
        const GraphOfModel one(name);
        const graph::Graph& graph = one.graph();
        const ForwardResult run =
            run_on_cpu(one.model, one.inputs, {.stages = StageSet::all(), .keep_problems = true});
        for (const LayerRun& layer : run.layers)
            for (const AttentionGraph of_problem = attention_graph(*layer.problem);
                 const TensorInfo& info : stages_of(layer.trace.parts)) {
                const std::string node = one.prefix(layer.place) + std::string(info.name);
                INFO(name << " " << node);
                const graph::NodeId id = graph.find(node);
                CHECK(graph.node(id).axes.shape() == info.shape(layer.problem->dims));
                if (info.id == TensorId::x) // another name for what the attention reads
                    continue;
                check_words(one, node, info.id);
                CHECK(graph.node(id).location.layer == layer.place.layer);
                CHECK(static_cast<int>(graph.node(id).location.stack) == static_cast<int>(layer.place.stack));
                CHECK(static_cast<int>(graph.operation(id).page(graph.node(id).location.step)) ==
                      static_cast<int>(group_info(info.group).page));
                if (info.id != TensorId::gate) // between it and the input are the columns of all heads
                    CHECK(graph.formula(id) == of_problem.formula(info.id));
            }
    }
}

TEST_CASE("each stage around an attention is a node with the words and the inputs of the block table",
          "[graph]") {
    for (const std::string& name : all_model_names()) {
        const GraphOfModel one(name);
        const graph::Graph& graph = one.graph();
        const Architecture& model = one.architecture();
        const ModelStages& stages = one.model.stages();
        const auto check = [&](AttentionPlace place, TensorId id) {
            const std::string node = one.name(place, id);
            INFO(name << " " << node);
            const Architecture& a = in_stack(model, place.stack);
            const auto found = graph.try_find(node);
            REQUIRE(found);
            if (!has_formula(a, id) && id != TensorId::embedding && id != TensorId::position &&
                id != TensorId::routing)
                return;
            check_words(one, node, id);
            CHECK(graph.node(*found).location.layer == place.layer);
            if (has_formula(a, id))
                CHECK(graph.formula(*found) == block_formula(one, place, id));
        };
        for (std::int64_t n = 0; n < attention_count(model); ++n) {
            const AttentionPlace place = attention_place(model, n);
            for (const TensorId id : stages.in_layer(place))
                check(place, id);
            // The residual stream that enters is the last stage of the attention before it.
            if (place.layer > 0 || place.stack == Stack::cross) {
                const AttentionPlace before = attention_place(model, n - 1);
                CHECK(graph.find(one.name(place, TensorId::resid_in)) ==
                      graph.find(one.name(before, stages.in_layer(before).back())));
            }
            const std::string attended =
                one.prefix(place) + (has_attention(model, place) ? "output" : "delta.out");
            CHECK(graph.find(one.name(place, stages.attention_output(place))) == graph.find(attended));
        }
        for (const Stack stack : stacks_of(model))
            if (stack != Stack::cross) {
                for (const TensorId id : stages.before_layers(stack))
                    check({stack, -1}, id);
                for (const TensorId id : stages.after_layers(stack))
                    check({stack, -1}, id);
            }
    }
}

TEST_CASE("a parameter has its words, and the numbers of the tensor that its attributes name", "[graph]") {
    for (const std::string& name : all_model_names()) {
        const GraphOfModel one(name);
        const graph::LeafSource leaves = leaves_of(one.built, one.model);
        std::set<std::string> read;
        for (const graph::Node& node : one.graph().nodes()) {
            if (node.op != graph::Op::parameter)
                continue;
            INFO(name << " " << node.name);
            REQUIRE(one.built.weights.contains(node.name));
            const WeightPlace& place = one.built.weights.at(node.name);
            if (is_editable_weight(place.weight))
                check_words(one, node.name, place.weight);
            const TensorPtr numbers = leaves(node);
            REQUIRE(numbers != nullptr);
            CHECK(numbers->shape() == node.axes.shape());
            const auto& source = std::get<graph::Parameter>(node.attributes);
            if (source.tensor.empty()) {
                CHECK(place.weight == TensorId::W_P);
                continue;
            }
            if (source.tensor.find("{e}") != std::string::npos) {
                const std::vector<float> expected = numbers_of_experts(source, one.model, read);
                CHECK(std::ranges::equal(numbers->values(), expected));
                continue;
            }
            const std::string tensor = name_in_file(one.model, source.tensor, place.weight);
            if (tensor.empty()) {
                CHECK(place.may_lack);
                CHECK(std::ranges::count(numbers->values(), 0.0F) == numbers->count());
                continue;
            }
            read.insert(tensor);
            std::vector<float> expected = numbers_of(source, one.model.files().tensor(tensor));
            const Architecture& a = in_stack(one.architecture(), place.place.stack);
            // After those of the latent vector are the rows of the numbers that turn.
            const bool of_latent =
                a.latent && (place.weight == TensorId::W_K || place.weight == TensorId::W_V);
            const auto rows = numbers->values().first(static_cast<std::size_t>(
                of_latent ? a.latent->rank * numbers->shape()[1] : numbers->count()));
            if (of_latent && place.weight == TensorId::W_K)
                expected = with_turning_columns(a, expected);
            if (const auto order = rotary_order(a); is_rotated(place.weight) && !order.empty())
                reorder_heads(expected, order);
            CHECK(std::ranges::equal(rows, expected));
        }
        for (const format::TensorEntry* entry : one.model.files().entries())
            if (!read.contains(entry->name) && !other_part_of(entry->name) &&
                !is_replaced_by_shared_keys(one.architecture(), entry->name))
                FAIL_CHECK(name << " does not read " << entry->name);
    }
}

TEST_CASE("the residual stream is the sum of the nodes that add to it", "[graph]") {
    for (const std::string& name : all_model_names()) {
        const GraphOfModel one(name);
        const graph::Evaluation run = graph::evaluate_all(one.graph(), leaves_of(one.built, one.model));
        for (const Stack stack : stacks_of(one.architecture())) {
            const Architecture& a = in_stack(one.architecture(), stack);
            if (stack == Stack::cross || a.norms.after_sum || a.copies)
                continue; // a norm after the sum, or a mix of several copies, is not a sum
            const bool normed = a.embedding_norm;
            const graph::Array& last = run[one.name(
                {one.architecture().encoder != nullptr && stack == Stack::own ? Stack::cross : stack,
                 a.layers - 1},
                TensorId::resid_out)];
            std::vector<double> sum(last.values.size());
            const auto add = [&](const std::string& node) {
                for (std::size_t i = 0; i < sum.size(); ++i)
                    sum[i] += run[node].values[i];
            };
            if (normed)
                add(one.prefix({stack, -1}) + "embedding_norm");
            for (const graph::Node& node : one.graph().nodes()) {
                const bool in_encoder = node.location.stack == graph::Stack::encoder;
                if (node.role == graph::Role::adds && in_encoder == (stack == Stack::encoder) &&
                    !(normed && node.location.layer < 0))
                    add(node.name);
            }
            INFO(name << " " << stack_name(one.architecture(), stack));
            double largest = 0;
            for (std::size_t i = 0; i < sum.size(); ++i)
                largest = std::max(largest, std::abs(sum[i] - last.values[i]));
            CHECK(largest < 1e-9);
        }
    }
}

TEST_CASE("the nodes that read the residual stream are the norms or the projections of the branches",
          "[graph]") {
    const auto readers = [](const std::string& name) {
        const GraphOfModel one(name);
        std::string names;
        for (const graph::Node& node : one.graph().nodes())
            if (node.role == graph::Role::reads && node.location.layer <= 0)
                names += (names.empty() ? "" : " ") + node.name;
        return names;
    };
    CHECK(readers("gpt2_tiny") == "layers.0.norm1 layers.0.norm2 final_norm");
    CHECK(readers("phi_tiny") == "layers.0.norm1 final_norm");
    CHECK(readers("olmo2_tiny") ==
          "layers.0.q layers.0.k layers.0.v layers.0.mlp_pre layers.0.mlp_gate final_norm");
    CHECK(readers("bert_tiny") == "layers.0.q layers.0.k layers.0.v layers.0.mlp_pre head_dense");
}

TEST_CASE("every family's usual architecture becomes a graph with all of its tensors", "[graph]") {
    std::istringstream names(family_names());
    int families = 0;
    for (std::string family; std::getline(names >> std::ws, family, ',');) {
        INFO(family);
        ++families;
        if (family == "toy") // has no usual sizes: its file says all of them
            continue;
        const Architecture model = read_architecture("{\"model_type\": \"" + family + "\"}", family);
        const ModelGraph built = graph_of(model, short_text(model), true);
        std::set<std::string> expected;
        for (const Architecture* stack : {model.encoder_architecture.get(), &model}) {
            if (stack == nullptr)
                continue;
            const NameMap& map = stack->names;
            for (const std::vector<TensorName>* rows : {&map.body, &map.cross, &map.head})
                for (const TensorName& row : *rows)
                    for (std::int64_t l = 0; l < (is_per_layer(row.weight) ? stack->layers : 1); ++l)
                        if (is_needed(row, *stack) && is_in_layer(row, *stack, l)) {
                            const std::string prefix(rows == &map.head ? "" : map.prefixes.front());
                            if (row.layout == Layout::copy_linears)
                                expected.merge(set_of(full_names(row, prefix, l, *stack)));
                            else
                                expected.insert(full_name(row, prefix, l));
                        }
        }
        CHECK(tensors_of_parameters(built.graph) == expected);
    }
    CHECK(families == 77);
}

TEST_CASE("inputs that do not fit a model have no graph", "[graph]") {
    const Model gpt2 = Model::open(test_data("/models/gpt2_tiny"));
    ModelInputs inputs = short_text(gpt2.architecture());
    inputs.ids[1] = 200;
    CHECK_THAT(input_error([&] { graph_of(gpt2.architecture(), inputs, true); }),
               Contains("input_ids[0, 1] is 200"));
    inputs.ids[1] = 2;
    const ModelGraph without_head = graph_of(gpt2.architecture(), inputs, false);
    CHECK_THAT(input_error([&] { without_head.graph.find("logits"); }), Contains("no node logits"));
}
