#include "app/cli/prompts/prompt_parts.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace headscope::cli {

namespace {

using PartJson = nlohmann::ordered_json;

PartJson json_of(std::int64_t line, const PromptOutcome& outcome) {
    PartJson json{{"line", line}};
    if (outcome.why.empty())
        json["result"] = outcome.result; // as text, so that its numbers stay as they are
    else
        json["why"] = outcome.why;
    return json;
}

/// Adds the outcomes of a part to `all`. Returns the bytes of its complete lines; 0 if it has no digest yet.
/// Throws Error(input) if it belongs to another computation.
std::size_t read_prompt_part(const std::string& path, const std::string& digest, const std::string& out,
                             PromptOutcomes& all) {
    const std::string bytes = read_file(path, std::uint64_t{1} << 40U);
    std::size_t at = 0;
    for (std::size_t end = bytes.find('\n'); end != std::string::npos; end = bytes.find('\n', at)) {
        const std::string line = bytes.substr(at, end - at);
        if (at == 0 && line != digest)
            fail_input(path +
                       " belongs to other prompts, options or another model; name another file with -o, "
                       "or remove " +
                       out + ".part-*");
        if (at > 0) {
            const nlohmann::json read = parse_json(line, path);
            if (!read.is_object() || !read.contains("line") ||
                !(read.contains("result") || read.contains("why")))
                fail_input(path + " is damaged; remove " + out + ".part-* and start again");
            all[read["line"].get<std::int64_t>()] = {.result = read.value("result", std::string()),
                                                     .why = read.value("why", std::string())};
        }
        at = end + 1;
    }
    return at;
}

} // namespace

PromptParts::PromptParts(std::string out, std::string digest, const ProcessRank& rank)
    : out_(std::move(out)), digest_(std::move(digest)), files_(out_, "command", rank, rank.count == 1) {
    if (complete())
        return;
    std::size_t kept = 0;
    try {
        for (const std::filesystem::path& path : files_.parts()) {
            const std::size_t read = read_prompt_part(path.string(), digest_, out_, outcomes_);
            kept = path == std::filesystem::path(files_.own_path()) ? read : kept;
        }
    } catch (const Error&) {
        if (!complete()) // otherwise the parts were removed while they were read
            throw;
    }
    if (complete())
        return;
    std::error_code fault;
    if (kept > 0)
        std::filesystem::resize_file(files_.own_path(), kept, fault);
    own_.open(files_.own_path(), kept > 0 ? std::ios::app : std::ios::trunc);
    if (kept == 0)
        own_ << digest_ << '\n' << std::flush;
    if (fault || !own_)
        fail_input("cannot write " + files_.own_path() + "; free some space, or write elsewhere with -o");
}

void PromptParts::add(std::int64_t line, const PromptOutcome& outcome) {
    outcomes_[line] = outcome;
    own_ << dump_json(json_of(line, outcome)) << '\n' << std::flush;
    if (!own_)
        fail_input("cannot write " + files_.own_path() + "; free some space, or write elsewhere with -o");
}

PromptOutcomes PromptParts::read(const PartFiles::Parts& parts) const {
    PromptOutcomes all;
    for (const std::filesystem::path& path : parts)
        read_prompt_part(path.string(), digest_, out_, all);
    return all;
}

PartFiles::Finished PromptParts::finish(std::size_t count,
                                        const std::function<void(const PromptOutcomes&)>& write) const {
    return files_.finish([&](const PartFiles::Parts& parts) { return read(parts).size() >= count; },
                         [&](const PartFiles::Parts& parts) { write(read(parts)); });
}

} // namespace headscope::cli
