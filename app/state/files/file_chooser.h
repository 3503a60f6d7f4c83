#pragma once

#include "app/state/files/file_listing.h"

#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// A folder in the sidebar of the chooser.
struct FolderShortcut {
    std::string label;
    std::filesystem::path folder;
};

/// A checkpoint that the chooser lists below the folders.
struct OfferedModel {
    std::string label; ///< "openai-community/gpt2"
    std::string path;  ///< path of its folder or file
    std::string line;  ///< under the label: "llama, 4 × 8, 1.8 M"
    std::string about; ///< the same in full, and the reason if the model cannot run
};

/// Chooses a file to open or a name to save under; does not draw. Reads the disk only to list folders and to
/// check whether a file exists; writes only to create a folder on request.
class FileChooser {
public:
    struct Options {
        std::string title;                 ///< "Open a project"
        std::string accept;                ///< label of the button: "Open"
        bool saving = false;               ///< accepts a new name and asks before it replaces a file
        std::vector<std::string> suffixes; ///< the first is added to a name that has none of them
        std::filesystem::path folder;
        std::string name; ///< initial text of the name field
        std::vector<FolderShortcut> shortcuts;
        std::vector<OfferedModel> models; ///< shipped with the program or in the Hugging Face cache
    };
    explicit FileChooser(Options options);

    const Options& options() const { return options_; }
    const FileListing& listing() const { return listing_; }
    int row() const { return row_; }                            ///< the selected row, -1: none
    const std::string& text() const { return text_; }           ///< content of the name field
    const std::string& error() const { return error_; }         ///< one sentence about the last attempt
    const std::string& replacing() const { return replacing_; } ///< existing file, asked about
    const std::optional<std::string>& new_folder() const { return new_folder_; } ///< the name being typed

    void go(const std::filesystem::path& folder);
    void up();
    /// Selects a row. The name of a file is copied to the name field.
    void select(int row);
    /// Moves the selection down by `by` rows.
    void move(int by);
    /// Called when the user types into the name field.
    void type(std::string text);
    /// Returns the Tab completion of the typed text; the same text if there is nothing to complete.
    std::string completion(const std::string& typed) const;
    /// Returns the extension of the file: the typed one, else the first.
    const std::string& suffix() const;
    void use_suffix(const std::string& suffix);

    /// Handles Enter: opens a folder, asks about an existing file, reports an error, or returns the chosen
    /// path.
    std::optional<std::string> accept();
    /// Answers `replacing` with yes and returns the path.
    std::optional<std::string> replace();
    void keep() { replacing_.clear(); }

    void begin_new_folder() { new_folder_ = ""; }
    void type_new_folder(std::string name) { new_folder_ = std::move(name); }
    void drop_new_folder() { new_folder_.reset(); }
    /// Creates the named folder and opens it, or reports why it cannot.
    void make_new_folder();
    /// Adds models to those of the options.
    void offer(const std::vector<OfferedModel>& models);

    /// Shows an error reported by the code that used the chosen path.
    void fail(std::string sentence) { error_ = std::move(sentence); }

private:
    std::string with_suffix(const std::string& name) const;

    Options options_;
    FileListing listing_;
    int row_ = -1;
    std::string text_, error_, replacing_;
    std::optional<std::string> new_folder_;
};

} // namespace headscope::app
