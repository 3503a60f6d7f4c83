#include "core/analysis/survey/corpus.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/base/sha256.h"
#include "core/text/tokenizer/tokenizer.h"
#include "core/text/tokenizer/unicode.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

namespace headscope::analysis {

namespace {

constexpr std::size_t largest_line = text::most_text_bytes, bytes_at_once = mebibyte;
constexpr std::int64_t bytes_of_block = 8192;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool is_blank(std::string_view text) {
    return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
}

/// Calls visit(line without its end, bytes with it) for each line until it returns false; adds all bytes of
/// the file to `hash`.
template<class Visit>
void for_each_line(std::istream& in, Sha256& hash, const Progress& cancel, const Visit& visit) {
    std::string left, chunk(bytes_at_once, '\0');
    bool wanted = true;
    while (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || in.gcount() > 0) {
        cancel.check();
        std::string_view bytes(chunk.data(), static_cast<std::size_t>(in.gcount()));
        hash.add(std::as_bytes(std::span(bytes)));
        while (wanted && !bytes.empty()) {
            const std::size_t end = bytes.find('\n');
            left += bytes.substr(0, end);
            if (end == std::string_view::npos)
                break;
            bytes.remove_prefix(end + 1);
            wanted = visit(left, left.size() + 1);
            left.clear();
        }
        if (wanted && left.size() > largest_line)
            wanted = visit(left, left.size());
    }
    if (wanted && !left.empty())
        visit(left, left.size());
}

} // namespace

Corpus::Kind Corpus::read_line(std::string_view line, std::int64_t number, std::string& text) const {
    const auto place = [&] { return tr("corpus.line", "{}, line {}", path_, number); };
    if (line.size() > largest_line)
        fail_input(tr("corpus.more_bytes_most_text",
                      "{} has more than the {} bytes that a text may have; split it into several lines",
                      place(), largest_line));
    if (number == 1 && line.starts_with(byte_order_mark))
        line.remove_prefix(byte_order_mark.size());
    if (line.ends_with('\r'))
        line.remove_suffix(1);
    if (!text::is_utf8(line))
        return Kind::invalid;
    if (is_blank(line))
        return Kind::empty;
    if (!json_) {
        text = line;
        return Kind::text;
    }
    const nlohmann::json value = parse_json(line, place());
    if (!value.is_object() || !value.contains("text") || !value["text"].is_string())
        fail_input(tr("corpus.no_object_text_write",
                      "{} is not an object with a text; write {{\"text\": \"...\"}}", place()));
    text = value["text"].get<std::string>();
    return is_blank(text) ? Kind::empty : Kind::text;
}

Corpus Corpus::open(const std::string& path, const std::optional<std::int64_t>& limit,
                    const Progress& cancel) {
    std::error_code fault;
    if (!std::filesystem::is_regular_file(path, fault))
        fail_input(tr("corpus.no_file_read_texts",
                      "there is no file {} to read texts from; name a .txt or .jsonl file", path));
    std::ifstream in(path, std::ios::binary);
    if (!in)
        fail_input(
            tr("common.cannot_read_make_file", "cannot read {}; make it a file that can be read", path));
    Corpus corpus;
    corpus.path_ = path;
    corpus.json_ = path.ends_with(".jsonl");
    Sha256 hash;
    const std::int64_t most = limit.value_or(std::numeric_limits<std::int64_t>::max());
    std::int64_t offset = 0, number = 0;
    bool begun = false;
    std::string text;
    Counts counts;
    for_each_line(in, hash, cancel, [&](std::string_view line, std::size_t bytes) {
        if (corpus.counts_.texts == most)
            return false;
        const Kind kind = corpus.read_line(line, ++number, text);
        if (kind == Kind::text && !begun) {
            corpus.blocks_.push_back({.offset = offset, .line = number, .bytes = 0});
            begun = true;
        }
        offset += static_cast<std::int64_t>(bytes);
        if (kind == Kind::invalid)
            ++counts.invalid;
        else if (kind == Kind::empty)
            ++counts.empty;
        else
            ++counts.texts;
        counts.lines = number;
        if (kind == Kind::text) {
            Block& block = corpus.blocks_.back();
            block.bytes = offset - block.offset;
            begun = block.bytes < bytes_of_block;
            corpus.counts_ = counts;
        }
        return true;
    });
    if (corpus.counts_.texts < most)
        corpus.counts_ = counts;
    if (corpus.counts_.texts == 0)
        fail_input(tr("corpus.no_text_give_file",
                      "{} has no text; give a file with at least one line that is not empty", path));
    corpus.sha256_ = hash.finish();
    return corpus;
}

std::vector<Corpus::Text> Corpus::read(std::int64_t block) const {
    const Block& at = blocks_[static_cast<std::size_t>(block)];
    std::ifstream in(path_, std::ios::binary);
    std::string bytes(static_cast<std::size_t>(at.bytes), '\0');
    if (!in.seekg(at.offset) || !in.read(bytes.data(), at.bytes))
        fail_input(tr("corpus.changed_removed_read_put",
                      "{} was changed or removed while it was read; put it back and start again", path_));
    std::vector<Text> texts;
    std::int64_t number = at.line;
    for (std::string_view left = bytes; !left.empty(); ++number) {
        const std::size_t end = std::min(left.find('\n'), left.size());
        Text text{.line = number, .text = {}};
        if (read_line(left.substr(0, end), number, text.text) == Kind::text)
            texts.push_back(std::move(text));
        left.remove_prefix(std::min(end + 1, left.size()));
    }
    return texts;
}

std::int64_t Corpus::block_of(std::int64_t line) const {
    return std::ranges::upper_bound(blocks_, line, {}, &Block::line) - blocks_.begin() - 1;
}

} // namespace headscope::analysis
