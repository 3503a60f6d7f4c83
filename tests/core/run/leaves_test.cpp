#include "core/base/error.h"
#include "core/checkpoint/graph/model_stages.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/graph_backend.h"
#include "core/run/run.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/support.h"
#include "tests/tensors.h"
#include "tests/test_data.h"

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;

namespace {

/// A golden model and its graph.
struct Golden {
    explicit Golden(const std::string& name)
        : model(Model::open(test_data("/models/") + name)), inputs(first_text(name)),
          built(graph_of(model.architecture(), inputs, model.has_head())),
          leaves{.by_node = {},
                 .source = std::make_shared<const graph::LeafSource>(leaves_of(built, model))} {
        leaves.by_node.resize(built.graph.nodes().size());
    }

    run::RunPtr run(const run::Leaves& numbers, const run::Request& request) {
        Progress progress;
        return run::run(built.graph, numbers, request, backend, progress);
    }
    const graph::Graph& graph() const { return built.graph; }

    Model model;
    ModelInputs inputs;
    ModelGraph built;
    run::Leaves leaves;
    cpu::CpuBackend backend{cpu::make_cpu_machine(2)};
};

/// The parameters whose changed rows kernels take apart.
std::vector<std::string> tables_of(const Golden& golden) {
    std::vector<std::string> tables;
    for (const graph::Node& node : golden.graph().nodes())
        if (node.op == graph::Op::parameter && node.axes.rank() > 1) {
            const auto readers = golden.graph().readers(golden.graph().find(node.name));
            const auto takes_rows = [&](graph::NodeId id) {
                const graph::Node& reader = golden.graph().node(id);
                const auto* linear = std::get_if<graph::Linear>(&reader.attributes);
                return reader.op == graph::Op::embedding || reader.op == graph::Op::expert_linear ||
                       reader.op == graph::Op::expert_sum || (linear != nullptr && linear->transposed);
            };
            if (std::ranges::all_of(readers, takes_rows))
                tables.push_back(node.name);
        }
    return tables;
}

} // namespace

// Fails when a kernel reads a row of the parameter itself, and when a leaf whose rows changed is not dirty.
TEST_CASE("changed rows of a table have the bits of a table that has them, without a copy of it",
          "[run][models][intervention]") {
    for (const char* const name :
         {"gpt2_tiny", "llama_tiny_untied", "bert_tiny", "gpt_oss_tiny", "t5_tiny"}) {
        Golden golden(name);
        const std::vector<graph::Part> captures{{"logits"}};
        const run::RunPtr plain = golden.run(golden.leaves, {.captures = captures});
        const std::vector<std::string> tables = tables_of(golden);
        CHECK(!tables.empty());
        for (const std::string& table : tables) {
            INFO(name << " " << table);
            const graph::Node& node = golden.graph()[table];
            const auto id = static_cast<std::size_t>(golden.graph().find(table));
            const TensorPtr own = golden.leaves.read(golden.graph(), golden.graph().find(table));
            const std::int64_t width = own->count() / own->shape()[0];
            auto changed = std::make_shared<Tensor>(own->shape(), own->values());
            run::Request request{.captures = captures, .previous = plain};
            for (const std::int64_t row : {std::int64_t{0}, own->shape()[0] - 1}) {
                for (std::int64_t n = 0; n < width; ++n)
                    changed->data()[row * width + n] += 0.25F + 0.01F * static_cast<float>(n);
                const graph::Axes one = node.axes.with(0, {node.axes[0].name, 1});
                request.interventions.push_back(
                    {.part = {table, {{node.axes[0].name, {row, 1}}}},
                     .values = std::make_shared<const Tensor>(
                         one.shape(), changed->values().subspan(static_cast<std::size_t>(row * width),
                                                                static_cast<std::size_t>(width)))});
            }
            run::Leaves with_table = golden.leaves;
            with_table.by_node[id] = changed;
            const run::RunPtr apart = golden.run(golden.leaves, request),
                              whole = golden.run(with_table, {.captures = captures});
            CHECK(apart->plan().find(static_cast<graph::NodeId>(id))->rows_apart);
            CHECK(apart->tensor(static_cast<graph::NodeId>(id)) == nullptr);
            CHECK(same_bits(*(*apart)["logits"], *(*whole)["logits"]));
            // Nothing changed since: nothing is computed. And back.
            request.previous = apart;
            CHECK(golden.run(golden.leaves, request)->computed(golden.graph().find("logits")) == 0);
            CHECK(
                same_bits(*(*golden.run(golden.leaves, {.captures = captures, .previous = apart}))["logits"],
                          *(*plain)["logits"]));
        }
    }
}

TEST_CASE("a node that is given is not computed, nor what only it depends on", "[run][models]") {
    for (const char* const name : {"gpt2_tiny", "olmo2_tiny", "t5_tiny"}) {
        INFO(name);
        Golden golden(name);
        const std::string stream = golden.model.stages().name({Stack::own, 1}, TensorId::resid_in);
        const run::RunPtr whole = golden.run(golden.leaves, {.captures = {{stream}, {"logits"}}});
        const graph::NodeId id = golden.graph().find(stream);
        run::Leaves leaves = golden.leaves;
        leaves.by_node[static_cast<std::size_t>(id)] = (*whole)[stream];
        const auto plan = std::make_shared<const run::Plan>(
            golden.graph(), std::vector<graph::Part>{{"logits"}}, run::NodeInterventions(), golden.backend,
            std::vector<graph::NodeId>{id});
        Progress progress;
        const run::RunPtr rest = run::run(plan, leaves, {}, nullptr, progress);
        CHECK(same_bits(*(*rest)["logits"], *(*whole)["logits"]));
        const std::string before = golden.model.stages().name({Stack::own, 0}, TensorId::output);
        CHECK(plan->find(golden.graph().find(before)) == nullptr);
        leaves.by_node[static_cast<std::size_t>(id)] = nullptr;
        CHECK_THROWS_AS(run::run(plan, leaves, {}, nullptr, progress), Error);
    }
}

TEST_CASE("a captured parameter has its numbers, and nothing that reads it is computed again",
          "[run][models]") {
    Golden golden("gpt2_tiny");
    const std::string W = "layers.0.W_O", stream = "layers.1.resid_in";
    const run::RunPtr before = golden.run(golden.leaves, {.captures = {{stream}}});
    const auto after = [&](const run::Leaves& leaves) {
        return golden.run(leaves, {.captures = {{W}, {stream}}, .previous = before});
    };
    const run::RunPtr same = after(golden.leaves);
    CHECK(same->tensor(golden.graph().find(stream)) == before->tensor(golden.graph().find(stream)));
    CHECK(same_bits(*(*same)[W], *golden.leaves.read(golden.graph(), golden.graph().find(W))));
    run::Leaves edited = golden.leaves;
    edited.by_node[static_cast<std::size_t>(golden.graph().find(W))] =
        std::make_shared<const Tensor>((*same)[W]->shape(), 0.25F);
    CHECK_FALSE(same_bits(*(*after(edited))[stream], *(*before)[stream]));
}

TEST_CASE("captures that are taken come in order and are not kept", "[run][models]") {
    Golden golden("gpt2_tiny");
    const std::vector<graph::Part> captures{{"layers.0.weights"}, {"layers.1.weights"}, {"logits"}};
    const run::RunPtr kept = golden.run(golden.leaves, {.captures = captures});
    std::vector<std::string> names;
    std::weak_ptr<const Tensor> first;
    Progress progress;
    const auto take = [&](graph::NodeId id, const TensorPtr& numbers) {
        names.push_back(golden.graph().node(id).name);
        CHECK(same_bits(*numbers, *kept->tensor(id)));
        if (names.size() == 1)
            first = numbers;
        else
            CHECK(first.expired());
    };
    const run::RunPtr run = run::run(kept->plan_ptr(), golden.leaves, {}, nullptr, progress, take);
    CHECK(names == std::vector<std::string>{"layers.0.weights", "layers.1.weights", "logits"});
    CHECK(run->tensor(golden.graph().find("logits")) == nullptr);
    CHECK(kept->plan().bytes_if_taken() < kept->plan().bytes());
    // Tensors of an earlier run are handed over as well.
    names.clear();
    first.reset();
    run::run(kept->plan_ptr(), golden.leaves, {}, kept, progress,
             [&](graph::NodeId id, const TensorPtr&) { names.push_back(golden.graph().node(id).name); });
    CHECK(names.size() == 3);
}
