#include "core/base/file.h"
#include "tests/app/cli/run_program.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <nlohmann/json.hpp>
#include <sstream>

using namespace headscope;
using namespace headscope::test;
using Catch::Contains;
using nlohmann::json;

namespace {

using Words = std::vector<std::string>;

const std::string& served_model() {
    static const std::string folder = test_data("/models/gpt2_tiny");
    return folder;
}

json request(const std::string& command, const Words& arguments) {
    return {{"id", 1}, {"command", command}, {"arguments", arguments}};
}

/// Returns the answers to these lines, after the greeting.
std::vector<json> served(const Words& lines, const std::string& model = served_model()) {
    std::string input;
    for (const std::string& line : lines)
        input += line + "\n";
    const ProgramRun run = run_program({"serve", "--model", model}, input);
    INFO(run.err);
    REQUIRE(run.code == 0);
    std::vector<json> answers;
    std::istringstream out(run.out);
    for (std::string line; std::getline(out, line);)
        answers.push_back(json::parse(line));
    REQUIRE(!answers.empty());
    CHECK(answers.front().at("protocol") == 1);
    answers.erase(answers.begin());
    return answers;
}

ProgramRun alone(Words words) {
    words.insert(words.begin() + 1, "--model=" + served_model());
    return run_program(words);
}

} // namespace

TEST_CASE("serve gives the output of each command, with one model for all", "[cli]") {
    const TemporaryFolder folder;
    const std::string first = folder.file("first.safetensors"), second = folder.file("second.safetensors");
    const Words trace{"--ids=5,7,11", "--stages=weights,mlp_act", "--layer=1"},
        heads{"--ids=5,7,11", "--json"}, lens{"--ids=5,7", "--what=lens"},
        gained{"--ids=5,7", "--what=logits", "--token-id=3", "--gain=1.2=0"},
        generate{"--ids=5,7", "--tokens=3", "--json"},
        patch{"--clean-ids=5,7", "--corrupted-ids=5,9", "--answer-id=1", "--against-id=2", "--what=head"};
    Words written = trace;
    written.push_back("-o" + first);
    const std::vector<json> answers =
        served({request("trace", written).dump(), request("heads", heads).dump(),
                request("explain", gained).dump(), request("explain", lens).dump(),
                request("generate", generate).dump(), request("patch", patch).dump()});
    REQUIRE(answers.size() == 6);
    for (const json& answer : answers) {
        INFO(answer.dump());
        CHECK(answer.at("ok") == true);
        CHECK(answer.at("id") == 1);
    }
    Words words{"trace"};
    words.insert(words.end(), trace.begin(), trace.end());
    words.push_back("-o" + second);
    REQUIRE(alone(words).code == 0);
    CHECK(read_file(first) == read_file(second));
    for (const auto& [n, command, arguments] :
         {std::tuple(1, "heads", heads), std::tuple(2, "explain", gained), std::tuple(3, "explain", lens),
          std::tuple(4, "generate", generate), std::tuple(5, "patch", patch)}) {
        INFO(n);
        Words same{command};
        same.insert(same.end(), arguments.begin(), arguments.end());
        const ProgramRun run = alone(same);
        REQUIRE(run.code == 0);
        CHECK(answers[static_cast<std::size_t>(n)].at("output") == run.out);
    }
}

TEST_CASE("serve answers every refused request with the sentence of the command line and continues",
          "[cli]") {
    const Words faulty{"--ids=5", "--what=nonsense"};
    const std::vector<json> answers =
        served({"no JSON", "[1]", R"({"id": [7]})", R"({"command": "window"})",
                R"({"command": "trace", "arguments": [1]})",
                request("trace", {"--ids=5", "--model=elsewhere", "-o-"}).dump(),
                request("trace", {std::string("--text=a\0b", 10), "-o-"}).dump(),
                request("trace", {"--text-file=-", "-o-"}).dump(), request("explain", faulty).dump(),
                std::string((std::size_t{16} << 20U) + 2, 'x'), "",
                request("heads", {"--ids=5,7", "--json"}).dump()});
    REQUIRE(answers.size() == 11);
    const Words parts{"not valid JSON",
                      "JSON object",
                      "names a \"command\"",
                      "names a \"command\"",
                      "list of texts",
                      "applies to all requests",
                      "code 0",
                      "", // standard input is empty: the requests are not a text
                      "nonsense",
                      "has more than"};
    for (std::size_t n = 0; n < 10; ++n) {
        INFO(n << ": " << answers[n].dump());
        CHECK(answers[n].at("ok") == false);
        CHECK(answers[n].at("code").get<int>() >= 1);
        CHECK_THAT(answers[n].at("error").get<std::string>(), Contains(parts[n]));
    }
    CHECK(answers[2].at("id") == json{7});
    const ProgramRun run = alone({"explain", "--ids=5", "--what=nonsense"});
    CHECK(run.err == "headscope: " + answers[8].at("error").get<std::string>() + "\n");
    CHECK(run.code == answers[8].at("code"));
    CHECK(answers[10].at("ok") == true);
}

TEST_CASE("serve reports a model that cannot be opened before it reads requests", "[cli]") {
    const ProgramRun run = run_program({"serve", "--model", "/nowhere"}, request("heads", {}).dump());
    CHECK(run.code == 1);
    CHECK(run.out.empty());
    CHECK_THAT(run.err, Catch::StartsWith("headscope: ") && Contains("/nowhere"));
    CHECK(run_program({"serve"}).code == 2);
}

TEST_CASE("serve --memory limits all requests, also after a refused one", "[cli]") {
    const Words serve{"serve", "--model", served_model(), "--memory"};
    const auto limited_to = [&](const std::string& size, const std::string& input) {
        Words words = serve;
        words.push_back(size);
        return run_program(words, input);
    };
    const std::string refused = request("explain", {"--ids=5", "--what=nonsense"}).dump() + "\n",
                      valid = request("heads", {"--ids=5,7", "--json"}).dump() + "\n";
    const ProgramRun without_room = limited_to("1KB", valid);
    CHECK(without_room.code == 3);
    CHECK(without_room.out.empty());
    CHECK_THAT(without_room.err, Contains("--memory allows 1 KB"));
    const ProgramRun with_room = limited_to("4GB", refused + valid);
    CHECK(with_room.code == 0);
    CHECK_THAT(with_room.out, Contains(R"("ok":true)"));
#ifndef SANITIZER_TAKES_ADDRESSES // this alone takes more
    // A list of words takes memory that no block counts.
    std::string ids = "--ids=5";
    for (int n = 1; n < 4'000'000; ++n)
        ids += ",5";
    const ProgramRun ended =
        limited_to("100MB", refused + request("trace", {ids, "-o-"}).dump() + "\n" + valid);
    CHECK(ended.code == 3);
    CHECK_THAT(ended.out, Contains("nonsense") && !Contains(R"("ok":true)"));
    CHECK_THAT(ended.err, Contains("needs more memory than the 100 MB"));
#endif
}

TEST_CASE("serve answers a scene that it cannot draw with the exit code of the fault", "[cli]") {
    const TemporaryFolder folder;
    const std::string none = folder.file("fonts.conf");
    write_file_atomically(none, "<?xml version=\"1.0\"?><fontconfig></fontconfig>");
    const json text{{"text", "cat"}, {"x", 5}, {"y", 20}, {"color", "1F2937"}},
        scene{{"width", 50}, {"height", 50}, {"items", json::array({text})}};
    const auto answered = [&](const std::string& name) {
        const json drawn{{"command", "draw"}, {"scene", scene}, {"path", folder.file(name)}};
        const ProgramRun run = run_program({"serve", "--model", served_model()}, drawn.dump() + "\n",
                                           {{"FONTCONFIG_FILE", none}});
        REQUIRE(run.code == 0);
        return json::parse(run.out.substr(run.out.find('\n') + 1));
    };
    const json without_fonts = answered("a.png"), other_format = answered("a.gif");
    CHECK_THAT(without_fonts.at("error").get<std::string>(), Contains("has no font"));
    CHECK(without_fonts.at("code") == 3);
    CHECK(other_format.at("code") == 1);
}

TEST_CASE("serve draws a scene, and refuses what is not one", "[cli]") {
    const TemporaryFolder folder;
    const json text{{"text", "cat"}, {"x", 5}, {"y", 20}, {"color", "1F2937"}, {"align", "left"}},
        cells{{"grid", {5, 30, 40, 20}}, {"cols", 2}, {"rows", 1}, {"cells", "2563EBD97706"}},
        area{{"rect", {5, 60, 40, 20}}, {"fill", "00FF0080"}, {"stroke", "FF0000"}};
    const auto draw = [&](const json& items, const std::string& name, const json& width = 100) {
        const json scene{{"width", width}, {"height", 90}, {"items", items}};
        return json{{"command", "draw"}, {"scene", scene}, {"path", folder.file(name)}}.dump();
    };
    const auto changed = [](json item, const char* name, const json& value) {
        item[name] = value;
        return json::array({item});
    };
    const json all = json::array({text, cells, area});
    const std::vector<json> answers = served(
        {draw(all, "a.svg"), draw(all, "a.png"), draw(all, "a.pdf"), draw(all, "a.gif"),
         draw(all, "b.png", 0), draw(all, "b.png", "wide"), draw({1}, "b.png"),
         draw(changed(cells, "cols", 3), "b.png"), draw(changed(cells, "cells", "2563EBD9770G"), "b.png"),
         draw(changed(text, "color", "red"), "b.png"), draw(changed(area, "rect", {1, 2}), "b.png"),
         draw(changed(text, "x", 1e30), "b.png"), R"({"command": "draw"})"});
    REQUIRE(answers.size() == 13);
    for (std::size_t n = 0; n < answers.size(); ++n) {
        INFO(n << ": " << answers[n].dump());
        CHECK(answers[n].at("ok") == (n < 3));
    }
    CHECK_THAT(answers[3].at("error").get<std::string>(), Contains(".png"));
    CHECK_THAT(answers[5].at("error").get<std::string>(), Contains("not as described"));
    CHECK_THAT(answers[7].at("error").get<std::string>(), Contains("hexadecimal"));
    const std::string svg = read_file(folder.file("a.svg"));
    for (const char* const part :
         {">cat<", "<image x=\"5\" y=\"30\" width=\"40\" height=\"20\"", "#00ff00", "#ff0000"})
        CHECK_THAT(svg, Contains(part));
    CHECK_THAT(read_file(folder.file("a.png")), Catch::StartsWith("\x89PNG"));
    CHECK_THAT(read_file(folder.file("a.pdf")), Catch::StartsWith("%PDF"));
    CHECK_THROWS(read_file(folder.file("b.png")));
}
