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

void require(bool promise) {
    if (!promise)
        std::abort();
}

/// Runs `use` and says whether it was refused with an input error. Anything else it throws ends the program.
template<class Use>
bool accepted(Use use) {
    try {
        use();
        return true;
    } catch (const Error& error) {
        require(error.kind() == ErrorKind::input && std::strlen(error.what()) > 0);
        return false;
    }
}

/// A file with this project in it, and tensors of many shapes that it can name: those of a problem with
/// B = 1, T = 2, D = 2, H = Hkv = 1 and dk = dv = 2 among them.
std::string wrapped(const std::string& project) {
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

/// What was opened builds a problem, and comes back from a file of its own without a loss.
void check_round_trip(const project::OpenedProject& opened) {
    const Problem problem = project::with_edits(project::build_recipe(opened.recipe).problem, opened.recipe);
    const project::OpenedProject again =
        project::parse_project(project::project_bytes(opened.recipe, problem), "the written file");
    require(again.notes.empty() && project::same_bits(again.recipe, opened.recipe));
}

} // namespace

/// Bytes that begin with a brace are the JSON inside of a file, others a whole file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string bytes(reinterpret_cast<const char*>(data), size);
    if (bytes.starts_with('{'))
        bytes = wrapped(bytes);
    std::optional<project::OpenedProject> opened, recovered;
    if (accepted([&] { opened = project::parse_project(bytes, "input"); }))
        check_round_trip(*opened);
    if (accepted([&] { recovered = project::recover_project_bytes(bytes, "input"); }))
        check_round_trip(*recovered);
    // Nothing that can be opened is beyond recovery.
    require(!opened || (recovered && project::same_bits(opened->recipe, recovered->recipe)));
    return 0;
}

void repair(std::string& input) {
    const auto end = input.rfind("\"}}");
    if (input.starts_with('{') || end == std::string::npos || end < sizeof(std::uint64_t))
        return;
    const std::uint64_t length = end + 3 - sizeof(std::uint64_t);
    std::memcpy(input.data(), &length, sizeof(length));
}
