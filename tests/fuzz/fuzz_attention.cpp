#include "core/analysis/heads/head_map.h"
#include "core/base/error.h"
#include "core/format/attention_file.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/target.h"

#include <cstdlib>

using namespace headscope;

namespace {

/// Reads everything that the window reads from a file.
void look_at(const AttentionSet& set) {
    const AttentionInfo& info = set.info();
    fuzz::require(info.L > 0 && info.H > 0 && info.Tq > 0 && info.Tk > 0);
    fuzz::require(info.numbers.size() == static_cast<std::size_t>(info.L));
    for (const std::int64_t l : {std::int64_t{0}, info.L - 1}) {
        const auto queries = set.query_tokens(l).size(), keys = set.key_tokens(l).size();
        fuzz::require(queries == 0 || queries == static_cast<std::size_t>(info.Tq));
        fuzz::require(keys == 0 || keys == static_cast<std::size_t>(info.Tk));
        Progress progress;
        const Trace trace = analysis::attention_trace(set, l, progress);
        const auto maps = analysis::head_maps(set, l, 8, progress);
        fuzz::require(maps.size() == static_cast<std::size_t>(info.H));
        for (const analysis::HeadMap& map : maps)
            fuzz::require(map.facts.rows_off + map.facts.empty_rows <= info.Tq);
    }
}

/// The first and the last text of each part.
void look_at_choices(const AttentionOptions& options) {
    for (const AttentionPart& part : options.parts) {
        fuzz::require(part.texts > 0);
        for (const std::int64_t text : {std::int64_t{0}, part.texts - 1})
            fuzz::accepted([&] { look_at(*options.open({part.id, text})); });
    }
}

void repair_safetensors(std::string& input) {
    if (!input.starts_with("\x93NUMPY"))
        fuzz::repair_header_length(input);
}

const fuzz::Registered attention_target({.name = "attention",
                                         .read =
                                             [](std::string_view bytes) {
                                                 const fuzz::MemoryFile file(bytes);
                                                 fuzz::accepted([&] {
                                                     look_at_choices(*format::attention_options(file.path()));
                                                 });
                                             },
                                         .repair = repair_safetensors});

} // namespace
