#include "core/base/file.h"
#include "core/format/safetensors.h"
#include "tests/app/cli/run_program.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <algorithm>
#include <fmt/format.h>
#include <regex>

// `headscope render` without the window: figures of checkpoints and files.

namespace headscope::test {
namespace {

using Catch::Contains;
using Words = std::vector<std::string>;

const std::string tiny = test_data("/models/gpt2_tiny");

/// Runs render and returns the bytes of the file.
std::string rendered(const Words& words, const std::string& ending = ".svg") {
    const TemporaryFolder folder;
    Words all{"render"};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), {"-o", folder.file("out" + ending)});
    const ProgramRun run = run_program(all);
    INFO(run.err);
    REQUIRE(run.code == 0);
    return read_file(folder.file("out" + ending));
}

/// The numbers with two decimals that an SVG prints in its cells, sorted.
std::vector<std::string> printed_numbers(const std::string& svg) {
    const std::regex text("<text[^>]*class=\"m\"[^>]*text-anchor=\"middle\"[^>]*>([01]\\.[0-9][0-9])</text>");
    std::vector<std::string> numbers;
    for (std::sregex_iterator found(svg.begin(), svg.end(), text), end; found != end; ++found)
        numbers.push_back((*found)[1]);
    std::ranges::sort(numbers);
    return numbers;
}

/// The weights that Hugging Face computes for the first `tokens` tokens of the stored text, in heads `first`
/// to `last` of a layer, as they are printed, sorted. Later tokens do not change them.
std::vector<std::string> reference_numbers(std::int64_t layer, std::int64_t first, std::int64_t last,
                                           std::int64_t tokens) {
    const auto file = format::Safetensors::open(tiny + "/expected.safetensors");
    constexpr std::int64_t L = 2, B = 2, H = 4, T = 12; // of expect.attentions (L, B, H, T, T)
    std::vector<float> weights(static_cast<std::size_t>(L * B * H * T * T));
    file.read_numbers("expect.attentions", 0, weights);
    std::vector<std::string> numbers;
    for (std::int64_t h = first; h <= last; ++h) {
        numbers.emplace_back("0.50"); // in the middle of the legend of each head
        for (std::int64_t i = 0; i < tokens; ++i)
            for (std::int64_t j = 0; j <= i; ++j)
                numbers.push_back(fmt::format(
                    "{:.2f}", weights[static_cast<std::size_t>((((layer * B) * H + h) * T + i) * T + j)]));
    }
    std::ranges::sort(numbers);
    return numbers;
}

const Words layer_of_tiny{"--model", tiny, "--text", "111 64 17 47", "--layer", "1"};

Words with(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

} // namespace

TEST_CASE("a figure of a checkpoint prints the weights that Hugging Face computes", "[cli][render]") {
    CHECK(printed_numbers(rendered(with(layer_of_tiny, {"--head", "2"}))) == reference_numbers(1, 2, 2, 4));
    const std::string all = rendered(layer_of_tiny); // without --head: all heads of the layer
    CHECK(printed_numbers(all) == reference_numbers(1, 0, 3, 4));
    for (const char* head : {"Head 0", "Head 1", "Head 2", "Head 3"})
        CHECK_THAT(all, Contains(head));
}

TEST_CASE("the size of a figure is given in mm, px or the size of its words", "[cli][render]") {
    const auto width = [](const std::string& svg) {
        std::smatch found;
        REQUIRE(std::regex_search(svg, found, std::regex("version=\"1.1\" width=\"([0-9.]+)\"")));
        return std::stod(found[1]);
    };
    constexpr double inch = 25.4, pixels = 96;
    const double natural = width(rendered(layer_of_tiny));
    CHECK(width(rendered(with(layer_of_tiny, {"--width", "90mm"}))) ==
          Approx(90 / inch * pixels).margin(0.01));
    // 13 pixels are 13 / 96 inch; at 6.5 points they are 6.5 / 72 inch.
    CHECK(width(rendered(with(layer_of_tiny, {"--font-size", "6.5pt"}))) ==
          Approx(natural * (6.5 / 72) / (13 / pixels)).margin(0.01));
    const std::string png = rendered(with(layer_of_tiny, {"--width", "500px"}), ".png");
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(png.at(at)); };
    CHECK(byte(18) * 256 + byte(19) == 500); // the width in the header of a PNG
    CHECK(rendered(with(layer_of_tiny, {"--width", "90mm"}), ".pdf").starts_with("%PDF"));
}

TEST_CASE("title, background and theme of a figure are options", "[cli][render]") {
    const std::string usual = rendered(layer_of_tiny),
                      bare = rendered(with(layer_of_tiny, {"--title", "off"}));
    CHECK_THAT(usual, Contains("gpt2_tiny") && Contains("softmax"));
    CHECK_THAT(bare, !Contains("gpt2_tiny") && !Contains("softmax"));
    CHECK(printed_numbers(bare) == printed_numbers(usual));
    const auto ground = [](const std::string& svg) {
        std::smatch found;
        return std::regex_search(svg, found, std::regex("<rect [^>]*fill=\"(#[0-9a-fA-F]+)\""))
                   ? found[1].str()
                   : "";
    };
    CHECK(ground(rendered(with(layer_of_tiny, {"--background", "white"}))) == "#ffffff");
    CHECK(ground(rendered(with(layer_of_tiny, {"--theme", "dark"}))) != ground(usual));
    CHECK(rendered(with(layer_of_tiny, {"--background", "none"})) != usual);
}

TEST_CASE("each screen of a checkpoint is drawn as a figure with words", "[cli][render]") {
    const Words pocket{"--model", "pocket", "--text",
                       "When Mary and John went to the shop, John gave a book to"};
    const std::pair<Words, std::string> screens[] = {
        {{"--screen", "flow"}, "Mary"},
        {{"--screen", "atlas"}, "L2"},
        {{"--screen", "effects", "--token", "Mary", "--against", "John"}, "Mary"},
        {{"--screen", "why", "--layer", "1", "--head", "2"}, "embedding"},
        {{"--screen", "circuits", "--layer", "1", "--head", "2"}, "promotes"},
        {{"--screen", "patching", "--corrupted", "When Mary and John went to the shop, Mary gave a book to"},
         "John"}};
    for (const auto& [words, part] : screens) {
        INFO(words[1]);
        CHECK_THAT(rendered(with(pocket, words)), Contains(part) && Contains("<text"));
    }
}

TEST_CASE("a sentence that begins with a hyphen follows two hyphens", "[cli][render]") {
    const TemporaryFolder folder;
    const Words written{"render", "--preset", "first-lesson", "-o", folder.file("out.svg")};
    CHECK(run_program(with(written, {"-five apples"})).code == 2);
    REQUIRE(run_program(with(written, {"--", "-five apples"})).code == 0);
    CHECK_THAT(read_file(folder.file("out.svg")), Contains("apples"));
}

TEST_CASE("options of a figure are refused where they mean nothing", "[cli][render]") {
    const auto code = [](const Words& words) {
        const TemporaryFolder folder;
        return run_program(with({"render", "The cat", "-o", folder.file("out.svg")}, words)).code;
    };
    CHECK(code({"--width", "5mm"}) == 1);
    CHECK(code({"--width", "90"}) == 1);
    CHECK(code({"--width", "500px"}) == 1); // an SVG has no pixels
    CHECK(code({"--font-size", "100pt"}) == 1);
    CHECK(code({"--background", "blue"}) == 1);
    CHECK(code({"--width", "90mm", "--font-size", "8pt"}) == 2);
    CHECK(code({"--width", "90mm", "--scale", "2"}) == 2);
    CHECK(code({"--window", "--title", "off"}) == 2);
    CHECK(code({"--attention", "none.npy"}) == 2);
}

} // namespace headscope::test
