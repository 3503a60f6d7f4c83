#include "core/analysis/attention_set.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/engine/engine.h"
#include "core/export/trace_export.h"
#include "core/format/attention_file.h"
#include "core/format/attention_tokens.h"
#include "core/text/preset.h"
#include "tests/catch.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

using namespace headscope;
using namespace headscope::format;

namespace {

std::string data(const std::string& name) {
    return test_data("/attention/" + name);
}

float number_of(const nlohmann::json& value) {
    if (value.is_number())
        return value.get<float>();
    return value == "nan" ? NAN : INFINITY;
}

bool same(float a, float b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

std::string fault_of(const std::string& name) {
    return input_error([&] { open_attention_file(data(name)); });
}

/// A .npy header of float16 zeros and no data.
std::string float_npy_header(const std::string& shape) {
    std::string text = "{'descr': '<f2', 'fortran_order': False, 'shape': " + shape + ", }";
    text.append(118 - text.size() - 1, ' ');
    text += '\n';
    text.insert(0, "\x93NUMPY\x01\x00\x76\x00", 10);
    return text;
}

} // namespace

TEST_CASE("attention files hold what NumPy wrote, in every type and layout") {
    const nlohmann::json expected = parse_json(read_file(data("expected.json")), "expected.json");
    REQUIRE(expected.size() >= 9);
    for (const auto& [name, held] : expected.items()) {
        INFO(name);
        const AttentionSetPtr set = open_attention_file(data(name));
        const AttentionInfo& info = set->info();
        CHECK(info.L * info.H * info.Tq * info.Tk == static_cast<std::int64_t>(held.at("numbers").size()));
        CHECK(info.numbers.size() == static_cast<std::size_t>(info.L));
        std::size_t n = 0;
        std::vector<float> head(static_cast<std::size_t>(info.Tq * info.Tk));
        for (std::int64_t l = 0; l < info.L; ++l) {
            const TensorPtr layer = set->layer(l);
            REQUIRE(layer->shape() == Shape{1, info.H, info.Tq, info.Tk});
            for (std::int64_t h = 0; h < info.H; ++h) {
                set->read_head(l, h, head);
                for (std::int64_t cell = 0; cell < info.Tq * info.Tk; ++cell, ++n) {
                    const float wanted = number_of(held.at("numbers")[n]);
                    CHECK(same(head[static_cast<std::size_t>(cell)], wanted));
                    CHECK(same(layer->data()[h * info.Tq * info.Tk + cell], wanted));
                }
            }
        }
    }
}

TEST_CASE("a part of a head is read by itself, in every type", "[attention]") {
    for (const char* const name :
         {"lh_f32.npy", "lh_f64.npy", "l1h_f16.npy", "wide_f32.npy", "odd_f32.npy", "layers_f16.safetensors",
          "one_bf16.safetensors", "named_f64.safetensors"}) {
        INFO(name);
        const AttentionSetPtr set = open_attention_file(data(name));
        const AttentionInfo& info = set->info();
        for (std::int64_t l = 0; l < info.L; ++l)
            for (std::int64_t h = 0; h < info.H; ++h)
                for (const MapPart& part : {MapPart{1, 0, info.Tq - 1, info.Tk},
                                            MapPart{0, 1, info.Tq, info.Tk - 1}, MapPart{2, 2, 1, 1}}) {
                    std::vector<float> got(static_cast<std::size_t>(part.rows * part.cols));
                    set->read_part(l, h, part, got);
                    for (std::size_t n = 0; n < got.size(); ++n) {
                        const auto at = static_cast<std::int64_t>(n);
                        CHECK(same(got[n], set->layer(l)->at(0, h, part.row + at / part.cols,
                                                             part.col + at % part.cols)));
                    }
                }
    }
}

TEST_CASE("attention files say what their axes, layers and tokens are") {
    const AttentionSetPtr one = open_attention_file(data("h_f16.npy"));
    CHECK(one->info().L == 1);
    CHECK(one->info().held_as == "float16");
    CHECK(one->query_tokens(0) == std::vector<std::string>{"The", "cat", "sat", "à"});
    CHECK(&one->key_tokens(0) == &one->query_tokens(0));

    const AttentionSetPtr wide = open_attention_file(data("wide_f32.npy"));
    CHECK(wide->info().Tq == 3);
    CHECK(wide->info().Tk == 5);
    CHECK(wide->key_tokens(0) == std::vector<std::string>{"v", "w", "x", "y", "z"});

    const AttentionSetPtr sequences = open_attention_file(data("sequences.npy"));
    CHECK(sequences->info().axis == SetAxis::sequences);
    CHECK(sequences->query_tokens(1) == std::vector<std::string>{"uno", "␣", "⏎"});
    CHECK(analysis::head_name(sequences->info(), 1, 0) == "B1 H0");

    const AttentionSetPtr layers = open_attention_file(data("layers_f16.safetensors"));
    CHECK(layers->info().numbers == std::vector<std::int64_t>{2, 10, 11});
    CHECK(layers->info().tensor == "layers.{l}.weights");
    CHECK(analysis::head_name(layers->info(), 2, 1) == "L11 H1");

    CHECK(open_attention_file(data("one_bf16.safetensors"))->query_tokens(1).size() == 4);
    CHECK(open_attention_file(data("named_f64.safetensors"))->info().tensor == "attentions");
}

TEST_CASE("a trace of the program's own opens as attention") {
    const test::TemporaryFolder folder;
    const auto built = text::build_preset("first-lesson", "The cat sat down");
    const auto engine = engine::make_engine("cpu");
    const Trace trace = static_cast<engine::Engine&>(*engine).run(built.problem);
    const std::string path = folder.file("trace.safetensors");
    exporting::export_trace(built.problem, trace, {.format = exporting::TraceFormat::safetensors}, path);
    const AttentionSetPtr set = open_attention_file(path);
    CHECK(set->info().tensor == "weights");
    CHECK(set->query_tokens(0) == built.problem.tokens);
    const auto values = trace.stage(TensorId::weights)->values();
    CHECK(std::ranges::equal(set->layer(0)->values(), values));
}

TEST_CASE("attention files that are no such files are refused with one sentence") {
    const std::pair<const char*, const char*> faults[] = {
        {"bad_rank2.npy", "has 2 axes"},
        {"bad_rank5.npy", "choose one with --batch 0 to 1"},
        {"bad_integers.npy", "numbers of the type <i8"},
        {"bad_big_endian.npy", "big-endian"},
        {"bad_fortran.npy", "Fortran order"},
        {"bad_empty.npy", "is empty"},
        {"bad_records.npy", "records with named fields"},
        {"bad_objects.npy", "Python objects"},
        {"bad_tokens.npy", "has 2 tokens for 4 queries"},
        {"bad_cut.npy", "was cut short"},
        {"bad_header.npy", "damaged .npy header"},
        {"bad_two.safetensors", "no tensor that is clearly attention weights"},
        {"bad_layers.safetensors", "all layers should have the same"},
        {"bad_none.safetensors", "ids (2, 3) I64"},
        {"missing.npy", "No such file"},
    };
    for (const auto& [name, part] : faults) {
        INFO(name);
        const std::string fault = fault_of(name);
        INFO(fault);
        CHECK(fault.find(part) != std::string::npos);
        CHECK(fault.find('\n') == std::string::npos);
    }
}

TEST_CASE("headers that lie about the size are refused") {
    const test::TemporaryFolder folder;
    const std::pair<const char*, const char*> lies[] = {
        {"(9223372036854775807, 9223372036854775807, 2, 2)", "was cut short"},
        {"(100, 12, 2048, 2048)", "was cut short"},
        {"(1, 0, 9223372036854775807)", "was cut short"},
        {"(1, 2, -3)", "has a damaged .npy header"},
        {"(70000, 1, 1)", "was cut short"}};
    for (const auto& [shape, part] : lies) {
        INFO(shape);
        write_file_atomically(folder.file("lie.npy"), float_npy_header(shape));
        CHECK_THAT(input_error([&] { open_attention_file(folder.file("lie.npy")); }),
                   Catch::Contains("lie.npy") && Catch::Contains(part));
    }
}

TEST_CASE("ten gigabytes open at once and are read one layer at a time") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("large.npy");
    const std::string header = float_npy_header("(100, 12, 2048, 2048)");
    const std::uint64_t head = 2048ULL * 2048 * 2;
    {
        std::ofstream file(path, std::ios::binary);
        file << header;
        // The last weight of head 7 of layer 99: 1.
        file.seekp(static_cast<std::streamoff>(header.size() + (99 * 12 + 8) * head - 2));
        file.write("\x00\x3C", 2);
    }
    std::filesystem::resize_file(path, header.size() + 100 * 12 * head);
    const AttentionSetPtr set = open_attention_file(path);
    CHECK(set->info().L == 100);
    std::vector<float> weights(2048 * 2048, -1.0F);
    set->read_head(99, 7, weights);
    CHECK(weights.back() == 1.0F);
    CHECK(std::ranges::count(weights, 0.0F) == 2048 * 2048 - 1);
}

TEST_CASE("layers that are kept are handed out again, the others read anew") {
    const AttentionSetPtr set = open_attention_file(data("lh_f32.npy"), 1);
    const TensorPtr first = set->layer(0);
    CHECK(set->layer(0) == first);
    set->layer(1);
    CHECK(set->layer(0) != first);
    CHECK(std::ranges::equal(set->layer(0)->values(), first->values()));
}

TEST_CASE("several threads may read one attention file") {
    const AttentionSetPtr set = open_attention_file(data("layers_f16.safetensors"), 1);
    const TensorPtr wanted[] = {set->layer(0), set->layer(1), set->layer(2)};
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int n = 0; n < 50; ++n) {
                const int l = (n + t) % 3;
                wrong += std::ranges::equal(set->layer(l)->values(), wanted[l]->values()) ? 0 : 1;
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    CHECK(wrong == 0);
}

TEST_CASE("a file that is cut while it is open fails with a sentence") {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("cut.npy");
    write_file_atomically(path, read_file(data("lh_f32.npy")));
    const AttentionSetPtr set = open_attention_file(path);
    std::filesystem::resize_file(path, 200);
    CHECK(input_error([&] { set->layer(1); }).find("it was cut short") != std::string::npos);
}

TEST_CASE("tokens of byte-level vocabularies become the characters that they stand for") {
    using List = std::vector<std::string>;
    CHECK(text::readable_tokens({"The", "Ġcat", "Ċ", "<|endoftext|>"}) ==
          List{"The", "cat", "⏎", "<|endoftext|>"});
    CHECK(text::readable_tokens({"▁The", "▁", "x"}) == List{"The", "␣", "x"});
    // Without a blank among them, letters of Latin-1 are what they look like.
    CHECK(text::readable_tokens({"Ã", "l"}) == List{"Ã", "l"});
    CHECK(text::readable_tokens({"", "  "}) == List{"∅", "␣␣"});
    for (const char* bad : {"{}", "[1]", "\"a\"", "[[\"a\"], 3]", "{\"tokens\": 3}", "nonsense"}) {
        INFO(bad);
        CHECK(input_error([&] { parse_attention_tokens(bad, "tokens"); }).starts_with("tokens"));
    }
}
