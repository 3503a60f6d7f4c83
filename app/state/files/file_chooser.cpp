#include "app/state/files/file_chooser.h"

#include "core/base/message.h"
#include "core/base/system_reason.h"
#include "core/checkpoint/files/local_models.h"
#include "core/checkpoint/files/packaged_models.h"

#include <algorithm>
#include <system_error>

namespace headscope::app {

namespace fs = std::filesystem;

FileChooser::FileChooser(Options options) : options_(std::move(options)), text_(options_.name) {
    listing_ = list_folder(options_.folder, options_.suffixes);
    // The folder of an old project may not exist any more: start in the home folder.
    if (!listing_.error.empty())
        listing_ = list_folder(home_folder(), options_.suffixes);
}

void FileChooser::offer(const std::vector<OfferedModel>& models) {
    options_.models.insert(options_.models.end(), models.begin(), models.end());
}

void FileChooser::go(const fs::path& folder) {
    listing_ = list_folder(folder, options_.suffixes);
    row_ = -1;
    error_.clear();
    replacing_.clear();
    new_folder_.reset();
    if (!options_.saving)
        text_.clear();
}

void FileChooser::up() {
    const std::string from = listing_.folder.filename().string();
    go(listing_.folder.parent_path());
    const auto here = std::ranges::find(listing_.rows, from, &FileRow::name);
    if (here != listing_.rows.end())
        row_ = static_cast<int>(here - listing_.rows.begin());
}

void FileChooser::select(int row) {
    if (row < 0 || row >= static_cast<int>(listing_.rows.size()))
        return;
    row_ = row;
    error_.clear();
    replacing_.clear();
    const FileRow& chosen = listing_.rows[static_cast<std::size_t>(row)];
    if (!chosen.folder)
        text_ = chosen.name;
    else if (!options_.saving)
        text_.clear();
}

void FileChooser::move(int by) {
    const int last = static_cast<int>(listing_.rows.size()) - 1;
    if (last >= 0)
        select(std::clamp((row_ < 0 && by < 0 ? last + 1 : row_) + by, 0, last));
}

void FileChooser::type(std::string text) {
    text_ = std::move(text);
    row_ = -1;
    error_.clear();
    replacing_.clear();
}

std::string FileChooser::completion(const std::string& typed) const {
    return completed(typed, listing_.folder, options_.suffixes,
                     options_.saving ? std::vector<std::string>() : checkpoint::packaged_models());
}

const std::string& FileChooser::suffix() const {
    const auto typed = std::ranges::find_if(options_.suffixes,
                                            [&](const auto& suffix) { return has_suffix(text_, suffix); });
    return typed == options_.suffixes.end() ? options_.suffixes.front() : *typed;
}

void FileChooser::use_suffix(const std::string& suffix) {
    const std::string now = this->suffix();
    std::string stem = has_suffix(text_, now) ? text_.substr(0, text_.size() - now.size()) : text_;
    // The chosen extension also becomes the default for names without one.
    std::stable_partition(options_.suffixes.begin(), options_.suffixes.end(),
                          [&](const std::string& one) { return one == suffix; });
    type(std::move(stem) + suffix);
}

std::string FileChooser::with_suffix(const std::string& name) const {
    // Happens when "cat.headscope" is typed over the "cat" of "cat.headscope".
    for (const std::string& suffix : options_.suffixes)
        if (name.ends_with(suffix + suffix) && name.size() > 2 * suffix.size())
            return name.substr(0, name.size() - suffix.size());
    const bool has =
        std::ranges::any_of(options_.suffixes, [&](const auto& suffix) { return has_suffix(name, suffix); });
    return has || options_.suffixes.empty() ? name : name + options_.suffixes.front();
}

std::optional<std::string> FileChooser::accept() {
    error_.clear();
    const bool on_folder = row_ >= 0 && listing_.rows[static_cast<std::size_t>(row_)].folder;
    if (on_folder && !options_.saving && listing_.rows[static_cast<std::size_t>(row_)].checkpoint)
        return (listing_.folder / listing_.rows[static_cast<std::size_t>(row_)].name).string();
    if (on_folder) {
        go(listing_.folder / listing_.rows[static_cast<std::size_t>(row_)].name);
        return std::nullopt;
    }
    if (text_.empty()) {
        error_ = options_.saving
                     ? tr("file_chooser.type_name_file", "Type a name for the file.")
                     : tr("file_chooser.choose_file_type_name", "Choose a file, or type its name.");
        return std::nullopt;
    }
    if (!options_.saving && checkpoint::is_packaged(text_))
        return text_;
    fs::path path = typed_path(text_, listing_.folder);
    std::error_code none;
    if (!options_.saving && checkpoint::is_checkpoint(path.string()))
        return path.string();
    if (fs::is_directory(path, none)) {
        if (options_.saving)
            text_.clear();
        go(path);
        return std::nullopt;
    }
    if (!options_.saving) {
        // Accepts a project name without its extension.
        if (!fs::exists(path, none) && fs::exists(with_suffix(path.string()), none))
            path = with_suffix(path.string());
        if (fs::exists(path, none))
            return path.string();
        error_ = tr("file_chooser.no_file_choose_one",
                    "There is no file {}; choose one of the list or correct the name.", path.string());
        return std::nullopt;
    }
    path = with_suffix(path.string());
    if (!fs::is_directory(path.parent_path(), none)) {
        error_ = tr("file_chooser.no_folder_make_new",
                    "There is no folder {}; make it with \"New folder\" or choose another.",
                    path.parent_path().string());
        return std::nullopt;
    }
    if (fs::is_directory(path, none)) {
        error_ = tr("file_chooser.folder_give_file_another", "{} is a folder; give the file another name.",
                    path.filename().string());
        return std::nullopt;
    }
    if (fs::exists(path, none)) {
        replacing_ = path.filename().string();
        return std::nullopt;
    }
    return path.string();
}

std::optional<std::string> FileChooser::replace() {
    if (replacing_.empty())
        return std::nullopt;
    replacing_.clear();
    return with_suffix(typed_path(text_, listing_.folder).string());
}

void FileChooser::make_new_folder() {
    if (!new_folder_)
        return;
    const std::string name = *new_folder_;
    if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos) {
        error_ = name.empty() ? tr("file_chooser.type_name_new_folder", "Type a name for the new folder.")
                              : tr("file_chooser.folder_cannot_called_choose",
                                   "A folder cannot be called \"{}\"; choose a name without \"/\".", name);
        return;
    }
    const fs::path folder = listing_.folder / name;
    std::error_code fault;
    if (fs::create_directory(folder, fault))
        return go(folder);
    error_ = fault ? tr("file_chooser.folder_cannot_made_choose",
                        "The folder {} cannot be created ({}); choose another name or place.", name,
                        system_reason(fault.value()))
                   : tr("file_chooser.folder_cannot_made_name",
                        "The folder {} cannot be created (the name is taken); choose another name or place.",
                        name);
}

} // namespace headscope::app
