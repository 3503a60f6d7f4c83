#include "core/checkpoint/gguf/gguf_parts.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/parse.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <tuple>

namespace headscope::checkpoint {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view gguf_ending = ".gguf";

/// Parts of a file's name: "NAME-00002-of-00005.gguf".
struct PartName {
    std::string stem;                   ///< "NAME"
    std::int64_t number = 0, count = 0; ///< from 1
};

std::optional<PartName> part_name_of(std::string_view name) {
    constexpr std::string_view between = "-of-";
    constexpr std::size_t digits = 5;
    if (!name.ends_with(gguf_ending))
        return std::nullopt;
    name.remove_suffix(gguf_ending.size());
    const std::size_t tail = 1 + digits + between.size() + digits;
    if (name.size() < tail || name[name.size() - tail] != '-' ||
        name.substr(name.size() - digits - between.size(), between.size()) != between)
        return std::nullopt;
    const auto number = number_of<std::int64_t>(name.substr(name.size() - tail + 1, digits)),
               count = number_of<std::int64_t>(name.substr(name.size() - digits));
    if (!number || !count)
        return std::nullopt;
    return PartName{std::string(name.substr(0, name.size() - tail)), *number, *count};
}

std::vector<fs::path> gguf_files_in(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code fault;
    for (fs::directory_iterator entry(folder, fault), end; !fault && entry != end; entry.increment(fault))
        if (entry->path().extension() == gguf_ending && is_gguf(entry->path().string()))
            found.push_back(entry->path());
    std::ranges::sort(found);
    return found;
}

/// Nothing for a file that cannot be opened, or that is a part of another model.
std::optional<GgufFile> opened_part(const fs::path& path, const GgufPart& like, VocabularyLists lists) {
    try {
        GgufFile file = GgufFile::open_one(path.string(), lists);
        const GgufPart part = file.part();
        if (part.count == like.count && part.tensors == like.tensors)
            return file;
    } catch (const Error&) { // it is missing, or another kind of file
        return std::nullopt;
    }
    return std::nullopt;
}

} // namespace

std::vector<std::string> gguf_models_in(const std::string& folder) {
    std::vector<std::string> found;
    std::map<std::pair<std::string, std::int64_t>, std::int64_t> firsts; // lowest number by name and count
    const std::vector<fs::path> files = gguf_files_in(folder);
    for (const fs::path& file : files)
        if (const auto name = part_name_of(file.filename().string())) {
            const auto [first, added] = firsts.try_emplace({name->stem, name->count}, name->number);
            first->second = std::min(first->second, name->number);
        }
    for (const fs::path& file : files) {
        const std::string name = file.filename().string();
        const auto part = part_name_of(name);
        const bool later = part && firsts.at({part->stem, part->count}) != part->number;
        if (!later && name.find("mmproj") == std::string::npos)
            found.push_back(file.string());
    }
    return found;
}

GgufFile open_gguf_parts(GgufFile named, const std::string& path, VocabularyLists lists) {
    const GgufPart like = named.part();
    const fs::path place = path, folder = place.has_parent_path() ? place.parent_path() : fs::path(".");
    const auto said = part_name_of(place.filename().string());
    const std::string stem = said ? said->stem : place.stem().string();
    const auto usual_name = [&](std::int64_t number) {
        return fmt::format("{}-{:05}-of-{:05}{}", stem, number + 1, like.count, gguf_ending);
    };
    std::map<std::int64_t, GgufFile> parts;
    parts.emplace(like.number, std::move(named));
    const auto add = [&](const fs::path& file) {
        if (file.filename() == place.filename())
            return;
        if (auto part = opened_part(file, like, lists)) {
            const std::int64_t number = part->part().number;
            const auto [known, added] = parts.try_emplace(number, *part);
            if (!added && known->second.source() != part->source())
                fail_input(tr("gguf_parts.part_twice",
                              "{} and {} are both part {} of {} of a model; leave only one in the folder",
                              known->second.source(), part->source(), number + 1, like.count));
        }
    };
    for (std::int64_t number = 0; number < like.count; ++number)
        if (std::error_code none; fs::exists(folder / usual_name(number), none))
            add(folder / usual_name(number));
    if (std::ssize(parts) < like.count)
        for (const fs::path& file : gguf_files_in(folder)) {
            const auto own = part_name_of(file.filename().string());
            // A folder may hold several models in equally many parts; those have names of their own.
            if (own.has_value() == said.has_value() && (!own || own->stem == stem))
                add(file);
        }
    std::vector<GgufFile> all;
    for (std::int64_t number = 0; number < like.count; ++number) {
        const auto part = parts.find(number);
        if (part == parts.end())
            fail_input(tr("gguf_parts.part_missing",
                          "{} is part {} of {} of a model, and part {} is missing; put {} into the folder {}",
                          path, like.number + 1, like.count, number + 1, usual_name(number),
                          folder.string()));
        all.push_back(std::move(part->second));
    }
    return GgufFile::joined_parts(std::move(all));
}

} // namespace headscope::checkpoint
