#include "core/base/error.h"
#include "core/format/safetensors.h"
#include "core/project/project_file.h"
#include "core/project/same_bits.h"
#include "tests/fuzz/target.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>

using namespace headscope;

namespace {

/// Returns a file with this project in it, and with tensors of many shapes that it can name, such as those of
/// a problem with B = 1, T = 2, D = 2, H = Hkv = 1 and dk = dv = 2.
std::string file_with_project(const std::string& project) {
    constexpr float lowest = -std::numeric_limits<float>::infinity();
    constexpr std::array<float, 8> numbers{0, 1, -0.5F, 3e38F, 1, 2, lowest, 4};
    format::SafetensorsWriter writer;
    writer.add("x", make_tensor({1, 2, 2}, std::span(numbers).first(4)));
    writer.add("w", make_tensor({2, 2}, std::span(numbers).first(4)));
    writer.add("b", make_tensor({2}, std::span(numbers).first(2)));
    writer.add("add", make_tensor({2, 2}, std::span(numbers).last(4)));
    writer.add("none", make_tensor({0, 2}, {}));
    writer.add("allowed", std::make_shared<const BoolTensor>(BoolTensor{{2, 2}, {1, 0, 1, 1}}));
    writer.set_metadata("headscope.project", project);
    return writer.bytes();
}

/// Checks that an opened project builds a problem, and is written and read again without a loss.
void check_round_trip(const project::OpenedProject& opened) {
    const Problem problem = project::with_edits(project::build_recipe(opened.recipe).problem, opened.recipe);
    const project::OpenedProject again =
        project::parse_project(project::project_bytes(opened.recipe, problem), "the written file");
    fuzz::require(again.notes.empty() && project::same_bits(again.recipe, opened.recipe));
}

/// Bytes that begin with a brace are the JSON inside a file, others a whole file.
void read_project(std::string_view bytes) {
    const std::string file =
        bytes.starts_with('{') ? file_with_project(std::string(bytes)) : std::string(bytes);
    std::optional<project::OpenedProject> opened, recovered;
    if (fuzz::accepted([&] { opened = project::parse_project(file, "input"); }))
        check_round_trip(*opened);
    if (fuzz::accepted([&] { recovered = project::recover_project_bytes(file, "input"); }))
        check_round_trip(*recovered);
    // Every project that can be opened can also be recovered.
    fuzz::require(!opened || (recovered && project::same_bits(opened->recipe, recovered->recipe)));
}

void repair_length_of_project(std::string& input) {
    if (!input.starts_with('{'))
        fuzz::repair_header_length(input, "\"}}");
}

const fuzz::Registered
    project_file({.name = "project", .read = read_project, .repair = repair_length_of_project});

} // namespace
