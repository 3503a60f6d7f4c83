#include "core/checkpoint/graph/model_stages.h"
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
    std::string name(AttentionPlace place, TensorId stage) const { return model.stages().name(place, stage); }
};

std::vector<graph::Part> all_nodes(const graph::Graph& graph) {
    std::vector<graph::Part> captures;
    for (const graph::Node& node : graph.nodes())
        if (node.op != graph::Op::parameter)
            captures.push_back({node.name});
    return captures;
}

/// Row `token` of each text of (B, T, width).
std::vector<float> token_rows(const Tensor& tensor, std::int64_t token) {
    std::vector<float> rows;
    const std::int64_t width = tensor.shape()[2];
    for (std::int64_t b = 0; b < tensor.shape()[0]; ++b) {
        const float* const row = tensor.data() + tensor.offset(b, token, 0);
        rows.insert(rows.end(), row, row + width);
    }
    return rows;
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
                compare(runner.name(layer.place, stage.id), *layer.trace.stage(stage.id));
        for (const BlockRun& block : expected.blocks)
            compare(runner.name(block.place, block.id), *block.tensor);
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

TEST_CASE("the logits of one token need the rows of that token alone after the last attention",
          "[run][models]") {
    for (const std::string& name : all_model_names()) {
        INFO(name);
        ModelRunner runner(name);
        const graph::Node& logits = runner.built.graph["logits"];
        const std::int64_t T = logits.axes.size(1), vocab = logits.axes.size(2);
        const TensorPtr whole = (*runner.run({{"logits"}}))["logits"];
        for (const std::int64_t token : {std::int64_t{0}, T / 2, T - 1}) {
            const graph::Part part{"logits", {{logits.axes[1].name, {token, 1}}}};
            const run::RunPtr run = runner.run({part});
            CHECK(same_bits(*run->part(part),
                            Tensor(Shape{whole->shape()[0], 1, vocab}, token_rows(*whole, token))));
            CHECK(run->plan().find(runner.built.graph.find("logits"))->shape[1] == 1);
            const std::string sum =
                runner.name({Stack::own, runner.model.architecture().layers - 1}, TensorId::resid_out);
            CHECK(run->plan().find(runner.built.graph.find(sum))->shape[1] == 1);
        }
        // Two parts need the rows between them, and a whole capture needs all.
        const graph::Part first{"logits", {{logits.axes[1].name, {0, 1}}}},
            last{"logits", {{logits.axes[1].name, {T - 1, 1}}}};
        const run::RunPtr both = runner.run(
            {first,
             last,
             {runner.name({Stack::own, runner.model.architecture().layers - 1}, TensorId::mlp_out)}});
        CHECK(same_bits(*both->part(last),
                        Tensor(Shape{whole->shape()[0], 1, vocab}, token_rows(*whole, T - 1))));
    }
}

TEST_CASE("an intervention on a node that the run before captured computes nothing before it",
          "[run][models][intervention]") {
    const char* const name = GENERATE("llama_tiny_untied", "gemma2_tiny", "gpt_oss_tiny");
    ModelRunner runner(name);
    INFO(name);
    const auto captures = [](std::initializer_list<const char*> nodes) {
        std::vector<graph::Part> parts;
        for (const char* const node : nodes)
            parts.push_back({node});
        return parts;
    };
    const run::RunPtr plain =
        runner.run(captures({"logits", "layers.1.resid_in", "layers.1.head_out", "layers.1.attn_out"}));
    const auto number = [](float value) { return make_tensor({}, std::array{value}); };
    for (const auto kind :
         {run::Intervention::Kind::set, run::Intervention::Kind::add, run::Intervention::Kind::scale}) {
        const run::Interventions changed{
            {.part = {"layers.1.head_out", {{"H", {2, 1}}}}, .kind = kind, .values = number(0.5F)},
            {.part = {"layers.1.attn_out", {{"Tq", {1, 2}}}}, .kind = kind, .values = number(-0.25F)}};
        const run::RunPtr run = runner.run(captures({"logits", "layers.1.head_out"}), changed, plain);
        const run::RunPtr scratch = runner.run(captures({"logits", "layers.1.head_out"}), changed);
        CHECK(same_bits(*(*run)["logits"], *(*scratch)["logits"]));
        CHECK(same_bits(*(*run)["layers.1.head_out"], *(*scratch)["layers.1.head_out"]));
        CHECK(!same_bits(*(*run)["logits"], *(*plain)["logits"]));
        const auto computed = [&](const char* node) { return run->computed(runner.built.graph.find(node)); };
        CHECK(computed("layers.1.q") == 0);
        CHECK(computed("layers.1.weights") == 0);
        CHECK(computed("layers.1.head_out") == run::head_bit(2, runner.model.architecture().H));
        // Back to the run without interventions, and from one intervention to another.
        CHECK(same_bits(*(*runner.run(captures({"logits"}), {}, run))["logits"], *(*plain)["logits"]));
        run::Interventions other = changed;
        other.front().values = number(3.0F);
        CHECK(same_bits(*(*runner.run(captures({"logits"}), other, run))["logits"],
                        *(*runner.run(captures({"logits"}), other))["logits"]));
    }
}

TEST_CASE("numbers of an earlier run that a fused kernel does not read are computed again",
          "[run][models][rerun]") {
    ModelRunner runner("gpt2_tiny");
    const run::RunPtr plain = runner.run(all_nodes(runner.built.graph));
    for (const char* const weight : {"layers.1.W_Q", "layers.1.W_V", "layers.1.W_out", "layers.0.W_in"}) {
        INFO(weight);
        const run::Interventions edit{{.part = {weight},
                                       .kind = run::Intervention::Kind::scale,
                                       .values = make_tensor({}, std::array{0.5F})}};
        const run::RunPtr run = runner.run({{"logits"}}, edit, plain);
        CHECK(same_bits(*(*run)["logits"], *(*runner.run({{"logits"}}, edit))["logits"]));
        CHECK(!same_bits(*(*run)["logits"], *(*plain)["logits"]));
    }
}
