#include "core/checkpoint/gguf/gguf_file.h"

#include "core/base/file.h"
#include "tests/catch.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <cstring>
#include <filesystem>

using namespace headscope;
using namespace headscope::checkpoint;
using Catch::Contains;
using test::TemporaryFolder;

namespace {

template<class Number>
std::string raw(Number number) {
    std::string bytes(sizeof(Number), '\0');
    std::memcpy(bytes.data(), &number, sizeof(Number));
    return bytes;
}

std::string raw_text(const std::string& text) {
    return raw(std::uint64_t{text.size()}) + text;
}

constexpr std::uint32_t u32 = 4, f32 = 6, boolean = 7, string = 8, array = 9, u64 = 10;

std::string key(const std::string& name, std::uint32_t type, const std::string& value) {
    return raw_text(name) + raw(type) + value;
}

std::string tensor(const std::string& name, const std::vector<std::uint64_t>& extents, std::uint32_t type,
                   std::uint64_t offset) {
    std::string bytes = raw_text(name) + raw(static_cast<std::uint32_t>(extents.size()));
    for (const std::uint64_t extent : extents)
        bytes += raw(extent);
    return bytes + raw(type) + raw(offset);
}

/// Returns a file with these keys and tensors, their counts, and `data` zeros at the end.
std::string file_of(const std::vector<std::string>& keys, const std::vector<std::string>& tensors,
                    std::size_t data, std::uint32_t version = 3) {
    std::string bytes =
        "GGUF" + raw(version) + raw(std::uint64_t{tensors.size()}) + raw(std::uint64_t{keys.size()});
    for (const std::string& part : keys)
        bytes += part;
    for (const std::string& part : tensors)
        bytes += part;
    constexpr std::size_t alignment = 32;
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment + data, '\0');
    return bytes;
}

std::string fault_of_bytes(std::string bytes) {
    return input_error([&] { static_cast<void>(GgufFile::from_bytes(std::move(bytes), "x.gguf")); });
}

} // namespace

TEST_CASE("a GGUF file gives its keys and its tensors, outermost extent first") {
    const std::string two_lists = raw(array) + raw(std::uint64_t{2}) + raw(u32) + raw(std::uint64_t{1}) +
                                  raw(std::uint32_t{5}) + raw(boolean) + raw(std::uint64_t{0});
    std::string bytes =
        file_of({key("a.count", u32, raw(std::uint32_t{7})), key("a.eps", f32, raw(1e-5F)),
                 key("a.name", string, raw_text("tiny")), key("a.flag", boolean, "\1"),
                 key("a.large", u64, raw(~std::uint64_t{0})), key("a.lists", array, two_lists)},
                {tensor("t", {3, 2}, 0, 0), tensor("half", {2}, 1, 32)}, 36, 2);
    const std::vector<float> numbers{1, 2, 3, 4, 5, 6};
    std::memcpy(bytes.data() + bytes.size() - 36, numbers.data(), 24);
    const GgufFile file = GgufFile::from_bytes(bytes, "x.gguf");
    const ConfigReader keys = file.metadata();
    CHECK(keys.integer("a.count", 0) == 7);
    CHECK(keys.number("a.eps") == 1e-5); // as its author wrote it
    CHECK(keys.text("a.name") == "tiny");
    CHECK(keys.flag("a.flag") == true);
    CHECK(keys.number("a.large") == 18446744073709551615.0);
    CHECK_FALSE(keys.integer("a.missing", 0));
    CHECK_THAT(input_error([&] { static_cast<void>(keys.integer("a.name", 0)); }),
               Contains("x.gguf") && Contains("a.name is \"tiny\"") && Contains("whole number"));
    CHECK_THAT(input_error([&] { static_cast<void>(keys.texts("a.lists")); }), Contains("list of texts"));
    CHECK(file.find("t")->extents == std::vector<std::int64_t>{2, 3});
    const TensorPtr read = file.tensor("t");
    CHECK(std::vector<float>(read->values().begin(), read->values().end()) == numbers);
    CHECK(file.find("half")->dtype == "F16");
    CHECK(file.size_bytes() == bytes.size());
    CHECK_THAT(input_error([&] { static_cast<void>(file.tensor("u")); }), Contains("no tensor u"));
}

TEST_CASE("a GGUF file that is cut anywhere is refused, from memory and from the disk") {
    const TemporaryFolder folder;
    for (const char* name : {"good_scored.gguf", "good_types.gguf", "good_keys.gguf"}) {
        const std::string whole = read_file(test_data("/corpus/gguf/") + name);
        CHECK(fault_of_bytes(whole).empty());
        for (std::size_t size = 0; size < whole.size(); ++size) {
            INFO(name << " cut to " << size);
            REQUIRE_THAT(fault_of_bytes(whole.substr(0, size)), Contains("x.gguf"));
        }
        const std::string path = folder.file(name);
        write_file_atomically(path, whole);
        const GgufFile file = GgufFile::open_lazily(path, VocabularyLists::kept);
        CHECK(is_gguf(path));
        std::filesystem::resize_file(path, whole.size() - 1);
        CHECK_THAT(input_error([&] {
                       for (const GgufEntry& entry : file.entries())
                           static_cast<void>(file.tensor(entry.name));
                   }),
                   Contains(name) && Contains("ends at byte"));
    }
    CHECK_FALSE(is_gguf(folder.file("")));
    CHECK_FALSE(is_gguf(folder.file("nowhere")));
    CHECK_FALSE(is_gguf(test_data("/models/gpt2_tiny/model.safetensors")));
}

TEST_CASE("a vocabulary is checked where it is not kept") {
    const TemporaryFolder folder;
    const std::string path = folder.file("x.gguf");
    const auto with_tokens = [&](const std::string& last) {
        const std::string tokens = raw(string) + raw(std::uint64_t{2}) + raw_text("a") + last;
        write_file_atomically(
            path, file_of({key("tokenizer.ggml.tokens", array, tokens),
                           key("a.names", array, raw(string) + raw(std::uint64_t{1}) + raw_text("n"))},
                          {}, 0));
    };
    with_tokens(raw_text("b"));
    using Texts = std::vector<std::string>;
    const GgufFile kept = GgufFile::open_lazily(path, VocabularyLists::kept);
    CHECK(kept.metadata().texts("tokenizer.ggml.tokens") == Texts{"a", "b"});
    const GgufFile rest = GgufFile::open_lazily(path, VocabularyLists::checked);
    CHECK(rest.metadata().texts("tokenizer.ggml.tokens").empty());
    CHECK(rest.metadata().texts("a.names") == Texts{"n"});
    with_tokens(raw(~std::uint64_t{0}));
    CHECK_THAT(input_error([&] { static_cast<void>(GgufFile::open_lazily(path, VocabularyLists::checked)); }),
               Contains("tokenizer.ggml.tokens"));
}

TEST_CASE("what a GGUF file lies about is refused in a sentence that names it") {
    const std::uint64_t huge = ~std::uint64_t{0};
    const auto with_key = [](const std::string& part) { return fault_of_bytes(file_of({part}, {}, 0)); };
    const auto with_tensors = [](const std::vector<std::string>& parts) {
        return fault_of_bytes(file_of({}, parts, 64));
    };
    CHECK(fault_of_bytes(file_of({}, {}, 0)).empty());
    CHECK_THAT(fault_of_bytes("GGML" + raw(3U)), Contains("does not begin with GGUF"));
    CHECK_THAT(fault_of_bytes(file_of({}, {}, 0, 1)), Contains("version 1"));
    CHECK_THAT(fault_of_bytes(file_of({}, {}, 0, 3U << 24U)), Contains("big-endian"));
    CHECK_THAT(fault_of_bytes("GGUF" + raw(3U) + raw(huge) + raw(std::uint64_t{0})),
               Contains("18446744073709551615 tensors"));
    CHECK_THAT(fault_of_bytes("GGUF" + raw(3U) + raw(std::uint64_t{0}) + raw(huge)), Contains("keys"));
    CHECK_THAT(with_key(raw(huge) + "key"), Contains("key 0") && Contains("18446744073709551615 bytes"));
    CHECK_THAT(with_key(key("a.text", string, raw(huge >> 1U))), Contains("a.text"));
    CHECK_THAT(with_key(key("a.list", array, raw(u32) + raw(huge))), Contains("values of a.list"));
    CHECK_THAT(with_key(key("a.odd", 13, "")), Contains("a.odd") && Contains("unknown type 13"));
    CHECK_THAT(with_key(key("a.list", array, raw(99U) + raw(std::uint64_t{1}) + "x")),
               Contains("unknown type 99"));
    CHECK_THAT(with_key(key("a.flag", boolean, "\2")), Contains("a.flag") && Contains("0 or 1"));
    std::string nested;
    for (int depth = 0; depth < 20; ++depth)
        nested += raw(array) + raw(std::uint64_t{1});
    CHECK_THAT(with_key(key("a.nested", array, nested)), Contains("a.nested") && Contains("deep"));
    const std::string one = key("a.b", u32, raw(1U));
    CHECK_THAT(fault_of_bytes(file_of({one, one}, {}, 0)), Contains("a.b twice"));
    CHECK_THAT(with_key(key("general.alignment", u32, raw(0U))), Contains("general.alignment is 0"));
    CHECK_THAT(with_key(key("general.alignment", u32, raw(48U))), Contains("power of 2"));

    CHECK_THAT(with_tensors({tensor("t", {4}, 9, 0)}), Contains("Q8_1") && Contains("Q6_K"));
    CHECK_THAT(with_tensors({tensor("t", {4}, 77, 0)}), Contains("type 77"));
    CHECK_THAT(with_tensors({tensor("t", {}, 0, 0)}), Contains("0 axes"));
    CHECK_THAT(with_tensors({tensor("t", {1, 1, 1, 1, 1}, 0, 0)}), Contains("5 axes"));
    CHECK_THAT(with_tensors({tensor("t", {0}, 0, 0)}), Contains("extent of 0"));
    CHECK_THAT(with_tensors({tensor("t", {huge}, 0, 0)}), Contains("extent of -1"));
    CHECK_THAT(with_tensors({tensor("t", {huge >> 1U}, 0, 0)}), Contains("more numbers than any file"));
    CHECK_THAT(with_tensors({tensor("t", {1U << 31U, 1U << 31U, 4}, 0, 0)}),
               Contains("more numbers than any"));
    CHECK_THAT(with_tensors({tensor("t", {33}, 8, 0)}), Contains("rows of 33") && Contains("multiple of 32"));
    CHECK_THAT(with_tensors({tensor("t", {4}, 0, 8)}), Contains("multiple of 32"));
    CHECK_THAT(with_tensors({tensor("t", {17}, 0, 0)}), Contains("bytes 0 to 68 of 64"));
    CHECK_THAT(with_tensors({tensor("t", {64}, 0, huge - 31)}), Contains("beyond the largest possible file"));
    CHECK_THAT(with_tensors({tensor("t", {9}, 0, 0), tensor("u", {4}, 0, 32)}), Contains("u overlaps"));
    CHECK_THAT(with_tensors({tensor("t", {4}, 0, 0), tensor("t", {4}, 0, 32)}), Contains("tensor t twice"));
}
