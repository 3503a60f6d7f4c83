#include "core/checkpoint/graph/model_graph.h"
#include "core/checkpoint/model/block_stages.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/graph_backend.h"
#include "core/run/run.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/support.h"
#include "tests/tensors.h"
#include "tests/test_data.h"

#include <cmath>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;

namespace {

StageSet every_stage() {
    StageSet stages = StageSet::all();
    for (const TensorInfo& row : block_table())
        stages = stages.with(row.id);
    return stages;
}

/// A golden model, the graph of its computation, and a backend.
struct ModelRunner {
    Model model;
    ModelInputs inputs;
    ModelGraph built;
    run::Leaves leaves;
    cpu::CpuBackend backend{cpu::make_cpu_machine(2)};

    explicit ModelRunner(const std::string& name)
        : model(Model::open(test_data("/models/") + name)), inputs(first_text(name)),
          built(graph_of(model.architecture(), inputs, model.has_head())),
          leaves{.by_node = {},
                 .source = std::make_shared<const graph::LeafSource>(leaves_of(built, model))} {}

    run::RunPtr run(const std::vector<graph::Part>& captures, const run::Interventions& interventions = {},
                    const run::RunPtr& previous = nullptr) {
        Progress progress;
        return run::run(built.graph, leaves,
                        {.captures = captures, .interventions = interventions, .previous = previous}, backend,
                        progress);
    }
    std::string prefix(AttentionPlace place) const {
        return stack_prefix(model.architecture(), place.stack) +
               (place.layer < 0 ? "" : "layers." + std::to_string(place.layer) + ".");
    }
    std::string name_of(const BlockRun& block) const {
        const std::string name(tensor_info(block.id).name);
        return block.id == TensorId::probabilities ? name
                                                   : prefix(place_in_files(block.place, block.id)) + name;
    }
};

std::vector<graph::Part> all_nodes(const graph::Graph& graph) {
    std::vector<graph::Part> captures;
    for (const graph::Node& node : graph.nodes())
        if (node.op != graph::Op::parameter)
            captures.push_back({node.name});
    return captures;
}

} // namespace

TEST_CASE("every node of every model has the forward pass's bits", "[run][models]") {
    for (const std::string& name : all_model_names()) {
        ModelRunner runner(name);
        const ForwardResult expected = run_on_cpu(runner.model, runner.inputs, {.stages = every_stage()});
        const run::RunPtr run = runner.run(all_nodes(runner.built.graph));
        for (const run::NodeId id : run->plan().evaluated())
            FAIL_CHECK(name << " has no kernel for " << runner.built.graph.node(id).name);
        const auto compare = [&](const std::string& node, const Tensor& numbers) {
            INFO(name << " " << node);
            CHECK(same_bits(*(*run)[node], numbers));
        };
        for (const LayerRun& layer : expected.layers)
            for (const TensorInfo& stage : stages_of(layer.trace.parts))
                compare(runner.prefix(layer.place) + std::string(stage.name), *layer.trace.stage(stage.id));
        for (const BlockRun& block : expected.blocks)
            compare(runner.name_of(block), *block.tensor);
        compare("logits", *expected.logits);
    }
}

TEST_CASE("hidden states and logits have the forward pass's bits, whatever is captured", "[run][models]") {
    for (const std::string& name : all_model_names()) {
        ModelRunner runner(name);
        const Architecture& model = runner.model.architecture();
        const ForwardResult expected = run_on_cpu(runner.model, runner.inputs, {});
        std::vector<graph::Part> captures{{"logits"}};
        const auto hidden_name = [&](Stack stack, std::size_t l) {
            return stack_prefix(model, stack) + "hidden." + std::to_string(l);
        };
        for (std::size_t l = 0; l < expected.encoder_hidden.size(); ++l)
            captures.push_back({hidden_name(Stack::encoder, l)});
        for (std::size_t l = 0; l < expected.hidden.size(); ++l)
            captures.push_back({hidden_name(Stack::own, l)});
        const run::RunPtr run = runner.run(captures);
        INFO(name);
        for (std::size_t l = 0; l < expected.encoder_hidden.size(); ++l)
            CHECK(same_bits(*(*run)[hidden_name(Stack::encoder, l)], *expected.encoder_hidden[l]));
        for (std::size_t l = 0; l < expected.hidden.size(); ++l)
            CHECK(same_bits(*(*run)[hidden_name(Stack::own, l)], *expected.hidden[l]));
        CHECK(same_bits(*(*run)["logits"], *expected.logits));
        CHECK(same_bits(*(*runner.run({{"logits"}}))["logits"], *expected.logits));
    }
}

TEST_CASE("a head gain of a model is an intervention", "[run][models][intervention]") {
    for (const std::string name : {"gpt2_tiny", "llama_tiny_untied"}) {
        ModelRunner runner(name);
        ForwardOptions options;
        LayerEdits edits;
        edits.gains.assign(static_cast<std::size_t>(runner.model.architecture().H), 1.0F);
        edits.gains[1] = 0.0F;
        options.edits[1] = edits;
        const ForwardResult expected = run_on_cpu(runner.model, runner.inputs, options);
        const run::Interventions ablated{
            {.part = {"layers.1.gain", {{"H", {1, 1}}}}, .values = make_tensor({}, std::array{0.0F})}};
        const run::RunPtr plain = runner.run({{"logits"}, {"layers.0.resid_out"}});
        const run::RunPtr run = runner.run({{"logits"}, {"layers.0.resid_out"}}, ablated, plain);
        INFO(name);
        CHECK(same_bits(*(*run)["logits"], *expected.logits));
        CHECK(!same_bits(*(*plain)["logits"], *expected.logits));
        // The first layer does not depend on the second one.
        CHECK((*run)["layers.0.resid_out"] == (*plain)["layers.0.resid_out"]);
        CHECK(run->computed(runner.built.graph.find("layers.0.resid_out")) == 0);
    }
}
