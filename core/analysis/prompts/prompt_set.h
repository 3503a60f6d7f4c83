#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::analysis {

/// The value of a field of a prompt: a text, or token ids. One of the two is empty.
struct PromptValue {
    std::string text = {};
    std::vector<std::int64_t> ids = {};
};

/// One prompt of a set.
struct Prompt {
    std::int64_t line = 0; ///< of the file, from 1; of a CSV record that spans lines, the first
    std::map<std::string, PromptValue> fields = {}; ///< by name: text, clean, corrupted, answer, against
    std::string fault = {};                         ///< why the line cannot be used; empty: it can

    bool has(const std::string& field) const { return fields.contains(field); }
    /// Throws Error(input) with the fault of the line, and for a missing field.
    const PromptValue& need(const std::string& field) const;
    /// Returns the field `text`, or `clean` if there is no `text`. Throws likewise.
    const PromptValue& text() const;
};

/// A file of prompts. Immutable; any thread may use it.
struct PromptSet {
    std::string path;
    std::string sha256;          ///< of the file
    std::vector<Prompt> prompts; ///< at least one, in the order of the file

    /// Reads a .txt file with one text a line, a .jsonl file with one object a line, or a .csv file whose
    /// first line names the columns. In .jsonl, a list of numbers is a text as token ids, and a number is a
    /// token id. Blank lines are left out; a malformed line becomes a prompt with a fault. Throws
    /// Error(input) with the path for another ending, a file that cannot be read or has no prompt, and a .csv
    /// file without a column for a text.
    static PromptSet open(const std::string& path);
    /// Same from the bytes of the file at `path`.
    static PromptSet read(std::string_view bytes, const std::string& path);
};

} // namespace headscope::analysis
