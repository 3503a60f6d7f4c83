#include "core/checkpoint/graph/graph_of_architecture.h"

#include "core/base/file.h"
#include "core/base/joined.h"
#include "core/checkpoint/families/families.h"
#include "core/checkpoint/model/block_stages.h"
#include "core/format/safetensors.h"
#include "tests/catch.h"
#include "tests/conformance/compare.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
using graph::Evaluation;

namespace {

ModelGraph graph_of(const Model& model, const ModelInputs& inputs) {
    return checkpoint::graph_of(model.architecture(), inputs, model.has_head());
}

std::string prefix_of(const Model& model, AttentionPlace place) {
    return stack_prefix(model.architecture(), place.stack) +
           (place.layer < 0 ? "" : "layers." + std::to_string(place.layer) + ".");
}

ForwardResult run_with_all_stages(const Model& model, const ModelInputs& inputs) {
    StageSet stages = StageSet::all();
    for (const TensorInfo& stage : block_table())
        stages = stages.with(stage.id);
    return run_on_cpu(model, inputs, {.stages = stages, .keep_problems = true});
}

/// The formula of the stage table, with what it leaves open decided; see attention_graph_test.cpp.
std::string attention_formula(const TensorInfo& info, const Problem& problem) {
    std::string formula = formula_of(info.id, problem.parts());
    if (info.operation != Operation::projection && info.operation != Operation::output_projection)
        return formula;
    if (problem.cross() && info.id != TensorId::q && info.operation == Operation::projection)
        formula.replace(formula.find("X"), 1, "X_kv");
    const TensorId bias = info.inputs[2];
    const std::string term = " + " + std::string(tensor_info(bias).name);
    if (problem.input(bias) == nullptr)
        formula.erase(formula.find(term), term.size());
    return formula;
}

/// The formula of a row around attention, from the rows and weights that block_stages names for it.
std::string block_formula(const Architecture& a, TensorId id, std::int64_t l, bool bias, bool gate) {
    const auto name = [](TensorId of) { return std::string(tensor_info(of).name); };
    const std::vector<TensorId> from = made_from(a, id, l);
    const std::string out = name(id) + " = ";
    const auto with_bias = [&](const std::string& text, const char* b) {
        return text + (bias ? std::string(" + ") + b : "");
    };
    if (const auto weights = norm_weights(a, id)) {
        const bool has_weight = find_row(a.names.body, weights->weight) != nullptr ||
                                find_row(a.names.cross, weights->weight) != nullptr;
        const std::string weight = has_weight ? " · " + name(*tensor_of(weights->weight)) : "";
        if (a.norm != NormKind::layer)
            return out + name(from[0]) + " ÷ √(mean of its squares + ε)" + weight;
        const std::string text = out + "(" + name(from[0]) + " − mean) ÷ √(variance + ε)" + weight;
        return weights->bias ? with_bias(text, tensor_info(*tensor_of(*weights->bias)).name.data()) : text;
    }
    switch (id) {
    case TensorId::resid_mid:
    case TensorId::resid_out:
        return out + joined(from, name, " + ");
    case TensorId::mlp_pre:
        return with_bias(out + name(from[0]) + " · W_in", "b_in");
    case TensorId::mlp_gate:
        return with_bias(out + name(from[0]) + " · W_gate", "b_gate");
    case TensorId::mlp_raw:
    case TensorId::mlp_out:
        return a.experts > 0
                   ? with_bias(out + "Σ_e router[e] · (expert_act[e] · expert_W_out[e]", "expert_b_out[e])")
                   : with_bias(out + "mlp_act · W_out", "b_out");
    case TensorId::mlp_act: {
        const std::string function = a.activation == Activation::gelu_tanh ? "gelu_tanh"
                                     : a.activation == Activation::gelu    ? "gelu"
                                     : a.activation == Activation::relu    ? "relu"
                                     : a.activation == Activation::silu    ? "silu"
                                                                           : "?";
        return out + function + (gate ? "(mlp_gate) × mlp_pre" : "(mlp_pre)");
    }
    default:
        return "?";
    }
}

/// Checks every stage of a float32 run of the model against the graph in double.
void check_stages(const Model& model, const ModelInputs& inputs) {
    const Architecture& architecture = model.architecture();
    const ForwardResult result = run_with_all_stages(model, inputs);
    const ModelGraph built = graph_of(model, inputs);
    const Evaluation run = graph::evaluate_all(built.graph, built.leaves(model));
    // Float32 loses more in later layers.
    const Tolerance tolerance{.absolute = 2e-5, .relative = 4e-6};
    const auto check = [&](const std::string& name, const Tensor& expected) {
        INFO(name);
        if (!built.graph.try_find(name)) {
            FAIL_CHECK("is not in the graph");
            return;
        }
        CHECK(difference(run[name].rounded().get(), expected, tolerance) == "");
    };
    for (const LayerRun& layer : result.layers) {
        const std::string prefix = prefix_of(model, layer.place);
        for (const TensorInfo& info : stages_of(layer.trace.parts)) {
            const std::string name = prefix + std::string(info.name);
            check(name, *layer.trace.stage(info.id));
            const graph::NodeId id = built.graph.find(name);
            const graph::Node& node = built.graph.node(id);
            INFO(name);
            if (info.id == TensorId::x) // the name of another node in this attention
                continue;
            CHECK(node.axes.names() ==
                  axis_names(std::span(info.axes).first(static_cast<std::size_t>(info.rank()))));
            CHECK(node.title == info.title);
            CHECK(node.location.layer == layer.place.layer);
            CHECK(static_cast<int>(node.location.step) == static_cast<int>(info.group));
            CHECK(built.graph.formula(id) == attention_formula(info, *layer.problem));
        }
        for (const TensorInfo& info : input_table())
            if (layer.problem->input(info.id) != nullptr &&
                !built.graph.try_find(prefix + std::string(info.name)))
                FAIL_CHECK(prefix << info.name << " is not in the graph");
    }
    for (const BlockRun& block : result.blocks) {
        const AttentionPlace place = place_in_files(block.place, block.id);
        const TensorInfo& info = tensor_info(block.id);
        const std::string name =
            (block.id == TensorId::probabilities ? "" : prefix_of(model, place)) + std::string(info.name);
        check(name, *block.tensor);
        const graph::NodeId id = built.graph.find(name);
        const graph::Node& node = built.graph.node(id);
        INFO(name);
        CHECK(node.axes.names() ==
              axis_names(std::span(info.axes).first(static_cast<std::size_t>(info.rank()))));
        if (node.name != name || block.place.layer < 0) // another name of a node, or not of a layer
            continue;
        CHECK(node.title == info.title);
        CHECK(static_cast<int>(node.location.step) == static_cast<int>(info.group));
        CHECK(static_cast<int>(built.graph.operation(id).page(node.location.step)) ==
              static_cast<int>(group_info(info.group).page));
        if (block.id == TensorId::router)
            continue; // one row of the table, two nodes: router_logits and router
        const bool norm = norm_weights(in_stack(architecture, place.stack), block.id).has_value();
        const std::size_t inputs_with_bias = norm || block.id == TensorId::mlp_pre ||
                                                     block.id == TensorId::mlp_gate ||
                                                     node.op == graph::Op::linear
                                                 ? 3
                                                 : 4;
        CHECK(built.graph.formula(id) ==
              block_formula(in_stack(architecture, block.place.stack), block.id, block.place.layer,
                            node.inputs.size() == inputs_with_bias, node.op == graph::Op::gate));
    }
    for (const auto& [stack, hidden] :
         {std::pair(Stack::encoder, &result.encoder_hidden), std::pair(Stack::own, &result.hidden)})
        for (std::size_t l = 0; l < hidden->size(); ++l)
            check(prefix_of(model, {stack, -1}) + "hidden." + std::to_string(l), *(*hidden)[l]);
    if (result.logits != nullptr)
        check("logits", *result.logits);
}

} // namespace

TEST_CASE("the graph of every golden model meets Hugging Face's numbers", "[graph]") {
    const auto names = model_case_names();
    REQUIRE(names.size() == 23);
    for (const std::string& name : names) {
        INFO(name);
        const ModelCase one = load_model_case(name);
        const Model model = Model::open(one.folder);
        const ModelGraph built = graph_of(model, one.inputs);
        std::vector<graph::Part> captures{{"logits"}};
        for (std::int64_t l = 0; l <= one.L; ++l)
            captures.push_back({"hidden." + std::to_string(l)});
        for (std::int64_t l = 0; l < one.L; ++l)
            captures.push_back({"layers." + std::to_string(l) + ".weights"});
        const Evaluation run = graph::evaluate(built.graph, built.leaves(model), captures);
        for (std::int64_t l = 0; l < one.L; ++l)
            CHECK(one.weights_difference(l, *run["layers." + std::to_string(l) + ".weights"].rounded()) <
                  1e-5);
        for (std::int64_t l = 0; l <= one.L; ++l)
            CHECK(one.hidden_difference(l, *run["hidden." + std::to_string(l)].rounded()) < 2e-5);
        CHECK(one.logits_difference(*run["logits"].rounded()) < 1e-4);
    }
}

TEST_CASE("the graph of every golden encoder-decoder meets the reference numbers", "[graph]") {
    const auto names = model_case_names(true);
    REQUIRE(names.size() == 4);
    for (const std::string& name : names) {
        INFO(name);
        const Model model = Model::open(test_data("/models/") + name);
        const format::Safetensors file = format::Safetensors::open(model.path() + "/expected.safetensors");
        const ModelInputs inputs = read_model_inputs(file);
        const ModelGraph built = graph_of(model, inputs);
        const Evaluation run = graph::evaluate_all(built.graph, built.leaves(model));
        int compared = 0;
        const auto check = [&](const std::string& node, const std::string& expected, std::int64_t l,
                               const ModelInputs& rows_of, double tolerance) {
            INFO(node);
            const graph::Array& got = run[node];
            const std::int64_t width = got.axes.back(0).size, count = got.axes.count();
            std::vector<float> row(static_cast<std::size_t>(width));
            double largest = 0;
            for (std::int64_t r = 0; r < count / width; ++r) {
                const std::int64_t b = r / (count / width / rows_of.B), i = r % rows_of.T;
                if (rows_of.attention_mask[static_cast<std::size_t>(b * rows_of.T + i)] == 0)
                    continue;
                file.read_numbers(expected, static_cast<std::uint64_t>(l * count + r * width), row);
                for (std::int64_t c = 0; c < width; ++c)
                    largest =
                        std::max(largest, std::abs(got.values[static_cast<std::size_t>(r * width + c)] -
                                                   static_cast<double>(row[static_cast<std::size_t>(c)])));
            }
            CHECK(largest < tolerance);
            ++compared;
        };
        const std::int64_t encoder = model.architecture().encoder->layers,
                           decoder = model.architecture().layers;
        const ModelInputs& source = inputs.source.front();
        for (std::int64_t l = 0; l < encoder; ++l)
            check("encoder.layers." + std::to_string(l) + ".weights", "expect.encoder_attentions", l, source,
                  1e-5);
        for (std::int64_t l = 0; l < decoder; ++l) {
            check("decoder.layers." + std::to_string(l) + ".weights", "expect.decoder_attentions", l, inputs,
                  1e-5);
            check("cross.layers." + std::to_string(l) + ".weights", "expect.cross_attentions", l, inputs,
                  1e-5);
        }
        for (std::int64_t l = 0; l <= encoder; ++l)
            check("encoder.hidden." + std::to_string(l), "expect.encoder_hidden_states", l, source, 2e-5);
        for (std::int64_t l = 0; l <= decoder; ++l)
            check("decoder.hidden." + std::to_string(l), "expect.decoder_hidden_states", l, inputs, 2e-5);
        check("logits", "expect.logits", 0, inputs, 1e-4);
        CHECK(compared == encoder + 2 * decoder + encoder + 1 + decoder + 1 + 1);
    }
}

TEST_CASE("the graph of every golden model has every stage, with its name, axes, formula and numbers",
          "[graph]") {
    for (const std::string& name : all_model_names()) {
        INFO(name);
        check_stages(Model::open(test_data("/models/") + name), first_text(name));
    }
}

TEST_CASE("the graph meets Hugging Face's numbers for variations of config.json", "[graph]") {
    const auto file = nlohmann::json::parse(read_file(test_data("/config_cases.json")));
    const auto ids = file.at("ids").get<std::vector<std::int64_t>>();
    int compared = 0;
    for (const auto& one : file.at("cases")) {
        if (one.contains("refused"))
            continue;
        INFO(one.at("model") << " " << one.at("change"));
        const std::string base = test_data("/models/") + one.at("model").get<std::string>();
        auto config = nlohmann::json::parse(read_file(base + "/config.json"));
        config.update(one.at("change"));
        const TemporaryFolder folder;
        write_file_atomically(folder.file("config.json"), config.dump());
        std::filesystem::create_symlink(base + "/model.safetensors", folder.file("model.safetensors"));
        ModelInputs inputs;
        inputs.T = std::ssize(ids);
        inputs.ids = ids;
        if (config.contains("num_decoder_layers") || config.contains("decoder_layers"))
            inputs.source = {inputs};
        const Model model = Model::open(folder.file(""));
        const ModelGraph built = graph_of(model, inputs);
        const std::string node = model.has_head() ? "logits"
                                                  : prefix_of(model, {Stack::own, -1}) + "hidden." +
                                                        std::to_string(model.architecture().layers);
        const Evaluation run = graph::evaluate(built.graph, built.leaves(model), {{node}});
        const std::vector<double>& got = run[node].values;
        const auto last = one.at("last").get<std::vector<double>>();
        double largest = 0;
        for (const double number : last)
            largest = std::max(largest, std::abs(number));
        for (std::size_t i = 0; i < last.size(); ++i)
            CHECK(std::abs(got[got.size() - last.size() + i] - last[i]) <= 2e-4 + 1e-6 * largest);
        ++compared;
    }
    CHECK(compared >= 60);
}

// No golden model has these types; their files have the names of a relative.
TEST_CASE("families that differ from a golden model in config.json alone have every stage", "[graph]") {
    for (const auto& [type, relative] : {std::pair("olmo3", "olmo2_tiny"), std::pair("mt5", "t5_tiny"),
                                         std::pair("mistral", "llama_tiny_tied")}) {
        INFO(type);
        const std::string base = test_data("/models/") + relative;
        auto config = nlohmann::json::parse(read_file(base + "/config.json"));
        config["model_type"] = type;
        if (std::string(type) == "olmo3")
            config["sliding_window"] = 4;
        const TemporaryFolder folder;
        write_file_atomically(folder.file("config.json"), config.dump());
        std::filesystem::create_symlink(base + "/model.safetensors", folder.file("model.safetensors"));
        check_stages(Model::open(folder.file("")), first_text(relative));
    }
}

TEST_CASE("a norm without weights, as OLMo's, is a node with one input", "[graph]") {
    const Architecture olmo = read_architecture(
        R"({"model_type": "olmo", "num_hidden_layers": 1, "hidden_size": 8, "num_attention_heads": 2,
            "intermediate_size": 16, "vocab_size": 10, "clip_qkv": 0.5})",
        "olmo");
    ModelInputs inputs;
    inputs.T = 3;
    inputs.ids = {1, 2, 3};
    const graph::Graph graph = checkpoint::graph_of(olmo, inputs, true).graph;
    CHECK(graph["layers.0.norm1"].op == graph::Op::layer_norm);
    CHECK(graph["layers.0.norm1"].inputs.size() == 1);
    CHECK(graph.formula(graph.find("layers.0.norm1")) == "norm1 = (resid_in − mean) ÷ √(variance + ε)");
    CHECK(graph.formula(graph.find("layers.0.q")) == "Q = X W_Q, clipped to [−c, c]");
}

TEST_CASE("an unknown node is answered with the nearest names", "[graph]") {
    const Model model = Model::open(test_data("/models/gpt2_tiny"));
    const graph::Graph graph = graph_of(model, first_text("gpt2_tiny")).graph;
    CHECK(input_error([&] { static_cast<void>(graph.find("layers.0.score")); }) ==
          "there is no node layers.0.score; the nearest names are layers.0.scores, layers.1.scores, "
          "layers.0.scaled");
}

TEST_CASE("what is added to the residual stream adds up to its next state", "[graph]") {
    for (const std::string& name : all_model_names()) {
        INFO(name);
        const Model model = Model::open(test_data("/models/") + name);
        const ModelInputs inputs = first_text(name);
        const ModelGraph built = graph_of(model, inputs);
        const Evaluation run = graph::evaluate_all(built.graph, built.leaves(model));
        int sums = 0;
        for (const graph::Node& node : built.graph.nodes()) {
            if (node.role != graph::Role::stream || node.op != graph::Op::add || node.location.layer < 0)
                continue;
            int streams = 0, added = 0;
            for (const graph::Reading& input : node.inputs) {
                const graph::Role role = built.graph.node(input.node).role;
                streams += role == graph::Role::stream ? 1 : 0;
                added += role == graph::Role::adds ? 1 : 0;
            }
            INFO(node.name);
            CHECK(streams == 1);
            CHECK(added == static_cast<int>(node.inputs.size()) - 1);
            ++sums;
        }
        const Architecture& a = model.architecture();
        const std::int64_t each = a.residual == Residual::serial ? 2 : 1;
        CHECK(sums == (a.encoder == nullptr ? each * a.layers : 2 * a.encoder->layers + 3 * a.layers));
    }
}
