#include "app/cli/prompts/prompt_results.h"

#include "core/analysis/prompts/place_statistics.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/json.h"
#include "core/format/safetensors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace headscope::cli {

namespace {

using ResultJson = nlohmann::ordered_json;

/// Returns true for a list of objects with numbers, such as the heads of a model.
bool is_table(const ResultJson& result) {
    return result.is_array() && !result.empty() &&
           std::ranges::all_of(result, [](const ResultJson& row) { return row.is_object(); });
}

std::string csv_cell(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos)
        return text;
    std::string quoted = "\"";
    for (const char letter : text)
        quoted += letter == '"' ? std::string("\"\"") : std::string(1, letter);
    return quoted + '"';
}

std::string cell_of(const ResultJson& value) {
    return value.is_null() ? "" : value.is_string() ? csv_cell(value.get<std::string>()) : dump_json(value);
}

/// Rows of a CSV file with the columns in the order in which they were first set.
class ResultTable {
public:
    void begin_row() { rows_.emplace_back(); }
    void set(const std::string& column, std::string cell) {
        if (std::ranges::find(columns_, column) == columns_.end())
            columns_.push_back(column);
        rows_.back()[column] = std::move(cell);
    }
    std::string text() const {
        std::string all = joined(columns_, csv_cell, ",") + "\n";
        for (const auto& row : rows_)
            all += joined(
                       columns_,
                       [&](const std::string& column) {
                           const auto found = row.find(column);
                           return found == row.end() ? std::string() : found->second;
                       },
                       ",") +
                   "\n";
        return all;
    }

private:
    std::vector<std::string> columns_;
    std::vector<std::map<std::string, std::string>> rows_;
};

/// Adds the numbers of a value that `mean` has too, each under its path of keys, names and indices.
void add_numbers(ResultTable& table, const std::string& path, const ResultJson& value,
                 const ResultJson& mean) {
    const std::string before = path.empty() ? "" : path + ".";
    if (mean.is_number_float() && (value.is_number() || value.is_null())) {
        table.set(path, cell_of(value));
    } else if (mean.is_object() && value.is_object()) {
        for (const auto& [key, inner] : mean.items())
            if (value.contains(key))
                add_numbers(table, before + key, value[key], inner);
    } else if (mean.is_array() && value.is_array()) {
        for (std::size_t n = 0; n < mean.size() && n < value.size(); ++n) {
            const bool named = mean[n].is_object() && mean[n].contains("name");
            const bool single = named && mean[n].contains("value") && value[n].contains("value");
            const std::string place =
                before + (named ? mean[n]["name"].get<std::string>() : std::to_string(n));
            if (single)
                add_numbers(table, place, value[n]["value"], mean[n]["value"]);
            else
                add_numbers(table, place, value[n], mean[n]);
        }
    }
}

void add_result(ResultTable& table, const std::string& line, const ResultJson& result,
                const ResultJson& mean) {
    if (!is_table(mean)) {
        table.begin_row();
        table.set("line", line);
        add_numbers(table, "", result, mean);
        return;
    }
    for (const ResultJson& row : result) {
        table.begin_row();
        table.set("line", line);
        for (const auto& [key, value] : row.items())
            if (value.is_primitive())
                table.set(key, cell_of(value));
    }
}

/// Numbers with a shape, gathered from results.
struct ResultNumbers {
    std::vector<std::int64_t> shape; ///< of one result
    std::vector<float> numbers = {};
};

/// Adds the numbers of a value, row by row. Returns false if it is not a number, null, or a list of lists of
/// equal shape of these.
bool add_values(const ResultJson& value, std::size_t axis, std::vector<std::int64_t>& shape,
                std::vector<float>& numbers) {
    if (value.is_number() || value.is_null()) {
        numbers.push_back(value.is_null() ? std::numeric_limits<float>::quiet_NaN()
                                          : static_cast<float>(value.get<double>()));
        return axis == shape.size();
    }
    if (value.is_object() && value.size() == 2 && value.contains("name") && value.contains("value"))
        return add_values(value["value"], axis, shape, numbers);
    if (!value.is_array() || value.empty())
        return false;
    if (axis == shape.size()) {
        if (!numbers.empty())
            return false;
        shape.push_back(std::ssize(value));
    }
    return std::cmp_equal(shape[axis], value.size()) &&
           std::ranges::all_of(
               value, [&](const ResultJson& inner) { return add_values(inner, axis + 1, shape, numbers); });
}

/// Adds the columns of a list of heads as lists by layer.
void add_columns(const ResultJson& rows, const std::string& prefix, ResultJson& columns) {
    for (const ResultJson& row : rows) {
        const bool head = row.contains("layer") && row.contains("head");
        for (const auto& [key, value] : row.items()) {
            if (value.is_number_integer() || !(value.is_number() || value.is_null()))
                continue;
            ResultJson& column = columns[prefix + key];
            if (!head || row["head"] == 0 || column.empty())
                column.push_back(head ? ResultJson::array() : value);
            if (head)
                column.back().push_back(value);
        }
    }
}

/// Returns a result with the columns of its lists of heads in place of these: a list of heads as a whole, or
/// "heads" as "heads.divergence".
ResultJson by_layer(const ResultJson& result) {
    ResultJson columns = ResultJson::object();
    if (is_table(result)) {
        add_columns(result, "", columns);
    } else if (result.is_object()) {
        for (const auto& [key, value] : result.items())
            if (is_table(value) && !value.front().contains("value"))
                add_columns(value, key + ".", columns);
            else
                columns[key] = value;
    }
    return columns;
}

/// Returns the names of a list of named numbers; empty for others.
std::vector<std::string> names_of(const ResultJson& value) {
    std::vector<std::string> names;
    if (value.is_array())
        for (const ResultJson& one : value)
            if (one.is_object() && one.contains("name") && one.contains("value"))
                names.push_back(one["name"].get<std::string>());
    return names;
}

/// Returns the numbers of one result under a key; nothing if they have no shape.
std::optional<ResultNumbers> numbers_of(const ResultJson& result, const std::string& key) {
    if (!result.is_object() || !result.contains(key))
        return std::nullopt;
    ResultNumbers found;
    if (!add_values(result[key], 0, found.shape, found.numbers))
        return std::nullopt;
    return found;
}

/// Adds a tensor with one more axis for the results, if all of them have the same shape and names.
bool add_results_of(format::SafetensorsWriter& file, const std::string& key,
                    const std::vector<ResultJson>& results) {
    std::optional<ResultNumbers> all;
    for (const ResultJson& result : results) {
        auto one = numbers_of(result, key);
        if (!one || one->shape.size() + 1 > Shape::max_rank || (all && one->shape != all->shape) ||
            names_of(result[key]) != names_of(results.front()[key]))
            return false;
        if (!all)
            all = ResultNumbers{.shape = one->shape};
        all->numbers.insert(all->numbers.end(), one->numbers.begin(), one->numbers.end());
    }
    std::vector<std::int64_t> extents{std::ssize(results)};
    extents.insert(extents.end(), all->shape.begin(), all->shape.end());
    file.add(key, make_tensor(Shape(std::span<const std::int64_t>(extents)), all->numbers));
    return true;
}

} // namespace

std::string results_as_json(const PromptResults& results) {
    ResultJson failed = ResultJson::array();
    for (const FailedPrompt& one : results.failed)
        failed.push_back({{"line", one.line}, {"why", one.why}});
    return dump_json(ResultJson{{"prompts", results.results},
                                {"lines", results.lines},
                                {"mean", analysis::mean_of_results(results.results)},
                                {"spread", analysis::spread_of_results(results.results)},
                                {"failed", failed}},
                     1) +
           "\n";
}

std::string results_as_csv(const PromptResults& results) {
    const ResultJson mean = analysis::mean_of_results(results.results);
    ResultTable table;
    for (std::size_t n = 0; n < results.lines.size(); ++n)
        add_result(table, std::to_string(results.lines[n]), results.results[n], mean);
    add_result(table, "mean", mean, mean);
    add_result(table, "spread", analysis::spread_of_results(results.results), mean);
    return table.text();
}

std::string results_as_safetensors(const PromptResults& results) {
    std::vector<ResultJson> columns;
    std::ranges::transform(results.results, std::back_inserter(columns), by_layer);
    const ResultJson mean = by_layer(analysis::mean_of_results(results.results)),
                     spread = by_layer(analysis::spread_of_results(results.results));
    format::SafetensorsWriter file;
    ResultJson names = ResultJson::object();
    bool any = false;
    for (const auto& [key, first] : columns.front().items()) {
        // Whole numbers are names, such as positions.
        if (first.is_number_integer() || !mean.contains(key) || !add_results_of(file, key, columns))
            continue;
        any = true;
        if (const auto of = names_of(first); !of.empty())
            names[key] = of;
        for (const auto& [name, statistic] : {std::pair("mean.", &mean), {"spread.", &spread}})
            if (const auto numbers = numbers_of(*statistic, key))
                file.add(name + key,
                         make_tensor(Shape(std::span<const std::int64_t>(numbers->shape)), numbers->numbers));
    }
    if (!any)
        fail_input("the prompts have no numbers of the same shape, which .safetensors needs; write .json, or "
                   "give prompts with the same number of tokens");
    file.add_integers("line", Shape{std::ssize(results.lines)}, results.lines);
    if (!names.empty())
        file.set_metadata("names", dump_json(names));
    return file.bytes();
}

} // namespace headscope::cli
