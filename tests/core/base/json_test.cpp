#include "core/base/json.h"

#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/support.h"

#include <nlohmann/json.hpp>
#include <string>

// Names of files are bytes that need not be UTF-8. JSON holds them as Python's surrogateescape does.

namespace headscope::test {

namespace {

using nlohmann::json;

struct EscapedBytes {
    const char* bytes;
    const char* text;
};

/// Made by CPython 3.11: json.dumps(os.fsdecode(bytes),
/// ensure_ascii=False).encode(errors="backslashreplace").
constexpr EscapedBytes by_python[] = {
    {"", "\042\042"},
    {"plain", "\042plain\042"},
    {"W\303\266rter \344\275\240\345\245\275 \360\237\222\200",
     "\042W\303\266rter \344\275\240\345\245\275 \360\237\222\200\042"},
    {"caf\351", "\042caf\134udce9\042"},
    {"\377\376", "\042\134udcff\134udcfe\042"},
    {"\300\200", "\042\134udcc0\134udc80\042"},
    {"\301\277", "\042\134udcc1\134udcbf\042"},
    {"\340\237\277", "\042\134udce0\134udc9f\134udcbf\042"},
    {"\340\240\200", "\042\340\240\200\042"},
    {"\355\237\277", "\042\355\237\277\042"},
    {"\355\240\200", "\042\134udced\134udca0\134udc80\042"},
    {"\355\277\277", "\042\134udced\134udcbf\134udcbf\042"},
    {"\356\200\200", "\042\356\200\200\042"},
    {"\360\217\277\277", "\042\134udcf0\134udc8f\134udcbf\134udcbf\042"},
    {"\360\220\200\200", "\042\360\220\200\200\042"},
    {"\364\217\277\277", "\042\364\217\277\277\042"},
    {"\364\220\200\200", "\042\134udcf4\134udc90\134udc80\134udc80\042"},
    {"\365\200\200\200", "\042\134udcf5\134udc80\134udc80\134udc80\042"},
    {"\342\202", "\042\134udce2\134udc82\042"},
    {"a\342\202b", "\042a\134udce2\134udc82b\042"},
    {"\360\237\222", "\042\134udcf0\134udc9f\134udc92\042"},
    {"\200\303\251\200", "\042\134udc80\303\251\134udc80\042"},
    {"\357\267\220", "\042\357\267\220\042"},
    {"\357\267\220ff", "\042\357\267\220ff\042"},
    {"\357\267\220--\377", "\042\357\267\220--\134udcff\042"},
    {"\377\357\267\220\357\267\220--", "\042\134udcff\357\267\220\357\267\220--\042"},
    {"\357\267", "\042\134udcef\134udcb7\042"},
    {"\357\267\377\220", "\042\134udcef\134udcb7\134udcff\134udc90\042"},
    {"quote\042 \134 / \012\001\177\377", "\042quote\134\042 \134\134 / \134n\134u0001\177\134udcff\042"},
    {"\134udcff \377", "\042\134\134udcff \134udcff\042"},
    {"\134\134\377", "\042\134\134\134\134\134udcff\042"},
    {"\134f\251\342\202\254", "\042\134\134f\134udca9\342\202\254\042"},
    {"\360\200", "\042\134udcf0\134udc80\042"},
    {"-\303", "\042-\134udcc3\042"},
    {"\267\200", "\042\134udcb7\134udc80\042"},
    {"\342\202\254\357\267\220f", "\042\342\202\254\357\267\220f\042"},
    {"\357\267\220\042\357\267\220\200f", "\042\357\267\220\134\042\357\267\220\134udc80f\042"},
    {"\360\303", "\042\134udcf0\134udcc3\042"},
    {"\042\251", "\042\134\042\134udca9\042"},
    {"\303\342\202\254\303\303f\342\202\254\042",
     "\042\134udcc3\342\202\254\134udcc3\134udcc3f\342\202\254\134\042\042"},
    {"\200\360", "\042\134udc80\134udcf0\042"},
    {"af\134", "\042af\134\134\042"},
    {"\357\267\220\303a\200\360\251", "\042\357\267\220\134udcc3a\134udc80\134udcf0\134udca9\042"},
    {"\357\267\220\303\303", "\042\357\267\220\134udcc3\134udcc3\042"},
    {"\042-\357\267\220\200\360\237\222\200\357\267\220\303",
     "\042\134\042-\357\267\220\134udc80\360\237\222\200\357\267\220\134udcc3\042"},
    {"\303\042", "\042\134udcc3\134\042\042"},
    {"\251\200f\355\240\200-", "\042\134udca9\134udc80f\134udced\134udca0\134udc80-\042"},
    {"\303\267\377-a", "\042\303\267\134udcff-a\042"},
    {"\355\240\200\134\360\237\222\200", "\042\134udced\134udca0\134udc80\134\134\360\237\222\200\042"},
    {"\357\267\220\303a", "\042\357\267\220\134udcc3a\042"},
    {"\377\267-\360\237\222\200\377a", "\042\134udcff\134udcb7-\360\237\222\200\134udcffa\042"},
    {"\357\267\220\357\267\220\200f\134\355\240\200",
     "\042\357\267\220\357\267\220\134udc80f\134\134\134udced\134udca0\134udc80\042"},
    {"\134\267\377f", "\042\134\134\134udcb7\134udcfff\042"},
    {"\251\357\267\220", "\042\134udca9\357\267\220\042"},
    {"\303\355\240\200\267\360--", "\042\134udcc3\134udced\134udca0\134udc80\134udcb7\134udcf0--\042"}};

} // namespace

TEST_CASE("JSON holds bytes that are not UTF-8 as Python's surrogateescape writes them") {
    for (const auto& [bytes, text] : by_python) {
        CAPTURE(text);
        CHECK(dump_json(json(bytes)) == text);
        CHECK(dump_json(nlohmann::ordered_json(bytes)) == text);
        CHECK(parse_json_with_bytes(text, "it").get<std::string>() == bytes);
    }
}

TEST_CASE("bytes that are not UTF-8 come back from names, lists and objects of JSON") {
    const json value = {{"p\xff", {{"a\x80", 1.5}, {"list", {"b\xfe", "\uFDD0ff", nullptr, true}}}},
                        {"plain", -3}};
    const std::string text = dump_json(value, 2);
    CHECK(text.find("\"p\\udcff\": {\n") != std::string::npos);
    CHECK(parse_json_with_bytes(text, "it") == value);
    const nlohmann::ordered_json ordered = {{"z\xff", "\xff"}, {"a", 2}};
    CHECK(dump_json(ordered) == R"({"z\udcff":"\udcff","a":2})");
}

TEST_CASE("escapes of other surrogates stay what JSON says they are") {
    const auto read = [](const char* text) { return parse_json_with_bytes(text, "it").get<std::string>(); };
    CHECK(read(R"("\ud83d\udc80")") == "\U0001F480"); // a pair, whose second half alone would be a byte
    CHECK(read(R"("\uD83D\uDC80\uDC80")") == "\U0001F480\x80");
    CHECK(read(R"("\\udcff")") == "\\udcff");
    CHECK(read(R"("\\\udcff")") == "\\\xff");
    CHECK(read(R"("\uDCfF\uFDD0ff")") == "\xff\uFDD0ff");
    CHECK(read("\"\\udcff\uFDD0ff\"") == "\xff\uFDD0ff");
    for (const char* const wrong :
         {R"("\ud83d")", R"("\udc7f")", R"("\udd00")", R"("\udcf")", R"("\udcff)", "\"\xff\"", R"(\udcff)",
          R"({"\udcff":1,"\udcff":2})", R"("\ud83d\ud83d")", "\"\\udcff\xff\"", "\\", "\"\\"}) {
        CAPTURE(wrong);
        CHECK_THAT(input_error([&] { parse_json_with_bytes(wrong, "it"); }), Catch::StartsWith("it "));
    }
    // A file that is not of this program has no such bytes.
    CHECK_THAT(input_error([&] { parse_json(R"("\udcff")", "it"); }), Catch::Contains("not valid JSON"));
}

} // namespace headscope::test
