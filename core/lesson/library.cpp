#include "core/lesson/library.h"

#include "core/base/assets.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/message.h"
#include "core/base/user_folders.h"

#include <algorithm>
#include <filesystem>
#include <future>
#include <map>
#include <tuple>
#include <utility>

namespace headscope::lesson {

namespace {

constexpr const char* built_in = "lessons/";
constexpr const char* fallback_language = "en";

FoundLesson read_lesson(const std::string& path) {
    try {
        return {.path = path, .parsed = parse_lesson(read_file(path, largest_lesson), path)};
    } catch (const Error& fault) {
        FoundLesson broken{.path = path, .parsed = {}};
        broken.parsed.lesson.title = std::filesystem::path(path).filename().string();
        broken.parsed.faults.push_back({1, fault.what()});
        return broken;
    }
}

/// Adds the lessons of a folder, or a single file.
void add_folder(const std::string& folder, std::vector<FoundLesson>& all) {
    std::error_code none;
    if (std::filesystem::is_regular_file(folder, none)) {
        all.push_back(read_lesson(folder));
        return;
    }
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none))
        if (entry.path().extension() == ".md" && entry.is_regular_file(none))
            paths.push_back(entry.path().string());
    std::ranges::sort(paths);
    std::ranges::transform(paths, std::back_inserter(all), read_lesson);
}

/// "lessons/masks.de.md": the lesson "lessons/masks" in "de".
struct AssetName {
    std::string lesson, language;
};
AssetName split_name(const std::string& asset) {
    const std::string name = asset.substr(0, asset.rfind(".md"));
    const std::size_t dot = name.find('.');
    return dot == std::string::npos ? AssetName{name, fallback_language}
                                    : AssetName{name.substr(0, dot), name.substr(dot + 1)};
}

/// The names of the lessons in the program: of each its translation into `language`, else the English one.
std::vector<std::string> built_in_names(std::string_view language) {
    std::map<std::string, std::string> chosen;
    for (const std::string& name : asset_names(built_in)) {
        const AssetName parts = split_name(name);
        if (parts.language == language)
            chosen[parts.lesson] = name;
        else if (parts.language == fallback_language)
            chosen.emplace(parts.lesson, name);
    }
    std::vector<std::string> names;
    for (const auto& [lesson, name] : chosen)
        names.push_back(name);
    return names;
}

/// The lessons in the program in this language. They are parsed in parallel, because YAML takes 2 ms for
/// each.
std::vector<FoundLesson> built_in_lessons(const std::string& language) {
    std::vector<std::future<FoundLesson>> parsing;
    for (const std::string& name : built_in_names(language))
        parsing.push_back(std::async(std::launch::async, [name] {
            return FoundLesson{.path = name, .parsed = parse_lesson(asset(name), name)};
        }));
    std::vector<FoundLesson> all;
    for (std::future<FoundLesson>& one : parsing)
        all.push_back(one.get());
    return all;
}

/// Returns true if no other translation of the lesson matches `language` better.
bool is_best_translation(const FoundLesson& one, const std::vector<FoundLesson>& all,
                         const std::string& language) {
    const Lesson& lesson = one.parsed.lesson;
    if (lesson.language == language || lesson.id.empty())
        return true;
    const auto same = [&](const FoundLesson& other, const std::string& in) {
        return other.parsed.lesson.id == lesson.id && other.parsed.lesson.language == in;
    };
    if (std::ranges::any_of(all, [&](const FoundLesson& other) { return same(other, language); }))
        return false;
    return lesson.language == fallback_language || std::ranges::none_of(all, [&](const FoundLesson& other) {
               return same(other, fallback_language);
           });
}

/// Hides the earlier of two files with the same id. Removes duplicates of the same file.
void hide_duplicates(std::vector<FoundLesson>& all) {
    std::map<std::string, std::string> counts; // by id, the file that is used
    for (auto one = all.rbegin(); one != all.rend(); ++one)
        if (one->parsed.faults.empty())
            if (const auto [first, is_new] = counts.emplace(one->parsed.lesson.id, one->path); !is_new)
                one->hidden_by = first->second;
    std::erase_if(all, [](const FoundLesson& one) {
        std::error_code none;
        return !one.hidden_by.empty() && std::filesystem::equivalent(one.path, one.hidden_by, none);
    });
}

} // namespace

std::string name_of(const FoundLesson& found) {
    const std::string& id = found.parsed.lesson.id;
    return id.empty() ? std::filesystem::path(found.path).stem().string() : id;
}

std::vector<FoundLesson> find_lessons(const std::vector<std::string>& folders, const std::string& language) {
    std::vector<FoundLesson> all = built_in_lessons(std::string(language_code(language)));
    for (const std::string& folder : folders)
        add_folder(folder, all);
    const bool as_given = std::ranges::any_of(
        all, [&](const FoundLesson& one) { return one.parsed.lesson.language == language; });
    const std::string wanted = as_given ? language : std::string(language_code(language));
    std::vector<bool> is_shown;
    for (const FoundLesson& one : all)
        is_shown.push_back(is_best_translation(one, all, wanted));
    std::vector<FoundLesson> shown;
    for (std::size_t n = 0; n < all.size(); ++n)
        if (is_shown[n])
            shown.push_back(std::move(all[n]));
    hide_duplicates(shown);
    std::ranges::stable_sort(shown, {}, [](const FoundLesson& one) {
        const Lesson& lesson = one.parsed.lesson;
        return std::tuple(lesson.number < 0, lesson.number, lesson.title);
    });
    return shown;
}

Lesson open_lesson(const std::string& path) {
    ParsedLesson parsed = parse_lesson(read_file(path, largest_lesson), path);
    if (!parsed.faults.empty())
        fail_input(tr("library.line_headscope_lesson_check",
                      "{}, line {}: {}; headscope lesson check lists all faults", path,
                      parsed.faults.front().line, parsed.faults.front().sentence));
    return std::move(parsed.lesson);
}

std::vector<std::string> lesson_folders(const std::optional<std::string>& more) {
    if (std::error_code none; more && !more->empty() && !std::filesystem::is_directory(*more, none))
        fail_input(tr("library.no_folder_read_lessons",
                      "there is no folder {} to read lessons from; name another one", *more));
    std::vector<std::string> all;
    for (const std::string& folder : {user_lessons_folder(), more.value_or("")})
        if (!folder.empty())
            all.push_back(folder);
    return all;
}

std::string user_lessons_folder() {
    const std::filesystem::path folder = program_folder(UserFolder::data);
    return folder.empty() ? "" : (folder / "lessons").string();
}

} // namespace headscope::lesson
