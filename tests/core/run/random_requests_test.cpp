#include "core/base/error.h"
#include "core/checkpoint/graph/model_graph.h"
#include "core/checkpoint/model/model.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/graph_backend.h"
#include "core/run/run.h"
#include "core/text/random_numbers.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/support.h"
#include "tests/tensors.h"
#include "tests/test_data.h"

#include <optional>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;

namespace {

/// Captures and interventions on nodes of a graph at random. The same on every machine. The graph must
/// outlive this object.
class RandomRequests {
public:
    RandomRequests(const graph::Graph& graph, std::uint64_t seed) : numbers_(seed) {
        for (const graph::Node& node : graph.nodes())
            if (node.op != graph::Op::input) // token ids have to stay ids
                nodes_.push_back(&node);
        for (const graph::Node* const node : nodes_)
            if (node->location.layer == 0 && node->op != graph::Op::parameter)
                in_layer_.push_back(node);
    }

    /// `before`: the interventions of an earlier run. Often most of them stay.
    run::Request next(const run::Interventions& before) {
        run::Request request;
        if (below(3) == 0) // much for later runs to share
            for (const graph::Node* const node : nodes_)
                if (below(2) == 0)
                    request.captures.push_back({node->name});
        for (std::uint64_t count = 1 + below(3); count > 0; --count)
            request.captures.push_back(part());
        if (below(3) != 0)
            request.interventions = before;
        if (!request.interventions.empty() && below(2) == 0)
            request.interventions.erase(request.interventions.begin() +
                                        static_cast<std::ptrdiff_t>(below(request.interventions.size())));
        if (request.interventions.size() < 4 && below(3) != 0)
            request.interventions.push_back(intervention());
        return request;
    }

private:
    std::uint64_t below(std::uint64_t count) { return numbers_.next() % count; }

    /// Other numbers in one row of a table.
    run::Intervention changed_row(const graph::Node& table) {
        std::vector<graph::Axis> row(table.axes.begin(), table.axes.end());
        row[0].size = 1;
        const Shape shape = graph::Axes(row).shape();
        std::vector<float> numbers;
        for (std::int64_t n = 0; n < shape.count(); ++n)
            numbers.push_back(numbers_.uniform());
        const auto at = static_cast<std::int64_t>(below(static_cast<std::uint64_t>(table.axes.size(0))));
        return {.part = {table.name, {{table.axes[0].name, {at, 1}}}}, .values = make_tensor(shape, numbers)};
    }

    run::Intervention intervention() {
        if (const graph::Node& node = *nodes_[below(nodes_.size())];
            node.op == graph::Op::parameter && node.axes.rank() > 1)
            return changed_row(node);
        const std::array<run::Intervention::Kind, 3> kinds{
            run::Intervention::Kind::set, run::Intervention::Kind::add, run::Intervention::Kind::scale};
        return {.part = part(),
                .kind = kinds[below(kinds.size())],
                .values = make_tensor({}, std::array{numbers_.uniform()})};
    }

    /// A node, or some adjacent indices of one of its axes.
    graph::Part part() {
        const std::vector<const graph::Node*>& nodes = below(2) == 0 ? nodes_ : in_layer_;
        const graph::Node& node = *nodes[below(nodes.size())];
        graph::Part part{node.name};
        if (node.axes.rank() > 0 && below(2) == 0) {
            const graph::Axis& axis =
                node.axes[static_cast<int>(below(static_cast<std::uint64_t>(node.axes.rank())))];
            const auto size = static_cast<std::uint64_t>(axis.size);
            const std::uint64_t first = below(size), count = 1 + below(size - first);
            part.ranges[axis.name] = {static_cast<std::int64_t>(first), static_cast<std::int64_t>(count)};
        }
        return part;
    }

    text::RandomNumbers numbers_;
    std::vector<const graph::Node*> nodes_;
    std::vector<const graph::Node*>
        in_layer_; ///< nodes that a layer computes; interventions on them often meet
};

/// Null if the numbers leave float32's range, which both of two equal runs have to say.
run::RunPtr run_of(const graph::Graph& graph, const run::Leaves& leaves, const run::Request& request,
                   run::Backend& backend) {
    Progress progress;
    try {
        return run::run(graph, leaves, request, backend, progress);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::input)
            throw;
        return nullptr;
    }
}

} // namespace

TEST_CASE("a run has the bits of a run from scratch with any captures, interventions and earlier run",
          "[run][models][rerun]") {
    int compared = 0;
    for (const std::string& name : all_model_names()) {
        const Model model = Model::open(test_data("/models/") + name);
        const ModelInputs inputs = first_text(name);
        const ModelGraph built = graph_of(model.architecture(), inputs, model.has_head());
        const run::Leaves leaves{
            .by_node = {}, .source = std::make_shared<const graph::LeafSource>(leaves_of(built, model))};
        cpu::CpuBackend backend(cpu::make_cpu_machine(2));
        RandomRequests requests(built.graph, 7);
        struct Earlier {
            run::RunPtr run;
            run::Interventions interventions;
        };
        std::vector<Earlier> earlier{{}};
        for (int round = 0; round < 100; ++round) {
            const Earlier before = earlier[static_cast<std::size_t>(round) % earlier.size()];
            run::Request request = requests.next(before.interventions);
            const run::RunPtr scratch = run_of(built.graph, leaves, request, backend);
            request.previous = before.run;
            const run::RunPtr run = run_of(built.graph, leaves, request, backend);
            REQUIRE((run == nullptr) == (scratch == nullptr));
            if (run == nullptr)
                continue;
            for (const graph::Part& part : request.captures) {
                INFO(name << ", round " << round << ": " << part.node);
                CHECK(same_bits(*run->part(part), *scratch->part(part)));
                ++compared;
            }
            CHECK(run->empty_rows() == scratch->empty_rows());
            earlier.push_back({run, request.interventions});
        }
    }
    CHECK(compared > 1000);
}
