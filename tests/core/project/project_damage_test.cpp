#include "core/project/project_file.h"

#include "core/base/file.h"
#include "core/format/safetensors.h"
#include "core/project/same_bits.h"
#include "core/text/preset.h"
#include "tests/catch.h"
#include "tests/core/project/built.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace headscope;
using namespace headscope::project;
using Catch::Contains;
using headscope::test::built;
using headscope::test::TemporaryFolder;
using nlohmann::json;

namespace {

Recipe edited_recipe() {
    Recipe recipe;
    recipe.preset = "cat-sleeps";
    recipe.sentence = "Cat sleeps";
    const Problem unedited = build_recipe(recipe).problem;
    recipe.edits[TensorId::W_Q] = std::make_shared<const Tensor>(unedited.weights.W_Q->shape(), 0.5F);
    recipe.extra_mask.emplace_back(ExplicitMask{std::make_shared<const BoolTensor>(BoolTensor{
        {unedited.dims.Tq, unedited.dims.Tk},
        std::vector<std::uint8_t>(static_cast<std::size_t>(unedited.dims.Tq * unedited.dims.Tk), 1)})});
    return recipe;
}

Recipe recipe_with_base() {
    Recipe recipe = edited_recipe();
    recipe.base = std::make_shared<const Problem>(build_recipe(recipe).problem);
    recipe.extra_mask.clear();
    return recipe;
}

std::string bytes_of(const Recipe& recipe) {
    return project_bytes(recipe, built(recipe));
}

/// A project file whose header, and the project inside of it, somebody changed and left the checksum out.
std::string changed(const std::string& bytes,
                    const std::function<void(json& header, json& project)>& change) {
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof(size));
    json header = json::parse(bytes.substr(sizeof(size), size));
    json& text = header["__metadata__"]["headscope.project"];
    json project = json::parse(text.get<std::string>());
    header["__metadata__"].erase("headscope.sha256");
    project.erase("checksum");
    change(header, project);
    text = project.dump();
    const std::string written = header.dump();
    const std::uint64_t length = written.size();
    std::string out(sizeof(length), '\0');
    std::memcpy(out.data(), &length, sizeof(length));
    return out + written + bytes.substr(sizeof(size) + size);
}

std::string refusal(const std::string& bytes) {
    return input_error([&] { parse_project(bytes, "p.headscope"); });
}

std::string refusal_after(const std::function<void(json& header, json& project)>& change) {
    return refusal(changed(bytes_of(edited_recipe()), change));
}

} // namespace

TEST_CASE("a cut project is refused, and what is left can be recovered", "[project]") {
    for (const Recipe& recipe : {edited_recipe(), recipe_with_base()}) {
        const std::string whole = bytes_of(recipe);
        std::uint64_t header = 0;
        std::memcpy(&header, whole.data(), sizeof(header));
        for (std::size_t size = 0; size < whole.size(); ++size) {
            INFO("cut to " << size << " of " << whole.size());
            const std::string cut = whole.substr(0, size);
            REQUIRE(!refusal(cut).empty());
            const auto recover = [&] { return recover_project_bytes(cut, "p.headscope"); };
            if (size < sizeof(header) + header) {
                REQUIRE_THAT(input_error(recover), Contains("p.headscope"));
                continue;
            }
            const OpenedProject left = recover();
            REQUIRE_FALSE(left.notes.empty());
            REQUIRE(left.recipe.sentence == recipe.sentence);
            const Problem problem = built(left.recipe); // does not throw
            REQUIRE(problem.dims == built(recipe).dims);
        }
        const OpenedProject longer = recover_project_bytes(whole + "rest", "p.headscope");
        CHECK(same_bits(longer.recipe, recipe));
        CHECK_THAT(refusal(whole + "rest"), Contains("last 4 bytes"));
    }
}

TEST_CASE("recovery keeps what is there and names what is lost", "[project]") {
    const std::string whole = bytes_of(edited_recipe());
    const OpenedProject left = recover_project_bytes(whole.substr(0, whole.size() - 1), "p.headscope");
    // The mask's bytes come last: the problem cannot be whole without them, the edit is.
    CHECK(same_bits(left.recipe.edits.at(TensorId::W_Q), edited_recipe().edits.at(TensorId::W_Q)));
    CHECK(left.recipe.extra_mask.empty());
    REQUIRE(left.notes.size() == 4);
    CHECK_THAT(left.notes[0], Contains("p.headscope is damaged"));
    CHECK_THAT(left.notes[1], Contains("problem.mask.0") && Contains("missing"));
    CHECK_THAT(left.notes[2], Contains("mask rule 0 of the recipe"));
    CHECK_THAT(left.notes[3], Contains("were rebuilt"));
}

TEST_CASE("one changed bit anywhere in a project is seen", "[project]") {
    const std::string whole = bytes_of(edited_recipe());
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
        INFO("bit " << at % 8 << " of byte " << at);
        REQUIRE(!refusal(damaged).empty());
    }
}

TEST_CASE("recovery of a project with another number says that it is damaged", "[project]") {
    std::string bytes = bytes_of(edited_recipe());
    std::uint64_t header = 0;
    std::memcpy(&header, bytes.data(), sizeof(header));
    bytes[sizeof(header) + header] = static_cast<char>(bytes[sizeof(header) + header] ^ 1);
    CHECK_THAT(refusal(bytes), Contains("p.headscope is damaged: its bytes are not those that were saved"));
    const OpenedProject opened = recover_project_bytes(bytes, "p.headscope");
    CHECK_THAT(opened.notes.at(0), Contains("p.headscope is damaged"));
}

TEST_CASE("a project without a checksum opens as before, unless half of the checksum is left", "[project]") {
    const std::string whole = bytes_of(edited_recipe());
    CHECK(refusal(changed(whole, [](json&, json&) {})).empty());
    CHECK_THAT(refusal(changed(whole, [](json&, json& p) { p["checksum"] = "sha256"; })),
               Contains("is damaged"));
    CHECK_THAT(refusal(changed(whole,
                               [](json& header, json&) {
                                   header["__metadata__"]["headscope.sha256"] = std::string(64, '0');
                               })),
               Contains("is damaged"));
}

TEST_CASE("a project of a newer format is refused, also by recovery", "[project]") {
    const std::string newer = changed(bytes_of(edited_recipe()), [](json&, json& project) {
        project["format"] = 2;
        project["program"] = "7.5";
        project.erase("recipe");
    });
    for (const std::string& sentence :
         {refusal(newer), input_error([&] { recover_project_bytes(newer, "p.headscope"); })})
        CHECK_THAT(sentence, Contains("format 2") && Contains("Headscope 7.5") &&
                                 Contains("Headscope " HEADSCOPE_VERSION) && Contains("format 1"));
}

TEST_CASE("hostile structure is refused in one sentence", "[project]") {
    const auto says = [](const std::string& part, const std::function<void(json&, json&)>& change) {
        const std::string sentence = refusal_after(change);
        CHECK_THAT(sentence, Contains("p.headscope") && Contains(part));
        CHECK(sentence.find('\n') == std::string::npos);
    };
    says("no format number", [](json&, json& p) { p["format"] = "1"; });
    says("no format number", [](json&, json& p) { p["format"] = -1; });
    says("no format number", [](json&, json& p) { p["format"] = 0; });
    says("no format number", [](json&, json& p) { p = json::array(); });
    says("problem is missing", [](json&, json& p) { p.erase("problem"); });
    says("dims is missing", [](json&, json& p) { p["problem"].erase("dims"); });
    says("H is -1", [](json&, json& p) { p["recipe"]["H"] = -1; });
    says("H is 1e+300", [](json&, json& p) { p["recipe"]["H"] = 1e300; });
    says("seed is -1", [](json&, json& p) { p["recipe"]["seed"] = -1; });
    says("mask is \"diagonal\"", [](json&, json& p) { p["recipe"]["mask"] = "diagonal"; });
    says("gains is", [](json&, json& p) { p["recipe"]["gains"] = {1, "2"}; });
    says("gains is", [](json&, json& p) { p["recipe"]["gains"] = {1e39}; });
    says("temperature is", [](json&, json& p) { p["recipe"]["temperature"] = 0; });
    says("temperature is", [](json&, json& p) { p["recipe"]["temperature"] = 1e-60; });
    says("tokens is", [](json&, json& p) { p["problem"]["tokens"] = {1}; });
    says("no input output", [](json&, json& p) { p["recipe"]["edits"]["output"] = "problem.W_Q"; });
    says("has no tensor nowhere", [](json&, json& p) { p["recipe"]["edits"]["W_Q"] = "nowhere"; });
    says("name of a tensor", [](json&, json& p) { p["recipe"]["edits"]["W_Q"] = 7; });
    says("mask rule 0", [](json&, json& p) {
        p["recipe"]["extra_mask"] = {{{"kind", "causal"}, {"tensor", "x"}}};
    });
    says("mask rule 0", [](json&, json& p) { p["recipe"]["extra_mask"] = {7}; });
    says("mask rule 0", [](json&, json& p) { p["recipe"]["extra_mask"] = {{{"kind", "additive"}}}; });
    says("names a tensor for heads", [](json&, json& p) { p["problem"]["tensors"]["heads"] = "problem.x"; });
    says("has no \"dtype\"", [](json& header, json&) { header["other"] = header["__metadata__"]; });
    format::SafetensorsWriter writer;
    writer.set_metadata("headscope.project", "{");
    CHECK_THAT(refusal(writer.bytes()), Contains("p.headscope is not valid JSON"));
    CHECK_THAT(refusal(format::SafetensorsWriter().bytes()), Contains("without a project in it"));
    CHECK_THAT(refusal(""), Contains("0 bytes"));
}

TEST_CASE("tensors that do not fit the project's sizes are named", "[project]") {
    CHECK_THAT(refusal_after([](json&, json& p) { p["problem"]["dims"]["dk"] = 3; }),
               Contains("W_Q has shape") && Contains("it should have"));
    CHECK_THAT(refusal_after([](json&, json& p) { p["recipe"]["edits"]["W_Q"] = "problem.x"; }),
               Contains("problem.x") && Contains("edit of W_Q") && Contains("should have 2 axes"));
    CHECK_THAT(refusal_after([](json&, json& p) { p["problem"]["tensors"]["W_O"] = "problem.x"; }),
               Contains("W_O has shape (1, ") && Contains("it should have"));
    CHECK_THAT(refusal_after([](json&, json& p) { p["problem"]["tensors"].erase("W_K"); }),
               Contains("W_K is missing"));
}

TEST_CASE("NaN and infinity in a project are named", "[project]") {
    std::string bytes = changed(bytes_of(edited_recipe()), [](json&, json&) {});
    std::uint64_t header = 0;
    std::memcpy(&header, bytes.data(), sizeof(header));
    const float nan = std::nanf("");
    std::memcpy(bytes.data() + sizeof(header) + header, &nan, sizeof(nan));
    CHECK_THAT(refusal(bytes), Contains("number 0 of tensor") && Contains("is NaN"));
}

TEST_CASE("a recipe that no longer builds gives the stored numbers", "[project]") {
    const Recipe recipe = edited_recipe();
    const std::string bytes =
        changed(bytes_of(recipe), [](json&, json& p) { p["recipe"]["preset"] = "of-tomorrow"; });
    const OpenedProject opened = parse_project(bytes, "p.headscope");
    CHECK(opened.notes.size() == 1);
    CHECK(same_bits(built(opened.recipe), built(recipe)));
}

TEST_CASE("a project from before its preset changed keeps its numbers and says so", "[project]") {
    const std::string path = test_data("/project/two_heads_before.headscope");
    const OpenedProject opened = open_project(path);
    REQUIRE(opened.notes.size() == 1);
    CHECK_THAT(opened.notes[0], Contains("The preset Two heads has changed since " + path) &&
                                    Contains("numbers that were saved"));
    // The numbers are those of the old preset, with the edit and the head gain of the project.
    const Problem problem = built(opened.recipe);
    CHECK(problem.tokens == std::vector<std::string>{"The", "cat", "sat", "down"});
    CHECK(problem.weights.W_K->at(0, 0) == 4.0F);
    CHECK(problem.weights.W_V->at(0, 0) == 3.0F);
    CHECK(problem.gain(1) == 0.5F);
    // The edit can still be taken back.
    CHECK(opened.recipe.edits.contains(TensorId::W_V));
    CHECK(opened.recipe.base->weights.W_V->at(0, 0) == 1.0F);
}

TEST_CASE("a problem without a recipe is a base of its own", "[project]") {
    Recipe recipe = edited_recipe();
    recipe.temperature = 0.5F;
    const std::string bytes = changed(bytes_of(recipe), [](json&, json& p) { p.erase("recipe"); });
    const OpenedProject opened = parse_project(bytes, "p.headscope");
    CHECK(opened.notes.empty());
    CHECK(opened.recipe.temperature == 0.5F);
    CHECK(same_bits(built(opened.recipe), built(recipe)));
}

TEST_CASE("the project corpus is accepted or refused as its names say", "[project]") {
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(test_data("/corpus/project"))) {
        const std::string name = entry.path().filename().string();
        INFO(name);
        if (!name.ends_with(".headscope"))
            continue;
        ++files;
        const std::string sentence = input_error([&] { open_project(entry.path().string()); });
        CHECK(sentence.empty() == name.starts_with("good_"));
    }
    CHECK(files > 10);
}

TEST_CASE("edits that contradict the problem on screen give way to it", "[project]") {
    const Recipe recipe = edited_recipe();
    const std::string bytes =
        changed(bytes_of(recipe), [](json&, json& p) { p["recipe"]["edits"]["W_Q"] = "unedited.W_Q"; });
    const OpenedProject opened = parse_project(bytes, "p.headscope");
    CHECK(same_bits(built(opened.recipe), built(recipe)));
    CHECK_THAT(opened.notes.at(0), Contains("edits are part of that problem"));

    Recipe learned;
    learned.sentence = text::presets().front().sentence;
    const std::string no_identity =
        changed(bytes_of(learned), [](json&, json& p) { p["recipe"]["identity_W_O"] = true; });
    CHECK(same_bits(built(parse_project(no_identity, "p.headscope").recipe), built(learned)));
}

TEST_CASE("a file over 2 GB is refused before it is read", "[project]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("large.headscope");
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
    REQUIRE(file >= 0);
    REQUIRE(::ftruncate(file, static_cast<off_t>(largest_project) + 1) == 0);
    ::close(file);
    CHECK_THAT(input_error([&] { open_project(path); }), Contains(path) && Contains("at most 2 GB"));
    CHECK_THAT(input_error([&] { recover_project(path); }), Contains("at most 2 GB"));
}

TEST_CASE("a project that cannot be written leaves the old one", "[project]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("p.headscope");
    const Recipe recipe = edited_recipe();
    const auto saving = [&](const std::string& to) {
        return input_error([&] { save_project(recipe, built(recipe), to); });
    };
    CHECK_THAT(saving("/proc/p.headscope"), Contains("cannot write /proc/p.headscope"));
    CHECK_THAT(saving("/dev/full"), Contains("cannot write /dev/full") && Contains("free some space"));
    CHECK_THAT(saving(folder.file("no/p.headscope")), Contains("check the spelling"));
    save_project(recipe, built(recipe), path);
    CHECK_THAT(saving(path + "/p.headscope"), Contains("Not a directory"));
    const std::string before = read_file(path);

    const pid_t child = ::fork();
    if (child == 0) {
        // A disk with room for 500 bytes.
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit room{500, 500};
        ::setrlimit(RLIMIT_FSIZE, &room);
        Recipe other = recipe;
        other.temperature = 2;
        const std::string sentence = input_error([&] { save_project(other, built(other), path); });
        ::_exit(sentence.find("cannot write " + path) != std::string::npos ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(read_file(path) == before);
    CHECK(folder.entries() == 1);
}
