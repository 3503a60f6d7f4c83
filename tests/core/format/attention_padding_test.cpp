#include "core/analysis/heads/head_map.h"
#include "core/analysis/read_set.h"
#include "core/base/file.h"
#include "core/engine/engine.h"
#include "core/export/trace_export.h"
#include "core/format/attention_file.h"
#include "core/format/npy.h"
#include "core/format/safetensors.h"
#include "tests/catch.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"

#include <cmath>
#include <cstring>
#include <memory>

// Rows of padding, and rows that a learned sink takes a part of, in files of attention weights.

namespace headscope::test {

using namespace headscope::format;
namespace {

constexpr std::int64_t padded_T = 6, padded_H = 2;
const char* const padded_tokens = R"(["[CLS]", "a", "b", "a", "[PAD]", "[PAD]"])";
const char* const plain_tokens = R"(["the", "a", "b", "a", "x", "y"])";

/// Two heads of six tokens. The last two rows are not from a softmax: logits and NaN; with `cut` they are
/// zeros, which are left out of measurements.
Tensor padded_weights(bool cut) {
    Tensor weights(Shape{1, padded_H, padded_T, padded_T}, 0.0F);
    for (std::int64_t h = 0; h < padded_H; ++h)
        for (std::int64_t i = 0; i < 4; ++i) {
            weights.at(0, h, i, i) = 0.25F;
            weights.at(0, h, i, i == 0 ? 1 : i - 1) = h == 0 ? 0.75F : 0.5F;
            weights.at(0, h, i, 3 - i == i ? 0 : 3 - i) += h == 0 ? 0.0F : 0.25F;
        }
    for (std::int64_t h = 0; h < padded_H && !cut; ++h)
        for (std::int64_t j = 0; j < padded_T; ++j) {
            weights.at(0, h, 4, j) = 3.5F - static_cast<float>(j);
            weights.at(0, h, 5, j) = NAN;
        }
    return weights;
}

using Notes = std::map<std::string, std::string>;

void put_weights(const std::string& path, const Notes& notes, const TensorPtr& float_mask = nullptr,
                 const std::vector<std::int64_t>& mask = {}) {
    SafetensorsWriter writer;
    writer.add("attentions", std::make_shared<const Tensor>(padded_weights(false)));
    if (float_mask != nullptr)
        writer.add("attention_mask", float_mask);
    if (!mask.empty())
        writer.add_integers("attention_mask", Shape{1, std::ssize(mask)}, mask);
    for (const auto& [key, text] : notes)
        writer.set_metadata(key, text);
    write_file_atomically(path, writer.bytes());
}

/// Compares what is measured of the file's heads with that of the same heads whose last rows are zeros.
void check_left_out(const std::string& path, const std::vector<std::string>& tokens) {
    const AttentionSetPtr set = open_attention_file(path);
    const Tensor cut = padded_weights(true);
    const std::vector<analysis::HeadMap> maps = analysis::head_maps(*set, 0, 16, Progress());
    REQUIRE(std::ssize(maps) == padded_H);
    for (std::int64_t h = 0; h < padded_H; ++h) {
        const analysis::HeadFacts& found = maps[static_cast<std::size_t>(h)].facts;
        const analysis::HeadFacts wanted = analysis::head_facts(
            cut.values().subspan(static_cast<std::size_t>(h * padded_T * padded_T), padded_T * padded_T),
            padded_T, padded_T, 1e-4F, {.keys = tokens});
        CHECK_FALSE(found.flagged());
        CHECK(found.metrics.scores == wanted.metrics.scores);
        CHECK(found.metrics.labelled == wanted.metrics.labelled);
        CHECK(found.empty_rows == 0);
        CHECK(found.strongest.front().value == wanted.strongest.front().value);
    }
}

const std::vector<std::string> padded_words{"[CLS]", "a", "b", "a", "[PAD]", "[PAD]"},
    plain_words{"the", "a", "b", "a", "x", "y"};

} // namespace

TEST_CASE("rows of padding count in no score, label or warning of the board", "[attention]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.safetensors");
    SECTION("the tokens tell") {
        put_weights(path, {{"tokens", padded_tokens}});
        check_left_out(path, padded_words);
    }
    SECTION("a mask tells") {
        put_weights(path, {{"tokens", plain_tokens}}, nullptr, {1, 1, 1, 1, 0, 0});
        check_left_out(path, plain_words);
    }
    SECTION("a mask that is added tells") {
        const float least = std::numeric_limits<float>::lowest();
        put_weights(path, {{"tokens", plain_tokens}},
                    make_tensor({1, 1, 1, 6}, std::vector<float>{0, 0, 0, 0, least, least}));
        check_left_out(path, plain_words);
    }
    SECTION("a mask of floats tells, without tokens") {
        put_weights(path, {}, make_tensor({6}, std::vector<float>{1, 1, 1, 1, 0, 0}));
        check_left_out(path, {});
    }
    SECTION("a list beside a .npy file tells") {
        const std::string npy = folder.file("b.npy");
        write_file_atomically(npy, npy_bytes(padded_weights(false)));
        write_file_atomically(folder.file("b.tokens.json"), std::string(R"({"tokens": )") + plain_tokens +
                                                                R"(, "attention_mask": [1, 1, 1, 1, 0, 0]})");
        check_left_out(npy, plain_words);
        write_file_atomically(folder.file("b.tokens.json"), std::string(R"({"tokens": )") + plain_tokens +
                                                                R"(, "attention_mask": [1, 0]})");
        CHECK_THAT(input_error([&] { open_attention_file(npy); }),
                   Catch::Contains("2 numbers for 6 queries"));
    }
    SECTION("nothing tells, and the rows are flagged") {
        put_weights(path, {{"tokens", plain_tokens}});
        const auto maps = analysis::head_maps(*open_attention_file(path), 0, 16, Progress());
        CHECK(maps[0].facts.rows_off > 0);
        CHECK(maps[0].facts.not_finite == 6);
    }
    SECTION("a mask that does not fit the queries is no mask of theirs") {
        put_weights(path, {{"tokens", plain_tokens}}, nullptr, {1, 1, 0});
        CHECK(open_attention_file(path)->padding(0) == std::vector<bool>(6, false));
    }
}

TEST_CASE("what is read of padded weights knows the padding, and each sequence has its own", "[attention]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.safetensors");
    put_weights(path, {{"tokens", R"(["[CLS]", "un", "##do", "a", "[PAD]", "[PAD]"])"}});
    const AttentionSetPtr merged = analysis::with_reading(open_attention_file(path), {.merge_words = true});
    CHECK(merged->padding(0) == std::vector<bool>{false, false, false, true, true});

    SafetensorsWriter writer;
    writer.add("attentions", std::make_shared<const Tensor>(Shape{2, 1, 3, 3}, 1.0F / 3));
    writer.set_metadata("tokens", R"([["[PAD]", "a", "b"], ["c", "[PAD]", "<pad>"]])");
    write_file_atomically(path, writer.bytes());
    const AttentionSetPtr set = open_attention_file(path);
    CHECK(set->padding(0) == std::vector<bool>{true, false, false});
    CHECK(set->padding(1) == std::vector<bool>{false, true, true});
    CHECK(set->padding(0).size() == 3);
}

TEST_CASE("examples of a score come from no row of padding", "[attention]") {
    const Tensor weights = padded_weights(false);
    const std::span<const float> head = weights.values().first(padded_T * padded_T);
    analysis::HeadTokens tokens{.keys = padded_words};
    tokens.padding = {false, false, false, false, true, true};
    for (const analysis::PlacedWeight& cell : analysis::acting_cells(
             analysis::HeadScore::previous, head, padded_T, analysis::key_facts(tokens), 6))
        CHECK(cell.i < 4);
}

TEST_CASE("a trace of a problem with sinks is opened with what the sinks took", "[attention]") {
    const TemporaryFolder folder;
    Problem problem;
    problem.dims = {.B = 1, .Tq = 4, .Tk = 4, .D = 4, .Dkv = 4, .H = 2, .Hkv = 2, .dk = 2, .dv = 2};
    const auto numbers = [](const Shape& shape, float step) {
        Tensor tensor(shape);
        float value = -0.7F;
        for (float& number : tensor.values())
            number = value = value > 0.9F ? value - 1.7F : value + step;
        return std::make_shared<const Tensor>(std::move(tensor));
    };
    problem.x = numbers({1, 4, 4}, 0.37F);
    problem.weights.W_Q = numbers({4, 4}, 0.23F);
    problem.weights.W_K = numbers({4, 4}, 0.41F);
    problem.weights.W_V = numbers({4, 4}, 0.31F);
    problem.weights.W_O = numbers({4, 4}, 0.29F);
    problem.weights.sink = make_tensor({2}, std::vector<float>{0.5F, -1});
    problem.mask = {CausalMask{}};
    const Trace trace = engine::make_engine("cpu")->run(problem);
    const std::string path = folder.file("trace.safetensors");
    exporting::export_trace(problem, trace, {.stages = StageSet().with(TensorId::weights)}, path, Progress());
    const AttentionSetPtr set = open_attention_file(path);
    CHECK(set->info().sinks);
    const Tensor& weights = *trace.stage(TensorId::weights);
    for (std::int64_t h = 0; h < 2; ++h) {
        const std::vector<float> shares = set->sink_shares(0, h);
        REQUIRE(shares.size() == 4);
        for (std::int64_t i = 0; i < 4; ++i) {
            double sum = 0;
            for (std::int64_t j = 0; j < 4; ++j)
                sum += static_cast<double>(weights.at(0, h, i, j));
            CHECK(sum < 0.99); // the sink took a part
            CHECK(static_cast<double>(shares[static_cast<std::size_t>(i)]) == Approx(1 - sum).margin(1e-6));
            CHECK_FALSE(set->is_off(0, h, i, sum));
            CHECK(set->is_off(0, h, i, sum - 0.01));
        }
    }
    for (const analysis::HeadMap& map : analysis::head_maps(*set, 0, 16, Progress()))
        CHECK_FALSE(map.facts.flagged());

    // Weights that were changed after the softmax are noticed all the same.
    SafetensorsWriter writer;
    Tensor changed(weights.shape(), weights.values());
    changed.at(0, 1, 2, 1) *= 0.5F;
    writer.add("weights", std::make_shared<const Tensor>(std::move(changed)));
    writer.add("sink", Safetensors::open(path).tensor("sink"));
    write_file_atomically(path, writer.bytes());
    const auto maps = analysis::head_maps(*open_attention_file(path), 0, 16, Progress());
    CHECK_FALSE(maps[0].facts.flagged());
    CHECK(maps[1].facts.rows_off == 1);
    CHECK(maps[1].facts.worst_row == 2);
}

} // namespace headscope::test
