#pragma once

#include "app/state/files/file_listing.h"

#include <optional>
#include <string>
#include <vector>

namespace headscope::app {

/// A folder that the chooser offers at its side.
struct Place {
    std::string label;
    std::filesystem::path folder;
};

/// A checkpoint that the chooser offers under its places.
struct OfferedModel {
    std::string label; ///< "openai-community/gpt2"
    std::string path;  ///< of its folder or file
    std::string line;  ///< under the label: "llama, 4 × 8, 1.8 M"
    std::string about; ///< the same in full, and why the model does not run
};

/// Choosing a file to open, or a name to save under: everything but the drawing. Touches the disk only to
/// list folders, to look whether a name is taken and to make a folder that was asked for.
class FileChooser {
public:
    struct Options {
        std::string title;                 ///< "Open a project"
        std::string accept;                ///< on the button: "Open"
        bool saving = false;               ///< a new name may be given, and a taken one is asked about
        std::vector<std::string> suffixes; ///< the first is added to a name that has none of them
        std::filesystem::path folder;
        std::string name; ///< in the field at first
        std::vector<Place> places;
        std::vector<OfferedModel> models; ///< that come with the program or lie in the Hugging Face cache
    };
    explicit FileChooser(Options options);

    const Options& options() const { return options_; }
    const FileListing& listing() const { return listing_; }
    int row() const { return row_; }                            ///< the selected line, -1: none
    const std::string& text() const { return text_; }           ///< of the name field
    const std::string& error() const { return error_; }         ///< one sentence about the last try
    const std::string& replacing() const { return replacing_; } ///< the taken name that is asked about
    const std::optional<std::string>& new_folder() const { return new_folder_; } ///< a name being typed

    void go(const std::filesystem::path& folder);
    void up();
    /// Chooses a line: a file's name goes into the field.
    void select(int row);
    /// The selection that many lines down.
    void move(int by);
    /// The name field was typed into.
    void type(std::string text);
    /// What Tab makes of typed text; the same when there is nothing to complete.
    std::string completion(const std::string& typed) const;
    /// The ending that the file will have: the one that is typed, else the first.
    const std::string& suffix() const;
    void use_suffix(const std::string& suffix);

    /// Enter: goes into a folder, asks about a taken name, says what is wrong, or returns the chosen path.
    std::optional<std::string> accept();
    /// The answer to `replacing`: yes returns the path.
    std::optional<std::string> replace();
    void keep() { replacing_.clear(); }

    void begin_new_folder() { new_folder_ = ""; }
    void type_new_folder(std::string name) { new_folder_ = std::move(name); }
    void drop_new_folder() { new_folder_.reset(); }
    /// Makes the folder that was named and goes into it, or says why not.
    void make_new_folder();
    /// Adds models to those of the options.
    void offer(const std::vector<OfferedModel>& models);

    /// A sentence from whoever used the path that was chosen.
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
