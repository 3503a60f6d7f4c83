#include "app/state/screens/screen.h"
#include "app/views/action_context.h"
#include "core/checkpoint/files/packaged_models.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/test_data.h"

#include <fstream>
#include <map>
#include <set>
#include <string>

namespace headscope::test {
namespace {

using KeySection = std::set<std::string>; ///< "keys | what" of each line

/// The tables of the manual's page of keys, by their headings.
std::map<std::string, KeySection> key_sections() {
    std::ifstream page(test_data("/../../assets/manual/keyboard.md"));
    std::map<std::string, KeySection> sections;
    std::string heading;
    for (std::string line; std::getline(page, line);)
        if (line.starts_with("## "))
            heading = line.substr(3);
        else if (line.starts_with("| ") && !line.starts_with("| keys") && !line.starts_with("| ---"))
            sections[heading].insert(line.substr(2, line.size() - 4));
    return sections;
}

/// Returns the section that F1 shows for a program.
KeySection listed(const Program& program) {
    KeySection lines;
    for (const KeyLine& line : key_lines(action_context(program.state())))
        lines.insert(line.keys + " | " + line.what);
    return lines;
}

/// Checks that every line that F1 shows is in one of these sections.
void check_listed(const User& user, std::initializer_list<const char*> headings) {
    const auto sections = key_sections();
    for (const std::string& line : listed(user.program)) {
        INFO(line);
        bool there = false;
        for (const char* heading : headings) {
            REQUIRE(sections.contains(heading));
            there = there || sections.at(heading).contains(line);
        }
        CHECK(there);
    }
}

} // namespace

TEST_CASE("the list behind F1 has no line that the manual's page of keys lacks", "[gui][keys]") {
    SECTION("a problem, its atlas and its presentation") {
        User user;
        check_listed(user, {"A sentence or a problem"});
        CHECK(listed(user.program) == key_sections().at("A sentence or a problem"));
        user.act(ShowScreen{Screen::flow});
        user.settle();
        check_listed(user, {"A sentence or a problem", "The Flow, in addition"});
        const KeySection of_flow = key_sections().at("The Flow, in addition");
        for (const std::string& line : of_flow)
            CHECK(listed(user.program).contains(line));
        user.act(ShowScreen{Screen::atlas});
        user.settle();
        REQUIRE(screen_of(user.shown(), user.view()) == Screen::atlas);
        check_listed(user, {"A sentence or a problem", "The atlas, in addition"});
        user.act(Present{});
        user.settle();
        check_listed(user, {"A presentation", "The atlas, in addition"});
    }
    SECTION("a checkpoint and each of its screens") {
        User user;
        user.open(checkpoint::model_folder("pocket"), "The cat sat down");
        for (const NamedScreen& named : named_screens()) {
            user.act(ShowScreen{named.screen});
            user.settle();
            INFO(named.name);
            if (named.screen == Screen::atlas)
                check_listed(user, {"A checkpoint", "The atlas, in addition"});
            else if (named.screen == Screen::flow)
                check_listed(user, {"A checkpoint", "The Flow, in addition"});
            else
                check_listed(user, {"A checkpoint"});
        }
    }
    SECTION("weights of a file and their atlas") {
        User user;
        user.open(test_data("/attention/lh_f32.npy"));
        check_listed(user, {"Attention weights of a file"});
        user.act(ShowScreen{Screen::atlas});
        user.settle();
        check_listed(user, {"Attention weights of a file", "The atlas, in addition"});
        CHECK(key_sections()
                  .at("The atlas, in addition")
                  .contains("Alt P  Alt A | on the atlas: pin the open head, clear the selection"));
    }
}

} // namespace headscope::test
