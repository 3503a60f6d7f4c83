#include "core/analysis/prompts/prompt_set.h"
#include "core/base/error.h"
#include "tests/fuzz/target.h"

#include <string>
#include <string_view>

using namespace headscope;

namespace {

/// Reads a set and checks that its lines ascend, and that each has a fault or fields that are not empty.
void read_set(std::string_view bytes, const char* path) {
    const analysis::PromptSet set = analysis::PromptSet::read(bytes, path);
    std::int64_t line = 0;
    for (const analysis::Prompt& prompt : set.prompts) {
        fuzz::require(prompt.line > line);
        line = prompt.line;
        for (const auto& [name, value] : prompt.fields)
            fuzz::require(value.text.empty() != value.ids.empty());
        fuzz::accepted([&] { static_cast<void>(prompt.text()); });
    }
}

const fuzz::Registered prompts_target({.name = "prompts", .read = [](std::string_view bytes) {
                                           for (const char* const path : {"a.txt", "a.jsonl", "a.csv"})
                                               fuzz::accepted([&] { read_set(bytes, path); });
                                       }});

} // namespace
