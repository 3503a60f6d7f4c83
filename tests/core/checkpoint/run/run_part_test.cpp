#include "core/checkpoint/graph/model_stages.h"
#include "core/checkpoint/run/model_run.h"
#include "core/format/safetensors.h"
#include "core/graph/operation.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/support.h"
#include "tests/tensors.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;

namespace {

ForwardResult run_whole(const Model& model, const ModelInputs& inputs) {
    StageSet stages;
    for (const TensorInfo& row : block_table())
        stages = stages.with(row.id);
    return run_on_cpu(model, inputs, {.stages = stages});
}

ModelPtr case_model(const std::string& name) {
    return std::make_shared<const Model>(Model::open(test_data("/models/") + name));
}

ModelRunPtr case_run(const ModelPtr& model, const ModelInputs& inputs, const ModelEdits& edits = {}) {
    Progress progress;
    return ModelRun::compute(model, inputs, edits, nullptr, {}, progress);
}

std::vector<TensorId> ids_of(const ForwardResult& result, AttentionPlace place) {
    std::vector<TensorId> ids;
    for (const BlockRun& block : result.blocks)
        if (block.place == place)
            ids.push_back(block.id);
    return ids;
}

float at(const Tensor& tensor, std::int64_t row, std::int64_t col) {
    return tensor.data()[row * tensor.shape().back(0) + col];
}

/// row . column of W, (d_in, d_out)
double product(const Tensor& x, std::int64_t row, const Tensor& W, std::int64_t column) {
    double sum = 0;
    for (std::int64_t d = 0; d < W.shape()[0]; ++d)
        sum += static_cast<double>(at(x, row, d)) * static_cast<double>(at(W, d, column));
    return sum;
}

} // namespace

TEST_CASE("a model has the stages around attention that its forward pass computes, in that order") {
    for (const std::string& name : all_model_names()) {
        INFO(name);
        const ModelPtr model = case_model(name);
        const Architecture& architecture = model->architecture();
        const ForwardResult result = run_whole(*model, first_text(name));
        for (std::int64_t n = 0; n < attention_count(architecture); ++n) {
            const AttentionPlace place = attention_place(architecture, n);
            INFO(attention_words(architecture, place));
            CHECK(ids_of(result, place) == model->stages().in_layer(place));
        }
        for (const Stack stack : stacks_of(architecture)) {
            if (stack == Stack::cross)
                continue; // its ends are the decoder's
            std::vector<TensorId> once = model->stages().before_layers(stack);
            std::ranges::copy(model->stages().after_layers(stack), std::back_inserter(once));
            std::erase(once, TensorId::logits); // a result of its own
            CHECK(ids_of(result, {stack, -1}) == once);
        }
        CHECK((result.logits != nullptr) == model->has_head());
    }
}

TEST_CASE("an attention of a run has the numbers of run_model around it, bit for bit") {
    for (const std::string& name : all_model_names()) {
        INFO(name);
        const ModelPtr model = case_model(name);
        const Architecture& architecture = model->architecture();
        const ModelInputs inputs = first_text(name);
        const ForwardResult expected = run_whole(*model, inputs);
        Progress progress;
        const ModelRunPtr run = case_run(model, inputs);
        const std::int64_t position = inputs.T / 2;
        for (const BlockRun& block : expected.blocks) {
            INFO(stack_name(architecture, block.place.stack)
                 << " layer " << block.place.layer << " " << tensor_info(block.id).name);
            const RunPartPtr got = block.place.layer < 0
                                       ? run->ends(block.place.stack, position, progress)
                                       : run->around(attention_number(architecture, block.place), progress);
            CHECK(got->place == block.place);
            REQUIRE(got->find(block.id) != nullptr);
            if (block.id != TensorId::probabilities) {
                CHECK(same_bits(*got->find(block.id), *block.tensor));
                continue;
            }
            // One row is multiplied otherwise than many, and the sum ends in other bits.
            for (std::int64_t token = 0; token < architecture.vocab; ++token) {
                CHECK(got->value(TensorId::logits, {0, position, token, 0}) ==
                      Approx(at(*expected.logits, position, token)).margin(1e-5));
                CHECK(got->value(block.id, {0, position, token, 0}) ==
                      Approx(at(*block.tensor, position, token)).margin(1e-6));
            }
        }
    }
}

// Fails when ModelStages continues the decoder's own attention with the MLP, and when block() expects the
// number of a layer.
TEST_CASE(
    "what leaves the last stop of an attention enters the next, and a hidden state is what leaves a layer") {
    for (const std::string& name : all_model_names()) {
        const ModelPtr model = case_model(name);
        const Architecture& architecture = model->architecture();
        const ModelInputs inputs = first_text(name);
        const format::Safetensors golden = format::Safetensors::open(model->path() + "/expected.safetensors");
        Progress progress;
        const ModelRunPtr run = case_run(model, inputs);
        for (std::int64_t n = 0; n < attention_count(architecture); ++n) {
            const AttentionPlace place = attention_place(architecture, n);
            INFO(name << ", " << attention_words(architecture, place));
            const Architecture& sizes = in_stack(architecture, place.stack);
            const RunPartPtr block = run->around(n, progress);
            CHECK(same_bits(*block->find(TensorId::resid_in), *run->stream(n)));
            const bool last = place.layer + 1 == sizes.layers,
                       mid = architecture.encoder != nullptr && place.stack == Stack::own;
            const Tensor& leaves = *block->find(model->stages().in_layer(place).back());
            if (!last || mid)
                CHECK(same_bits(leaves, *run->stream(n + 1)));
            if (mid || (last && sizes.final_norm))
                continue;
            const std::string hidden = architecture.encoder == nullptr ? "expect.hidden_states"
                                       : place.stack == Stack::encoder ? "expect.encoder_hidden_states"
                                                                       : "expect.decoder_hidden_states";
            const std::int64_t texts = read_model_inputs(golden).B;
            std::vector<float> expected(static_cast<std::size_t>(leaves.count()));
            // With several copies of the residual stream, a hidden state has all of them; stages show the
            // active one.
            const std::int64_t copies = sizes.copies ? sizes.copies->count : 1,
                               active = sizes.copies ? sizes.copies->active : 0,
                               first = ((place.layer + 1) * copies + active) * texts * leaves.count();
            golden.read_numbers(hidden, static_cast<std::uint64_t>(first), expected);
            const ModelInputs& read = run->read_by_queries(place.stack);
            for (std::int64_t i = 0; i < leaves.count(); ++i)
                if (const auto token = static_cast<std::size_t>(i / sizes.D);
                    read.attention_mask.empty() || read.attention_mask[token] != 0)
                    REQUIRE(leaves.data()[i] ==
                            Approx(expected[static_cast<std::size_t>(i)]).margin(2e-5).epsilon(2e-5));
        }
    }
}

namespace {

/// Returns for every model the last attention of each stack, by its number.
std::vector<std::pair<std::string, std::int64_t>> last_attentions() {
    std::vector<std::pair<std::string, std::int64_t>> attentions;
    for (const std::string& name : all_model_names()) {
        const ModelPtr model = case_model(name);
        const Architecture& architecture = model->architecture();
        for (const Stack stack : stacks_of(architecture))
            attentions.emplace_back(
                name, attention_number(architecture, {stack, in_stack(architecture, stack).layers - 1}));
    }
    return attentions;
}

bool is_made_of_other_copies(TensorId id) {
    using enum TensorId;
    return id == predicted || id == laurel_out || id == resid_mid || id == corrected || id == layer_out;
}

} // namespace

TEST_CASE("every stage around attention follows from its sources") {
    for (const auto& [name, n] : last_attentions()) {
        const ModelPtr model = case_model(name);
        const AttentionPlace place = attention_place(model->architecture(), n);
        const Architecture& architecture = in_stack(model->architecture(), place.stack);
        Progress progress;
        const ModelRunPtr run = case_run(model, first_text(name));
        const RunPartPtr block = run->around(n, progress);
        const std::int64_t row = block->T() - 1;
        const auto close = [](float got, double want) {
            CHECK(static_cast<double>(got) == Approx(want).margin(2e-5 * std::max(1.0, std::abs(want))));
        };
        const ModelStages& stages = model->stages();
        for (const TensorId id : stages.in_layer(place)) {
            if (architecture.copies && is_made_of_other_copies(id))
                continue; // from nodes that are not stages; the graph in double precision covers them
            INFO(name << ", " << attention_words(model->architecture(), place) << " "
                      << tensor_info(id).name);
            const Tensor& got = *block->find(id);
            const std::vector<TensorId> from = stages.sources(place, id);
            const std::int64_t column = got.shape().back(0) / 3;
            if (from.empty()) {
                CHECK(id == TensorId::resid_in);
                CHECK(same_bits(got, *run->stream(n)));
            } else if (const auto norm = stages.norm(place, id)) {
                const Tensor& x = *block->find(from.front());
                const TensorPtr bias = norm->bias ? block->weights[*norm->bias] : nullptr;
                double mean = 0, square = 0;
                const auto D = static_cast<double>(architecture.D);
                for (std::int64_t d = 0; d < architecture.D; ++d)
                    mean += is_layer_norm(architecture.norm) ? static_cast<double>(at(x, row, d)) / D : 0;
                for (std::int64_t d = 0; d < architecture.D; ++d)
                    square += std::pow(static_cast<double>(at(x, row, d)) - mean, 2) / D;
                close(at(got, row, column),
                      (static_cast<double>(at(x, row, column)) - mean) /
                              std::sqrt(square + architecture.norm_eps) *
                              static_cast<double>(block->weights[*norm->weight]->data()[column]) +
                          (bias == nullptr ? 0.0 : static_cast<double>(bias->data()[column])));
            } else if (stages.is_sum_of_experts(place, id)) {
                // Each expert has numbers of its own.
                CHECK((block->find(TensorId::mlp_act) == nullptr) == (architecture.d_shared == 0));
            } else if (const auto scale = stages.branch_scale(place, id)) {
                close(at(got, row, column),
                      *scale * static_cast<double>(at(*block->find(from.front()), row, column)));
            } else if (id == TensorId::routing) {
                std::int64_t used = 0; // the operation's tests cover which they are
                for (std::int64_t expert = 0; expert < got.shape().back(0); ++expert)
                    used += at(got, row, expert) != 0 ? 1 : 0;
                CHECK(used == stages.route(place).used);
            } else if (id == TensorId::mlp_act) {
                close(at(got, row, column), block->explain(block->node(id), {0, row, column}).total);
            } else if (id == TensorId::mlp_pre || id == TensorId::mlp_gate ||
                       from.front() == TensorId::mlp_act) {
                const TensorId weight = id == TensorId::mlp_pre    ? TensorId::W_in
                                        : id == TensorId::mlp_gate ? TensorId::W_gate
                                                                   : TensorId::W_out;
                const TensorId bias = id == TensorId::mlp_pre    ? TensorId::b_in
                                      : id == TensorId::mlp_gate ? TensorId::b_gate
                                                                 : TensorId::b_out;
                const TensorPtr& b = block->weights[bias];
                const graph::Node& made = block->graph().node(block->node(id));
                const bool has_fraction = made.op == graph::Op::multiply;
                close(at(got, row, column) /
                          (has_fraction ? block->numbers(made.inputs[1].node)->data()[row] : 1.0F),
                      product(*block->find(from.front()), row, *block->weights[weight], column) +
                          (b == nullptr ? 0.0 : static_cast<double>(b->data()[column])));
            } else {
                double sum = 0;
                for (const TensorId term : from)
                    sum += static_cast<double>(at(*block->find(term), row, column));
                close(at(got, row, column), sum);
            }
        }
    }
}

// The inspector writes this arithmetic.
TEST_CASE("operations explain the numbers of every stage around attention, and of the nodes between stages") {
    for (const auto& [name, n] : last_attentions()) {
        const ModelPtr model = case_model(name);
        const AttentionPlace place = attention_place(model->architecture(), n);
        Progress progress;
        const RunPartPtr part = case_run(model, first_text(name))->around(n, progress);
        const graph::Graph& graph = part->graph();
        std::set<graph::NodeId> nodes;
        const auto add = [&](const auto& self, graph::NodeId id) -> void {
            if (part->numbers(id) == nullptr || graph::is_leaf(graph.node(id).op) ||
                !nodes.insert(id).second || id <= part->node(TensorId::resid_in))
                return;
            if (id != part->node(TensorId::output))
                for (const graph::Reading& input : graph.node(id).inputs)
                    self(self, input.node);
        };
        for (const TensorId id : model->stages().in_layer(place))
            add(add, part->node(id));
        std::size_t explained = 0;
        for (const graph::NodeId id : nodes) {
            const graph::Node& node = graph.node(id);
            INFO(name << " " << node.name);
            if (!part->can_explain(id)) {
                const bool is_of_attention = id == part->node(TensorId::output);
                CHECK((is_of_attention || node.op == graph::Op::expert_sum ||
                       id <= part->node(TensorId::resid_in)));
                continue;
            }
            ++explained;
            const Tensor& numbers = *part->numbers(id);
            for (std::int64_t at = 0; at < numbers.count(); at += 1 + numbers.count() / 7) {
                const auto want = static_cast<double>(numbers.data()[at]);
                CHECK(part->explain(id, numbers.shape().index(at)).total ==
                      Approx(want).margin(5e-5 * std::max(1.0, std::abs(want))));
            }
        }
        CHECK(explained > 0);
    }
}

TEST_CASE("lengths tell how far each layer moves the residual stream") {
    for (const char* const name : {"gpt2_tiny", "bert_tiny", "t5_tiny", "marian_tiny", "mbart_tiny"}) {
        const ModelPtr model = case_model(name);
        const Architecture& architecture = model->architecture();
        Progress progress;
        const ModelRunPtr run = case_run(model, first_text(name));
        for (const Stack stack : stacks_of(architecture)) {
            const StackLengths lengths = run->lengths(stack, progress);
            const Architecture& sizes = in_stack(architecture, stack);
            REQUIRE(std::ssize(lengths.layers) == sizes.layers);
            CHECK(lengths.begin == row_lengths(*run->ends(stack, 0, progress)->find(TensorId::resid_in)));
            for (std::int64_t l = 0; l < sizes.layers; ++l) {
                INFO(name << ", " << attention_words(architecture, {stack, l}));
                const RunPartPtr block = run->around(attention_number(architecture, {stack, l}), progress);
                const TensorId leaves = model->stages().in_layer({stack, l}).back();
                for (std::int64_t row = 0; row < block->T(); ++row) {
                    double square = 0;
                    for (std::int64_t d = 0; d < sizes.D; ++d)
                        square +=
                            std::pow(static_cast<double>(at(*block->find(leaves), row, d)) -
                                         static_cast<double>(at(*block->find(TensorId::resid_in), row, d)),
                                     2);
                    CHECK(lengths.layers[static_cast<std::size_t>(l)][static_cast<std::size_t>(row)] ==
                          Approx(std::sqrt(square)).epsilon(1e-5));
                }
            }
        }
    }
}

// Fails when check_patch refuses every patch of an encoder-decoder.
TEST_CASE(
    "a number set inside an MLP of either stack moves what comes after it, by its row of W_out at first") {
    for (const std::string& name : model_case_names(true)) {
        const ModelPtr model = case_model(name);
        const Architecture& architecture = model->architecture();
        const ModelInputs inputs = first_text(name);
        Progress progress;
        const ModelRunPtr plain = case_run(model, inputs);
        for (std::int64_t n = 0; n < attention_count(architecture); ++n) {
            const AttentionPlace place = attention_place(architecture, n);
            INFO(name << ", " << attention_words(architecture, place));
            constexpr std::int64_t token = 1, unit = 7;
            ModelEdits edits;
            edits[n].patched = {{.at = TensorId::mlp_act,
                                 .first = token,
                                 .rows = std::make_shared<const Tensor>(Shape{1, 1}, 1.5F),
                                 .column = unit}};
            if (place.stack == Stack::own) {
                CHECK_THROWS_WITH(case_run(model, inputs, edits),
                                  Catch::Contains("mlp_act, which cannot be patched there; patch "
                                                  "one of resid_in, attn_out"));
                continue;
            }
            const ModelRunPtr run = case_run(model, inputs, edits);
            const RunPartPtr was = plain->around(n, progress), is = run->around(n, progress);
            CHECK(is->is_set(TensorId::mlp_act, {0, token, unit, 0}));
            CHECK(is->value(TensorId::mlp_act, {0, token, unit, 0}) == 1.5F);
            const double more = 1.5 - static_cast<double>(was->value(TensorId::mlp_act, {0, token, unit, 0}));
            const Tensor& W = *is->weights[TensorId::W_out];
            for (std::int64_t row = 0; row < is->T(); ++row)
                for (std::int64_t d = 0; d < architecture.D; ++d)
                    CHECK(at(*is->find(TensorId::mlp_out), row, d) ==
                          Approx(static_cast<double>(at(*was->find(TensorId::mlp_out), row, d)) +
                                 (row == token ? more * static_cast<double>(at(W, unit, d)) : 0.0))
                              .margin(1e-5));
            CHECK_FALSE(same_bits(*run->logits(), *plain->logits()));
            // A run that shares what comes before is the same.
            CHECK(same_bits(*run->logits(),
                            *ModelRun::compute(model, inputs, edits, plain, {}, progress)->logits()));
        }
    }
}
