#include "core/export/model_part.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/graph/model_stages.h"
#include "core/export/pytorch_script.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/core/graph/sample_graphs.h"
#include "tests/support.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

using namespace headscope;
using namespace headscope::exporting;
using Catch::Contains;

// tests/app/cli/check_pytorch.py runs the scripts; here is their content.

namespace {

checkpoint::Model open_golden(const std::string& name) {
    return checkpoint::Model::open(test_data("/models/") + name);
}

/// Runs the first text of a golden case.
struct GoldenPass {
    explicit GoldenPass(const std::string& name, const checkpoint::ModelEdits& edits = {})
        : model(open_golden(name)), inputs(test::first_text(name)), pass(model, inputs, edits, 1, nullptr) {}

    ScriptPart layer(std::int64_t layer) {
        return part_of_layer(pass, {checkpoint::Stack::own, layer}, progress);
    }
    ScriptPart whole() { return part_of_model(pass, progress); }

    checkpoint::Model model;
    checkpoint::ModelInputs inputs;
    checkpoint::Pass pass;
    Progress progress;
};

TensorPtr numbers(std::int64_t rows, std::int64_t width, float first) {
    Tensor tensor(Shape{rows, width});
    for (std::int64_t n = 0; n < tensor.count(); ++n)
        tensor.data()[n] = first + 0.125F * static_cast<float>(n % 5);
    return std::make_shared<const Tensor>(std::move(tensor));
}

/// Head gains, and rows that are set or added: all that a window or an analysis changes, but weights.
checkpoint::ModelEdits changes_of(const checkpoint::Model& model, std::int64_t layer) {
    const checkpoint::ModelConfig& a = model.config();
    checkpoint::LayerEdits edits;
    edits.gains.assign(static_cast<std::size_t>(a.H), 1.0F);
    edits.gains[1] = 0.25F;
    edits.patched = {{.at = TensorId::mlp_act, .first = 1, .rows = numbers(1, 1, 1.5F), .column = 3},
                     {.at = model.stages().attention_output({checkpoint::Stack::own, layer}),
                      .first = 0,
                      .rows = numbers(2, a.D, -0.25F),
                      .added = true},
                     {.at = TensorId::mlp_out, .first = 2, .rows = numbers(1, a.D, 0.5F)}};
    return {{layer, edits}};
}

/// The names that lines of Python assign to.
std::set<std::string> assigned(const std::string& lines) {
    std::set<std::string> names;
    std::istringstream rest(lines);
    for (std::string line; std::getline(rest, line);) {
        const std::size_t end = line.find(" = ");
        if (line.starts_with('#') || end == std::string::npos)
            continue;
        std::istringstream targets(line.substr(0, end));
        for (std::string name; std::getline(targets, name, ',');)
            names.insert(name.substr(name.find_first_not_of(' ')));
    }
    return names;
}

} // namespace

TEST_CASE("a layer's script has the layer's stages and nothing of other layers", "[export][models]") {
    for (const std::string& name : test::all_model_names()) {
        const checkpoint::Model model = open_golden(name);
        const checkpoint::ModelInputs inputs = test::first_text(name);
        checkpoint::Pass pass(model, inputs, {}, 1, nullptr);
        for (std::int64_t n = 0; n < attention_count(model.config()); ++n) {
            const checkpoint::AttentionPlace place = attention_place(model.config(), n);
            INFO(name << ", attention " << n);
            Progress progress;
            const ScriptPart part = part_of_layer(pass, place, progress);
            const auto find = [&](TensorId stage) { return part.graph.find(pass.text().name(place, stage)); };
            const std::vector<TensorId> stages = model.stages().in_layer(place);
            CHECK(part.is_given(find(TensorId::resid_in)));
            for (auto stage = stages.begin() + 1; stage != stages.end(); ++stage)
                if (*stage !=
                    TensorId::layer_out) // added to the other copies alone, where the first is active
                    CHECK(part.is_computed(find(*stage)));
            if (has_attention(model.config(), place))
                for (const TensorId stage :
                     {TensorId::weights_mean, TensorId::contributions, TensorId::output})
                    CHECK(part.is_computed(find(stage)));
            CHECK(part.compared.back() == find(stages.back()));
            for (const graph::NodeId id : part.computed)
                CHECK((part.graph.node(id).location.layer == place.layer ||
                       part.graph.node(id).location.layer == -1));
            for (const graph::NodeId id : part.given)
                CHECK(part.of(id) != nullptr);
        }
    }
}

TEST_CASE("a script changes a node after its lines where the run does", "[export][models]") {
    const checkpoint::Model model = open_golden("llama_tiny_untied");
    GoldenPass changed("llama_tiny_untied", changes_of(model, 1));
    const std::string script = pytorch_script(changed.layer(1), "t");
    CHECK_THAT(script, Contains("mlp_act = mlp_act.clone()\nmlp_act[:, 1:2, 3:4] = intervention_") &&
                           Contains("\noutput[:, 0:2, :] += intervention_") &&
                           Contains("mlp_out[:, 2:3, :] = intervention_"));
    CHECK_THAT(script, Contains("gain = torch.tensor([1, 0.25, "));
    CHECK_THAT(script, Contains("concat = (head_out * gain.reshape(1, -1, 1, 1))"));
    CHECK_THAT(pytorch_script(GoldenPass("llama_tiny_untied").layer(1), "t"),
               !Contains("gain = ") && !Contains("intervention"));
    // A change in another layer is in the numbers of the residual stream.
    CHECK_THAT(pytorch_script(changed.layer(0), "t"), !Contains("gain = ") && !Contains("intervention"));
}

TEST_CASE("a script of a whole model begins with the token ids", "[export][models]") {
    const std::string script = pytorch_script(GoldenPass("gpt2_tiny").whole(), "t");
    CHECK_THAT(script, Contains("\nids = torch.tensor([\n") && Contains("dtype=torch.int64"));
    CHECK_THAT(script,
               Contains("embedding = W_E[ids]") && Contains("layers_0_q = layers_0_norm1 @ layers_0_W_Q"));
    CHECK_THAT(script, Contains("agrees(\"logits\", logits, expected_logits, "));
}

TEST_CASE("a model with too many parameters for a script is refused", "[export][models]") {
    GoldenPass golden("gpt2_tiny");
    CHECK_THAT(input_error([&] { part_of_model(golden.pass, golden.progress, 1000); }),
               Contains("export one layer with --whole-layer"));
}

TEST_CASE("a layer that the stack lacks is refused", "[export][models]") {
    CHECK_THAT(input_error([] { GoldenPass("gpt2_tiny").layer(7); }), Contains("there is no layer 7"));
}

TEST_CASE("no helper variable of an operation has the name of a node", "[graph]") {
    std::set<std::string> nodes;
    for (const auto& table : {stage_table(), block_table(), block_weight_table(), input_table()})
        for (const TensorInfo& row : table)
            nodes.insert(python_name(row.name));
    for (const graph::SampleGraph& one : graph::sample_graphs())
        for (graph::NodeId id = 0; id < static_cast<graph::NodeId>(one.graph.nodes().size()); ++id) {
            const std::string out = python_name(one.graph.node(id).name);
            for (const std::string& name : assigned(one.graph.pytorch(id))) {
                INFO(one.name << ", " << out << ": " << name);
                CHECK((name == out || !nodes.contains(name)));
            }
        }
}

// For check_pytorch.py: scripts of runs that the command line cannot make, in the folder HEADSCOPE_SCRIPTS.
TEST_CASE("scripts of runs with changed activations", "[.scripts]") {
    const char* const folder = std::getenv("HEADSCOPE_SCRIPTS");
    REQUIRE(folder != nullptr);
    for (const std::string name : {"llama_tiny_untied", "gpt2_tiny", "gemma2_tiny"}) {
        GoldenPass changed(name, changes_of(open_golden(name), 1));
        export_pytorch(changed.layer(1), name, std::string(folder) + "/" + name + "_layer.py");
        export_pytorch(changed.whole(), name, std::string(folder) + "/" + name + "_model.py");
    }
}
