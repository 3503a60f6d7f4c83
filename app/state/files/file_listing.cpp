#include "app/state/files/file_listing.h"

#include "core/base/message.h"
#include "core/base/system_reason.h"
#include "core/checkpoint/files/local_models.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <system_error>

namespace headscope::app {

namespace {

namespace fs = std::filesystem;

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

bool wanted(const std::string& name, const std::vector<std::string>& suffixes) {
    return suffixes.empty() ||
           std::ranges::any_of(suffixes, [&](const auto& suffix) { return has_suffix(name, suffix); });
}

std::string reason_of(const fs::path& folder, const std::error_code& fault) {
    if (fault == std::errc::no_such_file_or_directory)
        return tr("file_listing.folder_not_go_another", "The folder {} does not exist; go to another folder.",
                  folder.string());
    if (fault == std::errc::permission_denied)
        return tr("file_listing.folder_may_not_read", "You may not read the folder {}; go to another folder.",
                  folder.string());
    if (fault == std::errc::not_a_directory)
        return tr("file_listing.file_not_folder_go", "{} is a file, not a folder; go to another folder.",
                  folder.string());
    return tr("file_listing.folder_cannot_read_go",
              "The folder {} cannot be read ({}); go to another folder.", folder.string(),
              system_reason(fault.value()));
}

/// Returns false for entries that have vanished and for those that are neither a folder nor a regular file.
bool read_row(const fs::path& folder, const std::string& name, FileRow& row) {
    struct stat entry {};
    if (::stat((folder / name).c_str(), &entry) != 0)
        return false;
    row.name = name;
    row.folder = S_ISDIR(entry.st_mode);
    row.bytes = row.folder ? 0 : static_cast<std::uintmax_t>(entry.st_size);
    row.modified = entry.st_mtime;
    return row.folder || S_ISREG(entry.st_mode);
}

/// Returns the length in bytes of the common prefix, which never ends inside a UTF-8 character.
std::size_t common_start(const std::string& a, const std::string& b) {
    const auto [in_a, in_b] = std::ranges::mismatch(a, b);
    auto length = static_cast<std::size_t>(in_a - a.begin());
    while (length > 0 && length < a.size() && (static_cast<unsigned char>(a[length]) & 0xC0U) == 0x80U)
        --length;
    return length;
}

} // namespace

bool has_suffix(const std::string& name, const std::string& suffix) {
    return name.size() > suffix.size() && lower(name).ends_with(lower(suffix));
}

FileListing list_folder(const fs::path& folder, const std::vector<std::string>& suffixes, bool hidden) {
    FileListing listing{typed_path(folder.string(), "/"), {}, {}};
    std::error_code fault;
    fs::directory_iterator entry(listing.folder, fault);
    for (; !fault && entry != fs::directory_iterator(); entry.increment(fault)) {
        const std::string name = entry->path().filename().string();
        FileRow row;
        if ((hidden || !name.starts_with('.')) && read_row(listing.folder, name, row) &&
            (row.folder || wanted(name, suffixes))) {
            row.checkpoint = row.folder && checkpoint::is_checkpoint((listing.folder / name).string());
            listing.rows.push_back(std::move(row));
        }
    }
    if (fault) {
        listing.error = reason_of(listing.folder, fault);
        listing.rows.clear();
    }
    std::ranges::sort(listing.rows, [](const FileRow& a, const FileRow& b) {
        if (a.folder != b.folder)
            return a.folder;
        const std::string left = lower(a.name), right = lower(b.name);
        return left != right ? left < right : a.name < b.name;
    });
    return listing;
}

fs::path typed_path(const std::string& typed, const fs::path& folder) {
    fs::path path = typed;
    if (typed == "~" || typed.starts_with("~/"))
        path = home_folder() / fs::path(typed.size() > 2 ? typed.substr(2) : "");
    path = (path.is_absolute() ? path : folder / path).lexically_normal();
    // "a/b/" and "a/b" are the same path.
    return path.has_filename() || path == path.root_path() ? path : path.parent_path();
}

std::string completed(const std::string& typed, const fs::path& folder,
                      const std::vector<std::string>& suffixes, const std::vector<std::string>& names) {
    if (typed == "~")
        return "~/";
    const auto slash = typed.rfind('/');
    const std::string before = slash == std::string::npos ? "" : typed.substr(0, slash + 1);
    const std::string start = typed.substr(before.size());
    FileListing listing =
        list_folder(before.empty() ? folder : typed_path(before, folder), suffixes, start.starts_with('.'));
    if (before.empty() && !start.empty())
        for (const std::string& name : names)
            listing.rows.push_back({.name = name});
    std::string grown;
    int matches = 0;
    bool into_folder = false;
    for (const FileRow& row : listing.rows) {
        if (!row.name.starts_with(start))
            continue;
        grown = matches == 0 ? row.name : grown.substr(0, common_start(grown, row.name));
        into_folder = ++matches == 1 && row.folder;
    }
    return matches == 0 ? typed : before + grown + (into_folder ? "/" : "");
}

std::string date_text(std::time_t time, std::time_t now) {
    if (time == 0)
        return {};
    std::tm then{}, today{};
    if (::localtime_r(&time, &then) == nullptr || ::localtime_r(&now, &today) == nullptr)
        return {};
    // In the language of the program, independent of the locale.
    static constexpr std::array<Message, 12> months{
        translatable("file_listing.jan", "Jan"), translatable("file_listing.feb", "Feb"),
        translatable("file_listing.mar", "Mar"), translatable("file_listing.apr", "Apr"),
        translatable("file_listing.may", "May"), translatable("file_listing.jun", "Jun"),
        translatable("file_listing.jul", "Jul"), translatable("file_listing.aug", "Aug"),
        translatable("file_listing.sep", "Sep"), translatable("file_listing.oct", "Oct"),
        translatable("file_listing.nov", "Nov"), translatable("file_listing.dec", "Dec")};
    const auto two = [](int value) { return (value < 10 ? "0" : "") + std::to_string(value); };
    const std::string clock = two(then.tm_hour) + ":" + two(then.tm_min);
    const std::string day =
        // Translators: a day and its month, "3 Mar"
        tr("file_listing.text", "{} {}", then.tm_mday, tr(months.at(static_cast<std::size_t>(then.tm_mon))));
    if (then.tm_year != today.tm_year)
        return day + " " + std::to_string(then.tm_year + 1900);
    // Translators: {} is a time of day, "14:05"
    return then.tm_yday == today.tm_yday ? tr("file_listing.today", "today {}", clock) : day + " " + clock;
}

} // namespace headscope::app
