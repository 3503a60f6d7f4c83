#pragma once

#include "core/base/progress.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headscope::analysis {

/// A file of texts: one a line, or one JSON object a line with the text under "text" (a name that ends in
/// .jsonl). It is read once from begin to end, and then block by block, so that a corpus of any size takes
/// little memory. Immutable; any thread may use it.
class Corpus {
public:
    struct Text {
        std::int64_t line = 0; ///< of the file, from 1
        std::string text;      ///< UTF-8, not empty
    };
    struct Counts {
        std::int64_t lines = 0; ///< up to the last text
        std::int64_t texts = 0;
        std::int64_t empty = 0;   ///< lines of blanks alone, or whose text is; left out
        std::int64_t invalid = 0; ///< lines that are not UTF-8; left out
    };

    /// limit: how many texts count, the first of the file; absent: all. Throws Error(input) naming the file,
    /// and the line for one of more than 4 MiB and for JSON of another form; Error(cancelled).
    static Corpus open(const std::string& path, const std::optional<std::int64_t>& limit,
                       const Progress& cancel);

    const Counts& counts() const { return counts_; }
    const std::string& sha256() const { return sha256_; } ///< of the whole file
    /// Consecutive texts of about 8 KiB together, and one at least: what is computed at once. Where blocks
    /// are cut follows from the file alone.
    std::int64_t blocks() const { return static_cast<std::int64_t>(blocks_.size()); }
    /// Throws Error(input) when the file was changed since.
    std::vector<Text> read(std::int64_t block) const;
    /// The block with that line.
    std::int64_t block_of(std::int64_t line) const;

private:
    struct Block {
        std::int64_t offset = 0, line = 0, bytes = 0; ///< line: the first
    };
    enum class Kind : std::uint8_t { text, empty, invalid };
    Kind read_line(std::string_view line, std::int64_t number, std::string& text) const;

    std::string path_;
    bool json_ = false;
    Counts counts_;
    std::string sha256_;
    std::vector<Block> blocks_;
};

} // namespace headscope::analysis
