#include "core/analysis/prompts/prompt_set.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/base/parse.h"
#include "core/base/sha256.h"
#include "core/text/tokenizer/unicode.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace headscope::analysis {

namespace {

constexpr std::array prompt_fields{"text", "clean", "corrupted", "answer", "against"};
constexpr std::string_view prompt_blanks = " \t\r\n\v\f", prompt_byte_order_mark = "\xEF\xBB\xBF";

std::string not_utf8() {
    return tr("prompt_set.not_utf8", "the line is not UTF-8; save the file as UTF-8");
}

/// Returns the value of a field of a JSON object. Throws Error(input) for anything but a text that is not
/// empty, an id and a list of ids.
PromptValue value_of(const std::string& field, const nlohmann::json& json) {
    if (json.is_string() && !json.get_ref<const std::string&>().empty())
        return {.text = json.get<std::string>()};
    if (json.is_number_integer())
        return {.ids = {json.get<std::int64_t>()}};
    if (json.is_array() && !json.empty() &&
        std::ranges::all_of(json, [](const nlohmann::json& id) { return id.is_number_integer(); }))
        return {.ids = json.get<std::vector<std::int64_t>>()};
    fail_input(tr("prompt_set.field_form",
                  "\"{}\" is {}; give a text that is not empty, or token ids such as [12, 7]", field,
                  shortened_json(json, 40)));
}

Prompt prompt_of_json(std::string_view line, std::int64_t number) {
    Prompt prompt{.line = number};
    try {
        const nlohmann::json value = parse_json(line, tr("prompt_set.this_line", "this line"));
        if (!value.is_object())
            fail_input(
                tr("prompt_set.no_object", "this line is not a JSON object; write {\"text\": \"...\"}"));
        for (const char* const field : prompt_fields)
            if (value.contains(field))
                prompt.fields[field] = value_of(field, value[field]);
    } catch (const Error& fault) {
        prompt.fault = fault.what();
    }
    return prompt;
}

template<class Visit>
void for_each_line_of(std::string_view bytes, const Visit& visit) {
    for (std::int64_t number = 1; !bytes.empty(); ++number) {
        const std::size_t end = std::min(bytes.find('\n'), bytes.size());
        std::string_view line = bytes.substr(0, end);
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        bytes.remove_prefix(std::min(end + 1, bytes.size()));
        if (line.find_first_not_of(prompt_blanks) != std::string_view::npos)
            visit(line, number);
    }
}

std::vector<Prompt> prompts_of_lines(std::string_view bytes, bool json) {
    std::vector<Prompt> prompts;
    for_each_line_of(bytes, [&](std::string_view line, std::int64_t number) {
        if (!text::is_utf8(line))
            prompts.push_back({.line = number, .fault = not_utf8()});
        else if (json)
            prompts.push_back(prompt_of_json(line, number));
        else
            prompts.push_back({.line = number, .fields = {{"text", {.text = std::string(line)}}}});
    });
    return prompts;
}

/// One record of a CSV file (RFC 4180).
struct CsvRecord {
    std::int64_t line = 0;
    std::vector<std::string> cells = {};
    bool open = false; ///< true if a quoted cell has no end

    bool blank() const {
        return cells.size() == 1 && cells.front().find_first_not_of(prompt_blanks) == std::string::npos;
    }
};

/// Reads the record at `at`, and moves `at` and `line` after it.
CsvRecord next_record(std::string_view bytes, std::size_t& at, std::int64_t& line) {
    CsvRecord record{.line = line, .cells = {""}};
    bool quoted = false;
    for (; at < bytes.size(); ++at) {
        const char letter = bytes[at];
        line += letter == '\n' ? 1 : 0;
        if (quoted && letter == '"' && bytes.substr(at + 1).starts_with('"')) {
            record.cells.back() += bytes[++at];
        } else if (letter == '"' && (quoted || record.cells.back().empty())) {
            quoted = !quoted;
        } else if (!quoted && letter == ',') {
            record.cells.emplace_back();
        } else if (!quoted && letter == '\n') {
            ++at;
            break;
        } else {
            record.cells.back() += letter;
        }
    }
    std::string& last = record.cells.back();
    if (last.ends_with('\r'))
        last.pop_back();
    record.open = quoted;
    return record;
}

Prompt prompt_of_record(const CsvRecord& record, const std::vector<std::string>& columns) {
    Prompt prompt{.line = record.line};
    if (record.open)
        prompt.fault = tr("prompt_set.open_quote", "a quoted cell has no end; close it with \"");
    else if (record.cells.size() != columns.size())
        prompt.fault = tr("prompt_set.cells", "the line has {} cells and the first line has {}; give as many",
                          record.cells.size(), columns.size());
    for (std::size_t c = 0; c < columns.size() && prompt.fault.empty(); ++c) {
        const std::string& cell = record.cells[c];
        if (!text::is_utf8(cell))
            prompt.fault = not_utf8();
        else if (std::ranges::find(prompt_fields, columns[c]) != prompt_fields.end() && !cell.empty())
            prompt.fields[columns[c]] = {.text = cell};
    }
    return prompt;
}

std::vector<Prompt> prompts_of_csv(std::string_view bytes, const std::string& path) {
    std::vector<Prompt> prompts;
    std::optional<std::vector<std::string>> columns;
    std::int64_t line = 1;
    for (std::size_t at = 0; at < bytes.size();) {
        const CsvRecord record = next_record(bytes, at, line);
        if (record.blank())
            continue;
        if (columns) {
            prompts.push_back(prompt_of_record(record, *columns));
            continue;
        }
        columns.emplace();
        for (const std::string& cell : record.cells)
            columns->emplace_back(trimmed(cell, prompt_blanks));
        if (std::ranges::find(*columns, "text") == columns->end() &&
            std::ranges::find(*columns, "clean") == columns->end())
            fail_input(tr("prompt_set.no_column",
                          "{} has no column text or clean; name the columns in its first line: text, or "
                          "clean,corrupted,answer,against",
                          path));
    }
    return prompts;
}

} // namespace

const PromptValue& Prompt::need(const std::string& field) const {
    if (!fault.empty())
        fail_input(fault);
    const auto found = fields.find(field);
    if (found == fields.end())
        fail_input(tr("prompt_set.no_field", "there is no \"{}\"; add it to the line", field));
    return found->second;
}

const PromptValue& Prompt::text() const {
    return need(has("text") || !has("clean") ? "text" : "clean");
}

PromptSet PromptSet::read(std::string_view bytes, const std::string& path) {
    const bool json = path.ends_with(".jsonl"), csv = path.ends_with(".csv");
    if (!json && !csv && !path.ends_with(".txt"))
        fail_input(tr("prompt_set.ending",
                      "{}: a set of prompts is a .txt, .jsonl or .csv file; use one of these endings", path));
    PromptSet set{.path = path, .sha256 = headscope::sha256(bytes), .prompts = {}};
    if (bytes.starts_with(prompt_byte_order_mark))
        bytes.remove_prefix(prompt_byte_order_mark.size());
    set.prompts = csv ? prompts_of_csv(bytes, path) : prompts_of_lines(bytes, json);
    if (set.prompts.empty())
        fail_input(tr("prompt_set.no_prompt", "{} has no prompt; give a file with at least one", path));
    return set;
}

PromptSet PromptSet::open(const std::string& path) {
    const std::string bytes = read_file(path);
    return read(bytes, path);
}

} // namespace headscope::analysis
