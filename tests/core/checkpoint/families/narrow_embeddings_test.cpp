#include "core/analysis/effects/vocabulary_circuit.h"
#include "core/analysis/heads/copying.h"
#include "core/base/file.h"
#include "core/checkpoint/families/families.h"
#include "core/format/safetensors.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;
using Catch::Contains;
using nlohmann::json;

namespace {

/// A golden encoder whose config and tensors a test changes.
struct NarrowModel {
    json config;
    std::map<std::string, TensorPtr> tensors;
    TemporaryFolder folder;

    explicit NarrowModel(const std::string& name) {
        const std::string from = test_data("/models/") + name;
        config = json::parse(read_file(from + "/config.json"));
        const format::Safetensors file = format::Safetensors::open(from + "/model.safetensors");
        for (const format::SafetensorsEntry& entry : file.entries())
            tensors[entry.name] = file.tensor(entry.name);
    }
    Model open() {
        format::SafetensorsWriter writer;
        for (const auto& [name, tensor] : tensors)
            writer.add(name, tensor);
        write_file_atomically(folder.file("config.json"), config.dump());
        write_file_atomically(folder.file("model.safetensors"), writer.bytes());
        return Model::open(folder.file(""));
    }
};

/// Numbers that differ from each other, of about 1 in size.
TensorPtr wavy(const Shape& shape, double step) {
    auto tensor = std::make_shared<Tensor>(shape);
    for (std::int64_t i = 0; i < tensor->count(); ++i)
        tensor->data()[i] = static_cast<float>(std::sin(step * static_cast<double>(i + 1)));
    return tensor;
}

double value(const TensorPtr& matrix, std::int64_t row, std::int64_t column) {
    return static_cast<double>(matrix->data()[row * matrix->shape().back(0) + column]);
}

std::string narrow_fault(const json& config) {
    return input_error([&] { read_architecture(config.dump(), "config.json"); });
}

} // namespace

TEST_CASE("a discriminator of ELECTRA meets Hugging Face's numbers and has no logits") {
    const ModelCase one = load_model_case("electra_tiny");
    const Model model = Model::open(one.folder);
    CHECK(model.problem().empty());
    CHECK(model.report().unknown.empty());
    CHECK_FALSE(model.has_head());
    const ForwardResult run = run_on_cpu(model, one.inputs, {.stages = StageSet().with(TensorId::weights)});
    for (std::int64_t l = 0; l < one.L; ++l)
        CHECK(one.weights_difference(
                  l, *run.layers[static_cast<std::size_t>(l)].trace.stage(TensorId::weights)) < 1e-5);
    for (std::int64_t l = 0; l <= one.L; ++l)
        CHECK(one.hidden_difference(l, *run.hidden[static_cast<std::size_t>(l)]) < 2e-5);
    CHECK(run.logits == nullptr);
}

// Hugging Face's ElectraForMaskedLM (Clark et al. 2020): a dense layer as narrow as the
// embedding, the exact GELU, a LayerNorm, the word table and a bias.
TEST_CASE("a generator of ELECTRA predicts through a dense layer as narrow as its embeddings") {
    NarrowModel changed("electra_tiny");
    const std::int64_t D = 24, width = 14, vocab = 72;
    changed.config["hidden_act"] = "relu"; // in the layers alone
    const TensorPtr dense = wavy(Shape{width, D}, 0.7), dense_bias = wavy(Shape{width}, 0.3),
                    gain = wavy(Shape{width}, 1.1), shift = wavy(Shape{width}, 0.9),
                    bias = wavy(Shape{vocab}, 0.5);
    changed.tensors["generator_predictions.dense.weight"] = dense;
    changed.tensors["generator_predictions.dense.bias"] = dense_bias;
    changed.tensors["generator_predictions.LayerNorm.weight"] = gain;
    changed.tensors["generator_predictions.LayerNorm.bias"] = shift;
    changed.tensors["generator_lm_head.bias"] = bias;
    const TensorPtr words = changed.tensors.at("electra.embeddings.word_embeddings.weight");
    const Model model = changed.open();
    CHECK(model.has_head());
    const ModelCase one = load_model_case("electra_tiny");
    const ForwardResult run = run_on_cpu(model, one.inputs, {});
    REQUIRE(run.logits->shape() == Shape{one.B, one.T, vocab});
    const TensorPtr hidden = run.hidden.back();
    for (std::int64_t row = 0; row < 3; ++row) {
        std::vector<double> h;
        double mean = 0, square = 0;
        for (std::int64_t e = 0; e < width; ++e) {
            double sum = static_cast<double>(dense_bias->data()[e]);
            for (std::int64_t d = 0; d < D; ++d)
                sum += value(dense, e, d) * value(hidden, row, d);
            h.push_back(0.5 * sum * (1 + std::erf(sum / std::sqrt(2.0))));
            mean += h.back() / static_cast<double>(width);
        }
        for (const double number : h)
            square += (number - mean) * (number - mean) / static_cast<double>(width);
        for (std::int64_t id = 0; id < vocab; ++id) {
            double logit = static_cast<double>(bias->data()[id]);
            for (std::int64_t e = 0; e < width; ++e)
                logit += ((h[static_cast<std::size_t>(e)] - mean) / std::sqrt(square + 1e-12) *
                              static_cast<double>(gain->data()[e]) +
                          static_cast<double>(shift->data()[e])) *
                         value(words, id, e);
            CHECK(value(run.logits, row, id) == Approx(logit).margin(1e-4));
        }
    }
}

TEST_CASE("ELECTRA has no map where its embeddings are as wide as its layers") {
    const json config = {{"model_type", "electra"}, {"hidden_size", 64}, {"embedding_size", 64}};
    const Architecture same = read_architecture(config.dump(), "config.json");
    CHECK((same.d_embed == 0 && same.embed_width() == 64));
    CHECK(find_row(same.names.body, TensorId::embedding_map) == nullptr);
    const Architecture narrow = read_architecture(R"({"model_type": "electra"})", "config.json");
    CHECK((narrow.d_embed == 128 && narrow.D == 256 && narrow.H == 4));
    CHECK(file_extents(*find_row(narrow.names.body, TensorId::embedding_map), narrow) ==
          std::vector<std::int64_t>{256, 128});
}

TEST_CASE("layers of ALBERT share the weights of their group") {
    const ModelCase one = load_model_case("albert_tiny");
    NarrowModel changed("albert_tiny");
    changed.config["num_hidden_groups"] = 3;
    const std::string first = "albert.encoder.albert_layer_groups.0.";
    std::map<std::string, TensorPtr> copies;
    for (const auto& [name, tensor] : changed.tensors)
        if (name.starts_with(first))
            for (const char* group : {"1.", "2."})
                copies["albert.encoder.albert_layer_groups." + (group + name.substr(first.size()))] = tensor;
    CHECK_THAT(changed.open().problem(), Contains("albert_layer_groups.1.") && Contains("missing"));
    changed.tensors.insert(copies.begin(), copies.end());
    const ForwardResult same = run_on_cpu(changed.open(), one.inputs, {});
    CHECK(one.logits_difference(*same.logits) < 1e-4);
    const std::string last = "albert.encoder.albert_layer_groups.2.albert_layers.0.attention.dense.bias";
    changed.tensors[last] = wavy(Shape{24}, 0.4);
    const ForwardResult other = run_on_cpu(changed.open(), one.inputs, {});
    CHECK(one.hidden_difference(2, *other.hidden[2]) < 2e-5);
    CHECK(one.hidden_difference(3, *other.hidden[3]) > 1e-2);

    const auto albert = [](const json& more) {
        json config = {{"model_type", "albert"}};
        config.update(more);
        return config;
    };
    CHECK_THAT(narrow_fault(albert({{"num_hidden_groups", 5}})),
               Contains("num_hidden_groups is 5") && Contains("num_hidden_layers = 12"));
    CHECK_THAT(narrow_fault(albert({{"inner_group_num", 2}})), Contains("inner_group_num is 2"));
    changed.tensors["albert.encoder.albert_layer_groups.1.albert_layers.0.extra.weight"] = wavy(Shape{2}, 1);
    CHECK_THAT(changed.open().problem(), Contains("extra.weight"));
}

TEST_CASE("an edited row of narrow embeddings has their width and reaches every number") {
    const ModelCase one = load_model_case("albert_tiny");
    const Model model = Model::open(one.folder);
    const std::int64_t id = one.inputs.ids[1];
    ModelEdits edits;
    edits[0].rows[TensorId::W_E][id] = wavy(Shape{14}, 0.6);
    ForwardOptions options;
    options.edits = edits;
    const ForwardResult run = run_on_cpu(model, one.inputs, options);
    CHECK(one.hidden_difference(0, *run.hidden[0]) > 1e-2);
    NarrowModel changed("albert_tiny");
    const std::string name = "albert.embeddings.word_embeddings.weight";
    auto table =
        std::make_shared<Tensor>(changed.tensors.at(name)->shape(), changed.tensors.at(name)->values());
    std::ranges::copy(edits[0].rows[TensorId::W_E][id]->values(), table->data() + id * 14);
    changed.tensors[name] = table;
    const ForwardResult expected = run_on_cpu(changed.open(), one.inputs, {});
    for (std::int64_t i = 0; i < run.logits->count(); ++i)
        REQUIRE(run.logits->data()[i] == Approx(expected.logits->data()[i]).margin(1e-6));
    options.edits[0].rows[TensorId::W_E][id] = wavy(Shape{24}, 0.6);
    CHECK_THAT(input_error([&] { run_on_cpu(model, one.inputs, options); }), Contains("(14)"));
}

TEST_CASE("circuits of narrow embeddings go through their map and the head's dense layer") {
    const Model model = Model::open(test_data("/models/albert_tiny"));
    const WeightSet layer = model.layer(1);
    const TensorPtr words = model.weight(TensorId::W_E), map = model.weight(TensorId::embedding_map),
                    dense = model.weight(TensorId::head_dense);
    const std::int64_t D = 24, width = 14, dk = 6, head = 2, token = 5, vocab = 72;
    const auto times = [](const std::vector<double>& row, const TensorPtr& matrix, std::int64_t first,
                          std::int64_t count, bool rows) {
        std::vector<double> out;
        for (std::int64_t c = 0; c < count; ++c) {
            double sum = 0;
            for (std::size_t r = 0; r < row.size(); ++r) {
                const auto at = static_cast<std::int64_t>(r);
                sum += row[r] * (rows ? value(matrix, first + c, at) : value(matrix, at, first + c));
            }
            out.push_back(sum);
        }
        return out;
    };
    std::vector<double> e;
    for (std::int64_t c = 0; c < width; ++c)
        e.push_back(value(words, token, c));
    e = times(e, map, 0, D, false);
    const std::vector<double> v = times(e, layer[TensorId::W_V], head * dk, dk, false);
    std::vector<double> written(static_cast<std::size_t>(D), 0.0);
    for (std::int64_t d = 0; d < D; ++d)
        for (std::int64_t c = 0; c < dk; ++c)
            written[static_cast<std::size_t>(d)] +=
                v[static_cast<std::size_t>(c)] * value(layer[TensorId::W_O], head * dk + c, d);
    const std::vector<double> logits = times(times(written, dense, 0, width, false), words, 0, vocab, true);
    const analysis::VocabularyCircuit circuit = analysis::vocabulary_circuit(
        model, {}, 1, head, token, analysis::TokenVector::embedding, 1, Progress());
    const auto best = std::ranges::max_element(logits);
    CHECK(circuit.promoted.front().id == best - logits.begin());
    CHECK(circuit.promoted.front().value == Approx(*best).epsilon(1e-4));
    const std::vector<double> q = times(e, layer[TensorId::W_Q], head * dk, dk, false);
    std::vector<double> wanted(static_cast<std::size_t>(D), 0.0);
    for (std::int64_t d = 0; d < D; ++d)
        for (std::int64_t c = 0; c < dk; ++c)
            wanted[static_cast<std::size_t>(d)] += q[static_cast<std::size_t>(c)] *
                                                   value(layer[TensorId::W_K], d, head * dk + c) /
                                                   std::sqrt(static_cast<double>(dk));
    const std::vector<double> keys = times(times(wanted, map, 0, width, true), words, 0, vocab, true);
    const auto key = std::ranges::max_element(keys);
    CHECK(circuit.looked_for.front().id == key - keys.begin());
    CHECK(circuit.looked_for.front().value == Approx(*key).epsilon(1e-4));
    // The trace of a head's circuit is the sum of its eigenvalues, of which copying is a fraction.
    const auto copying = analysis::ov_copying(model, {}, {1}, Progress());
    REQUIRE(copying.front().size() == 4);
    CHECK(std::ranges::all_of(copying.front(), [](double score) { return std::abs(score) <= 1.0; }));
}
