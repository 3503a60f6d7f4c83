#include "core/format/npz.h"

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/format/attention_file.h"
#include "core/format/npy.h"
#include "core/format/safetensors.h"
#include "core/format/zip/zip_writer.h"
#include "tests/catch.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

// Arrays of a .npz file that are not attention weights, and headers and counts that are refused.

using namespace headscope;
using namespace headscope::format;
using headscope::test::TemporaryFolder;

namespace {

/// The names of arrays and the bytes of their .npy files.
using NpyParts = std::vector<std::pair<std::string, std::string>>;

void put_npz(const std::string& path, const NpyParts& parts) {
    write_file_atomically(path, [&](const ByteSink& sink) {
        ZipWriter zip(sink);
        for (const auto& [name, bytes] : parts)
            zip.add(name + ".npy", bytes.size(), [&bytes = bytes](const ByteSink& to) { to(bytes); });
        zip.finish();
    });
}

/// Replaces a part of a .npy header and keeps the header's length.
std::string with_header_text(std::string npy, std::string_view part, std::string_view replacement) {
    const std::size_t at = npy.find(part);
    REQUIRE(at != std::string::npos);
    npy.replace(at, part.size(), replacement);
    const std::size_t end = npy.find('\n');
    if (replacement.size() > part.size())
        npy.erase(end - (replacement.size() - part.size()), replacement.size() - part.size());
    else
        npy.insert(end, part.size() - replacement.size(), ' ');
    return npy;
}

std::string in_fortran_order(const std::string& npy) {
    return with_header_text(npy, "'fortran_order': False", "'fortran_order': True");
}

std::string npy_of_int64(const Shape& shape, const std::vector<std::int64_t>& numbers) {
    return npy_header("<i8", shape)
        .append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(std::int64_t));
}

std::string npy_of_heads(const Shape& shape) {
    return npy_bytes(Tensor(shape, 0.5F));
}

} // namespace

TEST_CASE("tokens and masks in Fortran order are refused", "[npz]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.npz"), two_texts = npy_of_heads({2, 1, 2, 2});
    const auto fault = [&](const std::string& tokens, const std::string& mask) {
        put_npz(path, {{"attentions_0", two_texts},
                       {"attentions_1", two_texts},
                       {"attention_mask", mask},
                       {"tokens", tokens}});
        return input_error([&] { open_attention_file(path, {.text = 1}); });
    };
    const std::string tokens = npy_header("|S1", {2, 2}) + "abcd", mask = npy_of_int64({2, 2}, {1, 0, 1, 1});
    REQUIRE(fault(tokens, mask).empty());
    CHECK_THAT(
        fault(in_fortran_order(tokens), mask),
        Catch::Contains("the array tokens is stored in Fortran order; save numpy.ascontiguousarray(a)"));
    CHECK_THAT(fault(tokens, in_fortran_order(mask)),
               Catch::Contains("the array attention_mask is stored in Fortran order"));
    // With one axis, the order makes no difference.
    put_npz(path, {{"tokens", in_fortran_order(npy_header("|S1", {2}) + "ab")}});
    const NpzFile file = NpzFile::open(path);
    CHECK(file.texts(file.entries().front()) == std::vector<std::string>{"a", "b"});
}

TEST_CASE("a layer with a damaged header is reported, and records are left out", "[npz]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("layers.npz"), layer = npy_of_heads({1, 2, 2}),
                      records = with_header_text(npy_header("<f4", {2}) + std::string(16, '\0'), "'<f4'",
                                                 "[('a]', '<f4'), ('b', [('c', '<f4')])]");
    put_npz(path,
            {{"attentions_0", layer}, {"attentions_1", layer}, {"attentions_2", layer}, {"r", records}});
    CHECK(open_attention_file(path)->info().L == 3);
    CHECK(NpzFile::open(path).entries().back().extents == std::vector<std::int64_t>{2});

    put_npz(path, {{"attentions_0", layer},
                   {"attentions_1", with_header_text(layer, "descr", "discr")},
                   {"attentions_2", layer}});
    CHECK_THAT(input_error([&] { open_attention_file(path); }),
               Catch::Contains("the array attentions_1 has a damaged .npy header"));
    put_npz(path, {{"attentions", with_header_text(layer, "'<f4'", "[('a', '<f4')]")}});
    CHECK_THAT(input_error([&] {
                   const NpzFile file = NpzFile::open(path);
                   file.require_floats(file.entries().front());
               }),
               Catch::Contains("the array attentions holds records with named fields"));
    put_npz(path, {{"attentions", with_header_text(layer, "'<f4'", "[('a', '<f4'")}});
    CHECK_THAT(input_error([&] { NpzFile::open(path); }), Catch::Contains("damaged .npy header"));
}

TEST_CASE("more arrays or tokens than are read are refused", "[npz]") {
    const TemporaryFolder folder;
    NpyParts many;
    for (int n = 0; n <= 1 << 16; ++n)
        many.emplace_back("layer" + std::to_string(n), "");
    put_npz(folder.file("arrays.npz"), many);
    CHECK_THAT(input_error([&] { NpzFile::open(folder.file("arrays.npz")); }),
               Catch::Contains("has 65537 arrays, and up to 65536 are read"));

    constexpr std::int64_t count = (1 << 22) + 1;
    put_npz(folder.file("tokens.npz"), {{"tokens", npy_header("|S1", {count}) + std::string(count, 'a')}});
    const NpzFile file = NpzFile::open(folder.file("tokens.npz"));
    CHECK_THAT(input_error([&] { file.texts(file.entries().front()); }),
               Catch::Contains("the array tokens holds 4194305 tokens, and up to 4194304 are read"));
    CHECK_THAT(input_error([&] { file.integers(file.entries().front()); }),
               Catch::Contains("should hold integers or bools; save it with dtype int64"));
}

TEST_CASE("tokens with bytes that are not UTF-8 stay a list in a written .npz file", "[npz]") {
    const TemporaryFolder folder;
    SafetensorsWriter writer;
    writer.set_metadata("tokens", dump_json(nlohmann::json{"a", "\xFF", "c"}));
    writer.set_metadata("note", "[a text, not JSON");
    write_file_atomically(folder.file("a.npz"),
                          [&](const ByteSink& sink) { writer.write_as(folder.file("a.npz"), sink); });
    const NpzFile file = NpzFile::open(folder.file("a.npz"));
    REQUIRE(file.entries().size() == 2);
    CHECK(file.texts(file.entries()[0]) == std::vector<std::string>{"[a text, not JSON"});
    CHECK(file.texts(file.entries()[1]) == std::vector<std::string>{"a", "\uFFFD", "c"});
}
