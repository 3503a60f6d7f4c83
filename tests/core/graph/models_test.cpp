#include "core/base/file.h"
#include "core/checkpoint/graph/model_stages.h"
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

namespace {

/// A golden model with its inputs, and the graph of both.
struct GoldenGraph {
    Model model;
    format::Safetensors file;
    ModelInputs inputs;
    ModelGraph built;

    explicit GoldenGraph(const std::string& name)
        : model(Model::open(test_data("/models/") + name)),
          file(format::Safetensors::open(model.path() + "/expected.safetensors")),
          inputs(read_model_inputs(file)), built(graph_of(model.architecture(), inputs, model.has_head())) {}

    const ModelInputs& read_by(Stack stack) const {
        return stack == Stack::encoder ? inputs.source.front() : inputs;
    }
    /// The largest difference between a node and the numbers of a tensor of the file from `first` on, in rows
    /// of real tokens.
    double difference(const graph::Array& got, const std::string& tensor, std::int64_t first,
                      const ModelInputs& of) const {
        const std::int64_t width = got.axes.back(0).size, rows = got.axes.count() / width;
        std::vector<float> expected(static_cast<std::size_t>(got.axes.count()));
        file.read_numbers(tensor, static_cast<std::uint64_t>(first), expected);
        double largest = 0;
        for (std::int64_t row = 0; row < rows; ++row) {
            const std::int64_t text = row / (rows / of.B), token = row % of.T;
            if (!of.attention_mask.empty() &&
                of.attention_mask[static_cast<std::size_t>(text * of.T + token)] == 0)
                continue;
            for (std::int64_t c = 0; c < width; ++c) {
                const auto at = static_cast<std::size_t>(row * width + c);
                const double gap = std::abs(got.values[at] - static_cast<double>(expected[at]));
                largest = std::isnan(gap) ? INFINITY : std::max(largest, gap);
            }
        }
        return largest;
    }
};

/// "expect.attentions", or of an encoder-decoder "expect.cross_attentions".
std::string expected_name(const Architecture& model, Stack stack, const std::string& what) {
    const std::string name = stack_name(model, stack);
    return "expect." + name + (name.empty() ? "" : "_") + what;
}

StageSet every_stage() {
    StageSet stages = StageSet::all();
    for (const TensorInfo& row : block_table())
        stages = stages.with(row.id);
    return stages;
}

} // namespace

TEST_CASE("the graph of every golden model meets Hugging Face's numbers", "[graph]") {
    for (const std::string& name : all_model_names()) {
        INFO(name);
        const GoldenGraph golden(name);
        const Architecture& model = golden.model.architecture();
        std::vector<graph::Part> captures{{"logits"}};
        for (const Stack stack : stacks_of(model))
            for (std::int64_t l = 0; l <= in_stack(model, stack).layers; ++l) {
                if (l < in_stack(model, stack).layers && in_stack(model, stack).has_attention(l))
                    captures.push_back({layer_prefix(model, {stack, l}) + "weights"});
                if (stack != Stack::cross)
                    captures.push_back({stack_prefix(model, stack) + "hidden." + std::to_string(l)});
            }
        const graph::Evaluation run =
            graph::evaluate(golden.built.graph, leaves_of(golden.built, golden.model), captures);
        for (const Stack stack : stacks_of(model)) {
            const std::int64_t layers = in_stack(model, stack).layers;
            std::int64_t attentions = 0;
            for (const std::int64_t l : attention_layers(in_stack(model, stack))) {
                const std::string node = layer_prefix(model, {stack, l}) + "weights";
                INFO(node);
                const graph::Array& weights = run[node];
                CHECK(golden.difference(weights, expected_name(model, stack, "attentions"),
                                        attentions++ * weights.axes.count(), golden.read_by(stack)) < 1e-5);
            }
            const std::int64_t copies = model.copies ? model.copies->count : 1,
                               active = model.copies ? model.copies->active : 0;
            // The numbers of several copies of the residual stream end before they are merged.
            const std::int64_t compared = model.copies ? layers - 1 : layers;
            for (std::int64_t l = 0; l <= compared && stack != Stack::cross; ++l) {
                const std::string node = stack_prefix(model, stack) + "hidden." + std::to_string(l);
                INFO(node);
                const graph::Array& hidden = run[node];
                CHECK(golden.difference(hidden, expected_name(model, stack, "hidden_states"),
                                        (l * copies + active) * hidden.axes.count(),
                                        golden.read_by(stack)) < 2e-5);
            }
        }
        CHECK(golden.difference(run["logits"], "expect.logits", 0, golden.inputs) < 1e-4);
    }
}

TEST_CASE("a graph has the numbers of every stage of a model's forward pass", "[graph]") {
    for (const std::string& name : all_model_names()) {
        const GoldenGraph golden(name);
        const Architecture& model = golden.model.architecture();
        const ForwardResult expected = run_on_cpu(golden.model, golden.inputs, {.stages = every_stage()});
        const graph::Evaluation run =
            graph::evaluate_all(golden.built.graph, leaves_of(golden.built, golden.model));
        const auto compare = [&](const std::string& node, const Tensor& numbers) {
            if (!run.has(node)) {
                FAIL_CHECK(name << " has no node " << node);
                return;
            }
            INFO(name << " " << node);
            CHECK(difference(run[node].rounded().get(), numbers, {.absolute = 2e-5, .relative = 2e-5}) == "");
        };
        for (const LayerRun& layer : expected.layers)
            for (const TensorInfo& stage : stages_of(layer.trace.parts))
                compare(layer_prefix(model, layer.place) + std::string(stage.name),
                        *layer.trace.stage(stage.id));
        for (const BlockRun& block : expected.blocks)
            compare(golden.model.stages().name(block.place, block.id), *block.tensor);
        for (const auto& [stack, hidden] :
             {std::pair(Stack::encoder, &expected.encoder_hidden), std::pair(Stack::own, &expected.hidden)})
            for (std::size_t l = 0; l < hidden->size(); ++l)
                compare(stack_prefix(model, stack) + "hidden." + std::to_string(l), *(*hidden)[l]);
        compare("logits", *expected.logits);
    }
}

// tests/peers/make_config_cases.py made the cases with Hugging Face's own code in float64.
TEST_CASE("the graphs of variations of config.json meet Hugging Face's numbers", "[graph]") {
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
        const Model model = Model::open(folder.file(""));
        ModelInputs inputs;
        inputs.ids = one.value("ids", ids);
        inputs.T = std::ssize(inputs.ids);
        if (model.encoder() != nullptr)
            inputs.source = {inputs};
        const ModelGraph built = graph_of(model.architecture(), inputs, model.has_head());
        const Architecture& a = model.architecture();
        const std::string node =
            model.has_head() ? "logits" : stack_prefix(a, Stack::own) + "hidden." + std::to_string(a.layers);
        const graph::Array result = graph::evaluate(built.graph, leaves_of(built, model), {{node}})[node];
        const auto last = one.at("last").get<std::vector<double>>();
        double largest = 0;
        for (const double number : last)
            largest = std::max(largest, std::abs(number));
        for (std::size_t i = 0; i < last.size(); ++i) {
            const double got = result.values[result.values.size() - last.size() + i];
            CHECK(std::abs(got - last[i]) <= 2e-4 + 1e-6 * largest);
        }
        ++compared;
    }
    CHECK(compared >= 70);
}
