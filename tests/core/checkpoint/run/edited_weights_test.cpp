#include "core/base/file.h"
#include "core/checkpoint/model/edited_table.h"
#include "core/checkpoint/model/patch_file.h"
#include "core/checkpoint/run/generator.h"
#include "core/checkpoint/run/model_run.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <algorithm>
#include <filesystem>

// A pass with an edit has to be the pass of a checkpoint whose file has the edited number: the file's tensor
// and the place in it are written down here by hand, beside the place in our layout.

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
namespace fs = std::filesystem;

namespace {

using W = WeightId;

/// One number, moved by 0.75.
struct Moved {
    std::int64_t n; ///< attention
    W weight;
    std::int64_t place;      ///< in our layout, row-major
    const char* name;        ///< of the file's tensor
    std::int64_t file_place; ///< row-major
};
struct Case {
    const char* model;
    std::vector<Moved> moved;
};

std::vector<Case> cases() {
    return {
        // (D, d_ff) = (32, 128), stored as in our layout
        {"gpt2_tiny",
         {{1, W::norm1_weight, 3, "transformer.h.1.ln_1.weight", 3},
          {0, W::norm1_bias, 31, "transformer.h.0.ln_1.bias", 31},
          {1, W::norm2_weight, 0, "transformer.h.1.ln_2.weight", 0},
          {1, W::norm2_bias, 5, "transformer.h.1.ln_2.bias", 5},
          {1, W::mlp_in, 2 * 128 + 17, "transformer.h.1.mlp.c_fc.weight", 2 * 128 + 17},
          {0, W::mlp_in_bias, 17, "transformer.h.0.mlp.c_fc.bias", 17},
          {1, W::mlp_out, 17 * 32 + 2, "transformer.h.1.mlp.c_proj.weight", 17 * 32 + 2},
          {1, W::mlp_out_bias, 9, "transformer.h.1.mlp.c_proj.bias", 9},
          {1, W::final_norm_weight, 7, "transformer.ln_f.weight", 7},
          {1, W::final_norm_bias, 7, "transformer.ln_f.bias", 7},
          // tied: the row of a token of the text, and of one that is not in it
          {0, W::word_table, 30 * 32 + 4, "transformer.wte.weight", 30 * 32 + 4},
          {0, W::word_table, 199 * 32, "transformer.wte.weight", 199 * 32},
          {0, W::position_table, 2 * 32 + 9, "transformer.wpe.weight", 2 * 32 + 9}}},
        // (64, 96), stored as (d_out, d_in)
        {"llama_tiny_untied",
         {{0, W::norm1_weight, 3, "model.layers.0.input_layernorm.weight", 3},
          {1, W::norm2_weight, 4, "model.layers.1.post_attention_layernorm.weight", 4},
          {1, W::mlp_in, 5 * 96 + 11, "model.layers.1.mlp.up_proj.weight", 11 * 64 + 5},
          {1, W::mlp_gate, 6 * 96 + 12, "model.layers.1.mlp.gate_proj.weight", 12 * 64 + 6},
          {0, W::mlp_out, 7 * 64 + 13, "model.layers.0.mlp.down_proj.weight", 13 * 96 + 7},
          {1, W::final_norm_weight, 8, "model.norm.weight", 8},
          {0, W::word_table, 12 * 64 + 3, "model.embed_tokens.weight", 12 * 64 + 3},
          {1, W::output_table, 12 * 64 + 3, "lm_head.weight", 12 * 64 + 3}}},
        // an output bias
        {"phi_tiny",
         {{1, W::output_table, 149 * 32 + 31, "lm_head.weight", 149 * 32 + 31},
          {1, W::output_bias, 7, "lm_head.bias", 7}}},
        // a mixture of experts; the router is stored as (experts, D) = (4, 40)
        {"gpt_oss_tiny",
         {{0, W::router, 5 * 4 + 2, "model.layers.0.mlp.router.weight", 2 * 40 + 5},
          {1, W::router_bias, 3, "model.layers.1.mlp.router.bias", 3}}},
        // norms behind the branches; the file holds the weights of norms minus 1
        {"gemma2_tiny",
         {{0, W::word_table, 5 * 40 + 1, "model.embed_tokens.weight", 5 * 40 + 1},
          {0, W::norm1_after_weight, 3, "model.layers.0.post_attention_layernorm.weight", 3},
          {1, W::norm2_weight, 3, "model.layers.1.pre_feedforward_layernorm.weight", 3},
          {1, W::norm2_after_weight, 4, "model.layers.1.post_feedforward_layernorm.weight", 4},
          {3, W::final_norm_weight, 39, "model.norm.weight", 39}}},
        // norms after the sums, no final norm
        {"bert_tiny",
         {{0, W::norm1_weight, 3, "bert.encoder.layer.0.attention.output.LayerNorm.weight", 3},
          {1, W::norm2_bias, 4, "bert.encoder.layer.1.output.LayerNorm.bias", 4},
          {1, W::mlp_in, 5 * 64 + 11, "bert.encoder.layer.1.intermediate.dense.weight", 11 * 32 + 5},
          {0, W::mlp_out_bias, 6, "bert.encoder.layer.0.output.dense.bias", 6},
          {0, W::word_table, 12 * 32 + 6, "bert.embeddings.word_embeddings.weight", 12 * 32 + 6},
          {0, W::position_table, 4 * 32 + 6, "bert.embeddings.position_embeddings.weight", 4 * 32 + 6},
          {1, W::output_bias, 8, "cls.predictions.bias", 8}}},
        // attention and MLP side by side
        {"gpt_neox_tiny",
         {{1, W::norm2_weight, 3, "gpt_neox.layers.1.post_attention_layernorm.weight", 3},
          {0, W::mlp_out, 7 * 64 + 13, "gpt_neox.layers.0.mlp.dense_4h_to_h.weight", 13 * 72 + 7}}},
        // gate and in lie in one tensor, (2 · 80, 64), the gate first
        {"phi3_tiny",
         {{1, W::mlp_gate, 6 * 80 + 12, "model.layers.1.mlp.gate_up_proj.weight", 12 * 64 + 6},
          {1, W::mlp_in, 6 * 80 + 12, "model.layers.1.mlp.gate_up_proj.weight", (80 + 12) * 64 + 6}}},
        // attentions: encoder 0 and 1, then of each decoder layer its own (2, 4) and the cross-attention (3,
        // 5)
        {"t5_tiny",
         {{1, W::norm2_weight, 3, "encoder.block.1.layer.1.layer_norm.weight", 3},
          {0, W::mlp_in, 5 * 64 + 11, "encoder.block.0.layer.1.DenseReluDense.wi.weight", 11 * 32 + 5},
          {1, W::final_norm_weight, 4, "encoder.final_layer_norm.weight", 4},
          {4, W::norm1_weight, 5, "decoder.block.1.layer.0.layer_norm.weight", 5},
          {5, W::norm1_weight, 6, "decoder.block.1.layer.1.layer_norm.weight", 6},
          {5, W::mlp_out, 7 * 32 + 13, "decoder.block.1.layer.2.DenseReluDense.wo.weight", 13 * 64 + 7},
          {5, W::final_norm_weight, 8, "decoder.final_layer_norm.weight", 8}}},
    };
}

constexpr float moved_by = 0.75F;

ModelPtr model_named(const std::string& name) {
    return std::make_shared<const Model>(Model::open(test_data("/models/") + name));
}

TensorPtr with_number_moved(const Tensor& tensor, std::int64_t place) {
    auto out = std::make_shared<Tensor>(tensor.shape(), tensor.values());
    out->data()[place] += moved_by;
    return out;
}

ModelEdits edits_for(const Model& model, const std::vector<Moved>& moved) {
    ModelEdits edits;
    for (const Moved& one : moved) {
        if (is_table(one.weight)) {
            const EditedTable table(model, {}, one.weight);
            const std::int64_t D = model.architecture().D, row = one.place / D;
            edits[one.n].rows[one.weight][row] =
                with_number_moved(Tensor(Shape{D}, table.row(row)), one.place % D);
            continue;
        }
        edits[one.n].tensors[one.weight] =
            with_number_moved(*editable_weights(model, one.n)[one.weight], one.place);
    }
    return edits;
}

/// The checkpoint with the numbers moved in its file.
ModelPtr moved_in_file(const TemporaryFolder& folder, const std::string& name,
                       const std::vector<Moved>& moved) {
    const std::string from = test_data("/models/") + name, to = folder.file(name);
    fs::create_directories(to);
    fs::copy_file(from + "/config.json", to + "/config.json", fs::copy_options::overwrite_existing);
    const format::Safetensors tensors = format::Safetensors::open(from + "/model.safetensors");
    format::SafetensorsWriter writer;
    for (const format::SafetensorsEntry& entry : tensors.entries()) {
        if (entry.dtype == "I64") {
            writer.add_integers(entry.name, Shape{entry.extents[0]}, tensors.integers(entry.name));
            continue;
        }
        TensorPtr tensor = tensors.tensor(entry.name);
        for (const Moved& one : moved)
            if (entry.name == one.name)
                tensor = with_number_moved(*tensor, one.file_place);
        writer.add(entry.name, tensor);
    }
    writer.set_metadata("format", "pt");
    write_file_atomically(to + "/model.safetensors", writer.bytes());
    return std::make_shared<const Model>(Model::open(to));
}

ModelInputs text_for(const Model& model) {
    const auto of = [](std::vector<std::int64_t> ids) {
        ModelInputs inputs;
        inputs.T = std::ssize(ids);
        inputs.ids = std::move(ids);
        return inputs;
    };
    ModelInputs inputs = of({0, 7, 30, 12, 5});
    if (model.encoder() != nullptr)
        inputs.source = {of({5, 17, 32, 29, 3, 8})};
    return inputs;
}

ModelRunPtr run_of(const ModelPtr& model, const ModelEdits& edits, const ModelRunPtr& before = nullptr) {
    Progress progress;
    return ModelRun::compute(model, text_for(*model), edits, before, {}, progress);
}

/// 0 but for weights that a family stores otherwise: 1 + (w + moved_by) is not (1 + w) + moved_by to the last
/// bit.
double largest_gap(const Tensor& a, const Tensor& b) {
    REQUIRE(a.shape() == b.shape());
    double largest = 0;
    for (std::int64_t i = 0; i < a.count(); ++i)
        largest = std::max(largest, std::abs(static_cast<double>(a.data()[i]) - b.data()[i]));
    return largest;
}

void check_same(const ModelRun& edited, const ModelRun& in_file, double allowed) {
    const Architecture& a = edited.model().architecture();
    for (std::int64_t l = 0; l <= a.layers; ++l)
        CHECK(largest_gap(*edited.hidden(l), *in_file.hidden(l)) <= allowed);
    for (std::int64_t n = 0; n < attention_count(a); ++n)
        CHECK(largest_gap(*edited.weights(n), *in_file.weights(n)) <= allowed);
    CHECK(largest_gap(*edited.logits(), *in_file.logits()) <= allowed);
}

} // namespace

// Fails when ForwardPass::layer returns model_.layer(n) alone, and for the final norm when final_normed reads
// the model's own weights.
TEST_CASE("a pass with edited norms and MLP is that of a checkpoint whose file has the edited numbers") {
    for (const Case& c : cases()) {
        const TemporaryFolder folder;
        const ModelPtr model = model_named(c.model);
        const double allowed = model->architecture().norm == NormKind::rms_plus_one ? 1e-5 : 0;
        const ModelRunPtr plain = run_of(model, {});
        for (const Moved& one : c.moved) {
            INFO(c.model << " " << one.name);
            const ModelEdits edits = edits_for(*model, {one});
            const ModelRunPtr edited = run_of(model, edits, plain);
            check_same(*edited, *run_of(moved_in_file(folder, c.model, {one}), {}), allowed);
            CHECK(edited->computed_from() == one.n);
            CHECK(largest_gap(*edited->logits(), *plain->logits()) > 1e-6);
            // What is shared with a run before has no trace in the numbers, in either direction.
            check_same(*edited, *run_of(model, edits), 0);
            check_same(*run_of(model, {}, edited), *plain, 0);
        }
        INFO(c.model << ", all at once");
        check_same(*run_of(model, edits_for(*model, c.moved)),
                   *run_of(moved_in_file(folder, c.model, c.moved), {}), allowed);
    }
}

TEST_CASE("the weights of a model's ends are those of a checkpoint whose file has the edited numbers") {
    int moved = 0;
    for (const Case& c : cases()) {
        const TemporaryFolder folder;
        const ModelPtr model = model_named(c.model), in_file = moved_in_file(folder, c.model, c.moved);
        const ModelEdits edits = edits_for(*model, c.moved);
        const double allowed = model->architecture().norm == NormKind::rms_plus_one ? 1e-5 : 0;
        for (const W weight : {W::word_table, W::position_table, W::output_table, W::output_bias,
                               W::final_norm_weight, W::final_norm_bias}) {
            INFO(c.model << " " << tensor_info(*tensor_of(weight)).name);
            const TensorPtr own = model->weight(weight), found = edited_end_weight(*model, edits, weight);
            REQUIRE((found == nullptr) == (own == nullptr));
            if (own == nullptr)
                continue;
            CHECK(largest_gap(*found, *in_file->weight(weight)) <= allowed);
            moved += largest_gap(*found, *own) > 0 ? 1 : 0;
        }
        if (const Model* const encoder = model->encoder(); encoder != nullptr) {
            const TensorPtr found = edited_end_weight(*encoder, edits, W::final_norm_weight);
            CHECK(largest_gap(*found, *in_file->encoder()->weight(W::final_norm_weight)) == 0);
            CHECK(largest_gap(*found, *encoder->weight(W::final_norm_weight)) > 0);
        }
    }
    CHECK(moved > 8);
}

TEST_CASE("the parts of the block follow edits of norms and MLP, and end in the run's own hidden states") {
    for (const Case& c : cases()) {
        const ModelPtr model = model_named(c.model);
        if (model->encoder() != nullptr)
            continue;
        INFO(c.model);
        const ModelEdits edits = edits_for(*model, c.moved);
        const ModelRunPtr run = run_of(model, edits);
        Progress progress;
        const std::int64_t L = model->architecture().layers;
        const BlockTracePtr first = run->block(0, progress), ends = run->ends(2, progress);
        const bool after_sum = model->architecture().norms.after_sum;
        CHECK(same_bits(*(*first)[after_sum ? TensorId::norm2 : TensorId::resid_out], *run->hidden(1)));
        if (model->architecture().final_norm)
            CHECK(same_bits(*(*ends)[TensorId::final_norm], *run->hidden(L)));
        for (const Moved& one : c.moved) {
            const TensorId id = *tensor_of(one.weight);
            const BlockTracePtr block = is_of_layer(id) ? run->block(one.n, progress) : ends;
            INFO(one.name);
            if (is_table(one.weight)) {
                const std::int64_t D = model->architecture().D;
                const Index at{one.place / D, one.place % D, 0, 0};
                CHECK(block->own_value(id, at) + moved_by == block->value(id, at));
                continue;
            }
            CHECK(block->find(*tensor_of(one.weight)) == edits.at(one.n).tensors.at(one.weight));
            CHECK(block->own[one.weight]->data()[one.place] + moved_by ==
                  block->weights[one.weight]->data()[one.place]);
        }
    }
}

TEST_CASE("generation under a patch of norms and MLP is that of the edited checkpoint") {
    for (const Case& c : cases()) {
        const TemporaryFolder folder;
        const ModelPtr model = model_named(c.model);
        if (!model->architecture().causal || model->architecture().norm == NormKind::rms_plus_one)
            continue;
        INFO(c.model);
        const std::string patch = folder.file("edits.safetensors");
        save_patch(*model, edits_for(*model, c.moved), patch);
        const auto written = [](const ModelPtr& by, const ModelEdits& edits) {
            Generator generator(by, text_for(*by), edits);
            Progress progress;
            std::vector<float> logits;
            for (int step_at = 0; step_at < 4; ++step_at) {
                const std::span<const float> now = generator.logits(progress);
                logits.insert(logits.end(), now.begin(), now.end());
                generator.append(std::ranges::max_element(now) - now.begin());
            }
            logits.insert(logits.end(), generator.ids().begin(), generator.ids().end());
            return logits;
        };
        const auto patched = written(model, load_patch(*model, patch));
        CHECK(patched == written(moved_in_file(folder, c.model, c.moved), {}));
        CHECK(patched != written(model, {}));
    }
}

TEST_CASE("weights that cannot be edited are refused with one sentence") {
    const ModelPtr gpt2 = model_named("gpt2_tiny"), experts = model_named("gpt_oss_tiny");
    const auto fault = [](const Model& model, std::int64_t n, W weight, const TensorPtr& tensor) {
        return input_error([&] { check_edits(model, {{n, {.tensors = {{weight, tensor}}, .gains = {}}}}); });
    };
    using Catch::Matchers::Contains;
    const auto of = [](Shape shape) { return std::make_shared<const Tensor>(shape, 0.5F); };
    CHECK(fault(*gpt2, 1, W::final_norm_weight, of(Shape{32})).empty());
    CHECK_THAT(fault(*gpt2, 0, W::final_norm_weight, of(Shape{32})),
               Contains("layer 0") && Contains("final_norm_weight, which it does not have"));
    CHECK_THAT(fault(*gpt2, 0, W::mlp_gate, of(Shape{32, 128})), Contains("W_gate, which it does not have"));
    CHECK_THAT(fault(*gpt2, 0, W::mlp_in, of(Shape{128, 32})), Contains("W_in") && Contains("(32, 128)"));
    CHECK_THAT(fault(*gpt2, 0, W::word_table, of(Shape{200, 32})), Contains("give the rows"));
    CHECK_THAT(fault(*gpt2, 0, W::embedding_norm_weight, of(Shape{32})), Contains("no part of attention"));
    const auto row_fault = [&](const Model& model, std::int64_t n, W table, std::int64_t row, Shape shape) {
        return input_error([&] {
            check_edits(model, {{n, {.tensors = {}, .gains = {}, .rows = {{table, {{row, of(shape)}}}}}}});
        });
    };
    CHECK(row_fault(*gpt2, 0, W::word_table, 199, {32}).empty());
    CHECK_THAT(row_fault(*gpt2, 0, W::word_table, 200, {32}),
               Contains("row 200 of W_E") && Contains("0 to 199"));
    CHECK_THAT(row_fault(*gpt2, 0, W::position_table, 3, {31}), Contains("(31)") && Contains("(32)"));
    CHECK_THAT(row_fault(*gpt2, 1, W::word_table, 3, {32}), Contains("first layer"));
    // W_U is W_E there, and is edited as W_E.
    CHECK_THAT(row_fault(*gpt2, 1, W::output_table, 3, {32}), Contains("rows of W_U"));
    CHECK_THAT(row_fault(*model_named("t5_tiny"), 0, W::word_table, 3, {32}), Contains("one stack"));
    CHECK_THAT(fault(*experts, 0, W::experts_out, of(Shape{4, 24, 40})), Contains("no part of attention"));
    CHECK(fault(*experts, 0, W::norm2_weight, of(Shape{40})).empty());
}
