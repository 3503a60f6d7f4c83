#include "core/base/file.h"
#include "tests/app/cli/run_program.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <algorithm>
#include <utility>

using namespace headscope;
using Catch::Contains;
using headscope::test::ProgramRun;
using headscope::test::run_program;
using headscope::test::TemporaryFolder;

namespace {

const std::string front =
    "---\nid: deep\ntitle: T\nminutes: 1\ndifficulty: beginner\n---\n## S\n\n"; // 8 lines
const std::string quiz = "\n```quiz\nquestion: Q\nchoices:\n- {text: a, why: b, right: true}\n"
                         "- {text: c, why: d}\n- {text: e, why: f}\n```\n";

std::string repeated(const std::string& part, int times) {
    std::string out;
    for (int n = 0; n < times; ++n)
        out += part;
    return out;
}

std::string live(const std::string& expression) {
    return front + "Words {{" + expression + "}} more.\n" + quiz;
}

std::string formula(const std::string& tex) {
    return front + "Words.\n\n```formula\n" + tex + "\n```\n" + quiz;
}

/// A lesson that stops the program when it is read without limits, and a part of what is said of it.
std::vector<std::pair<std::string, std::string>> deep_lessons() {
    constexpr int many = 100'000;
    const std::string parts = "more than 200 operators, brackets and functions", levels = "32 levels";
    return {{live(repeated("(", many)), parts},
            {live(repeated("(", many) + "1" + repeated(")", many)), parts},
            {live(repeated("sum(", many)), parts},
            {live(repeated("not ", many) + "1"), parts},
            {live(repeated("-", many) + "1"), parts},
            {live(repeated("2^", many) + "2"), parts},
            {live("1" + repeated(" + 1", many)), parts},
            {formula(repeated("{", many)), levels},
            {formula(repeated("\\sqrt", many)), levels},
            {formula(repeated("\\left(", many)), levels},
            {formula(repeated("\\begin{matrix}", many)), levels},
            {front + repeated(">", many) + " words\n" + quiz, "quotations are nested more than 16 deep"},
            {"---\nid: " + repeated("[", many) + "\n---\n", "has no \"id\""},
            {"---\n" + repeated("? ", many) + "\n---\n", "is not YAML"}};
}

} // namespace

TEST_CASE("a lesson nested without end is a fault of the lesson", "[cli]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("deep.md");
    for (const auto& [text, words] : deep_lessons()) {
        write_file_atomically(path, text);
        const ProgramRun run = run_program({"lesson", "check", path});
        CAPTURE(text.substr(0, 200), words, run.err.substr(0, 1000));
        CHECK(run.code == 1);
        CHECK_THAT(run.err, Contains(words));
        CHECK(run.err.size() < 2000);
    }
}

TEST_CASE("a lesson that cannot be read is listed, and the others work", "[cli]") {
    const TemporaryFolder folder;
    for (int n = 0; const auto& [text, words] : deep_lessons())
        write_file_atomically(folder.file(std::to_string(n++) + ".md"), text);
    const ProgramRun run = run_program({"lesson", "list", "--lessons", folder.file("")});
    CHECK(run.code == 0);
    CHECK_THAT(run.out, Contains("/0.md: not usable") && Contains("/13.md: not usable"));
    CHECK(run_program({"lesson", "play", "masks", "--lessons", folder.file("")}).code == 0);
}

TEST_CASE("a lesson with bytes that are not text is refused, and messages do not repeat them", "[cli]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("broken.md");
    using namespace std::string_literals;
    write_file_atomically(path,
                          front + "Words \xFF\xFE.\n\n```gate\nx\0y: 1\n```\n\n{{ab\0cd}} end\n"s + quiz);
    const ProgramRun run = run_program({"lesson", "check", path});
    CHECK(run.code == 1);
    CHECK_THAT(run.err, Contains(":9: the line has bytes that are not UTF-8 text"));
    CHECK_THAT(run.err, Contains(":12: the line has bytes"));
    CHECK_THAT(run.err, Contains("\"ab\xEF\xBF\xBD"
                                 "cd\" cannot be read"));
    CHECK(run.err.find('\xFF') == std::string::npos);
    CHECK(run.err.find('\0') == std::string::npos);
}

TEST_CASE("the faults of a lesson are listed up to a number that can be read", "[cli]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("many.md");
    write_file_atomically(path, front + repeated("## S\n\n", 150) + quiz);
    const ProgramRun run = run_program({"lesson", "check", path});
    CHECK(run.code == 1);
    CHECK(std::ranges::count(run.err, '\n') == 101);
    CHECK_THAT(run.err, Contains("has 150 faults, the first of which are listed above"));
}

TEST_CASE("an unknown name in a lesson's expression is said to be unknown", "[cli]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("names.md");
    const auto said = [&](const std::string& expression) {
        write_file_atomically(path, live(expression));
        const ProgramRun run = run_program({"lesson", "check", path});
        CHECK(run.code == 1);
        return run.err;
    };
    CHECK_THAT(said("weigths[0][0, 0]"), Contains("there is no tensor \"weigths\""));
    CHECK_THAT(said("sum(weigths[0])"), Contains("there is no tensor \"weigths\""));
    CHECK_THAT(said("sum(weigths)"), Contains("there is no tensor \"weigths\""));
    CHECK_THAT(said("wings"), Contains("there is no value \"wings\""));
    CHECK_THAT(said("wings(1)"), Contains("there is no function \"wings\""));
}

TEST_CASE("what never ends, and what is too long, is refused before it fills the memory", "[cli]") {
    const TemporaryFolder folder;
    for (const std::string device : {"/dev/zero", "/dev/urandom"}) {
        const ProgramRun run = run_program({"trace", "--case", device, "--heads", "1", "-o", "-"});
        CHECK(run.code == 1);
        CHECK_THAT(run.err, Contains(device + ": it is a device; name a file"));
        CHECK(run_program({"lesson", "check", device}).code == 1);
        CHECK(run_program({"tokenize", "--tokenizer", device, "text"}).code == 1);
    }
    const std::string word(3 * mebibyte, 'a');
    const ProgramRun sentence = run_program({"trace", "-", "-o", "-"}, word);
    CHECK(sentence.code == 1);
    CHECK_THAT(sentence.err, Contains("cannot read standard input: it has more than the 1048576 bytes"));
    const std::vector<std::string> tokenize{"tokenize", "--tokenizer", test_data("/tokenizers/gpt2_like"),
                                            "--text-file", "-"};
    CHECK_THAT(run_program(tokenize, '"' + word + word + '"').err,
               Contains("-, line 1 has 6291458 bytes; a text may have 4194304"));
    for (const std::string what : {"heads", "map", "trace"}) {
        std::vector<std::string> of_text{what, "--model", "pocket", "--text-file", "-", "-o", "-"};
        if (what == "map")
            of_text.insert(of_text.end(), {"--head", "0", "--overview", "4"});
        CHECK_THAT(run_program(of_text, word + word).err, Contains("it has more than the 4194304 bytes"));
    }
    std::string lines;
    while (lines.size() < 20 * mebibyte)
        lines += '"' + word + "\"\n";
    CHECK_THAT(run_program(tokenize, lines).err, Contains("it has more than the 16777216 bytes"));
    write_file_atomically(folder.file("long.md"), word + word);
    CHECK_THAT(run_program({"lesson", "check", folder.file("long.md")}).err, Contains("4194304 bytes"));
}

TEST_CASE("a run that no disk or memory holds is refused before it begins", "[cli]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("long.safetensors");
    constexpr std::size_t T = 3'000'000; // a map of T x T numbers has 36 TB
    const std::string header =
        R"({"X":{"dtype":"F32","shape":[1,3000000,1],"data_offsets":[16,12000016]},)"
        R"("W_Q":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},"W_K":{"dtype":"F32","shape":[1,1],)"
        R"("data_offsets":[4,8]},"W_V":{"dtype":"F32","shape":[1,1],"data_offsets":[8,12]},)"
        R"("W_O":{"dtype":"F32","shape":[1,1],"data_offsets":[12,16]}})";
    std::string bytes(8, '\0');
    bytes[0] = static_cast<char>(header.size() & 0xFFU);
    bytes[1] = static_cast<char>(header.size() >> 8U);
    write_file_atomically(path, bytes + header + std::string(16 + 4 * T, '\0'));
    const ProgramRun run =
        run_program({"trace", "--case", path, "--heads", "1", "--stages", "weights", "-o", folder.file("o")});
    CHECK(run.code == 3);
    CHECK_THAT(run.err, Contains("needs at least 36000.0 GB of disk space") && Contains("free there") &&
                            Contains("--stages"));
    CHECK(folder.entries() == 1);
    CHECK(run_program({"render", "--case", path, "--heads", "1", "-o", folder.file("o.png")}).code == 3);
}
