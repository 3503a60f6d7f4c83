#include "app/cli/diff/diff_report.h"

#include "app/cli/prompt_option.h"
#include "app/draw/kit/format.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/checkpoint/model/text_model.h"
#include "core/format/safetensors.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

namespace headscope::cli {

namespace {

using analysis::HeadDifference;
using analysis::NumberDifference;
using analysis::ParameterDifference;
using DiffJson = nlohmann::ordered_json;

/// The matrices of a head, by their names in every format.
struct HeadMatrix {
    const char* name;
    NumberDifference HeadDifference::*of;
};
constexpr std::array<HeadMatrix, 4> head_matrices{{{"W_Q", &HeadDifference::W_Q},
                                                   {"W_K", &HeadDifference::W_K},
                                                   {"W_V", &HeadDifference::W_V},
                                                   {"W_O", &HeadDifference::W_O}}};

DiffJson json_or_null(const std::optional<double>& number) {
    return number ? DiffJson(*number) : DiffJson();
}

std::string cell_or_empty(const std::optional<double>& number) {
    return number ? dump_json(DiffJson(*number)) : "";
}

std::string head_name(const checkpoint::ModelConfig& config, const HeadDifference& head) {
    const std::string stack = checkpoint::stack_name(config, head.place.stack);
    return (stack.empty() ? "" : stack + " ") + "L" + std::to_string(head.place.layer) + "H" +
           std::to_string(head.head);
}

/// Returns the indices of the `top` largest values; an absent value is the largest.
template<class Value>
std::vector<std::size_t> largest_of(std::size_t count, std::int64_t top, const Value& value) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t n) {
        return value(n).value_or(std::numeric_limits<double>::infinity());
    });
    order.resize(std::min(count, static_cast<std::size_t>(top)));
    return order;
}

/// Returns a column of a table: `text`, filled with blanks.
std::string padded(std::string text, std::size_t width) {
    text.resize(std::max(text.size() + 2, width), ' ');
    return text;
}

std::string number_text(const std::optional<double>& number) {
    if (!number)
        return "-";
    std::array<char, 32> text{};
    const int size = std::snprintf(text.data(), text.size(), "%.4g", *number);
    return {text.data(), static_cast<std::size_t>(size)};
}

template<class Member>
std::optional<double> mean_over_texts(const std::vector<DiffReport::Text>& texts, const Member& of) {
    double sum = 0;
    for (const DiffReport::Text& text : texts) {
        const std::optional<double> number = of(text);
        if (!number)
            return std::nullopt;
        sum += *number;
    }
    return texts.empty() ? std::nullopt : std::optional(sum / static_cast<double>(texts.size()));
}

std::string tensors_text(const DiffReport& report, std::int64_t top) {
    const auto changed = std::ranges::count_if(
        report.tensors, [](const ParameterDifference& one) { return one.numbers.difference > 0; });
    std::string text =
        std::to_string(changed) + " of " + app::counted(std::ssize(report.tensors), "tensor") + " differ\n";
    if (changed == 0)
        return text;
    std::size_t width = 10;
    const auto order = largest_of(report.tensors.size(), std::min<std::int64_t>(top, changed),
                                  [&](std::size_t n) { return report.tensors[n].numbers.relative(); });
    for (const std::size_t n : order)
        width = std::max(width, report.tensors[n].name.size() + 2);
    text += "\n" + padded("tensor", width) + padded("relative", 12) + padded("norm of A", 12) + "largest\n";
    for (const std::size_t n : order) {
        const ParameterDifference& one = report.tensors[n];
        text += padded(one.name, width) + padded(number_text(one.numbers.relative()), 12) +
                padded(number_text(one.numbers.norm), 12) + number_text(one.numbers.largest) + "\n";
    }
    return text;
}

std::string heads_text(const DiffReport& report, const checkpoint::ModelConfig& config, std::int64_t top) {
    const bool texts = !report.texts.empty();
    std::string text = "\n" + padded("head", 12);
    for (const HeadMatrix& matrix : head_matrices)
        text += padded(matrix.name, 11);
    text += texts ? padded("all", 11) + padded("pattern", 11) + "effect\n" : "all\n";
    for (const std::size_t n : largest_of(report.heads.size(), top, [&](std::size_t at) {
             return texts ? report.pattern(at) : report.heads[at].all().relative();
         })) {
        const HeadDifference& head = report.heads[n];
        text += padded(head_name(config, head), 12);
        for (const HeadMatrix& matrix : head_matrices)
            text += padded(number_text((head.*matrix.of).relative()), 11);
        text += padded(number_text(head.all().relative()), 11);
        text += texts ? padded(number_text(report.pattern(n)), 11) + number_text(report.effect(n)) : "";
        text.resize(text.find_last_not_of(' ') + 1);
        text += "\n";
    }
    return text;
}

std::string predictions_text(const DiffReport& report, const checkpoint::TextModel& model, std::int64_t top) {
    std::string text = "\n" + padded("line", 7) + padded("KL(A || B)", 13) + "next token in A, in B\n";
    const auto order = largest_of(report.texts.size(), top, [&](std::size_t n) {
        return std::optional(report.texts[n].difference.divergence);
    });
    for (const std::size_t n : order) {
        const auto& [line, difference] = report.texts[n];
        if (!difference.has_prediction)
            return "";
        text += padded(line == 0 ? "-" : std::to_string(line), 7) +
                padded(number_text(difference.divergence), 13) + spelling_of(model, difference.next_a.id) +
                " " + number_text(difference.next_a.probability) + ", " +
                spelling_of(model, difference.next_b.id) + " " + number_text(difference.next_b.probability) +
                "\n";
    }
    return text;
}

DiffJson numbers_json(const NumberDifference& numbers) {
    return {{"relative", json_or_null(numbers.relative())},
            {"difference", numbers.difference},
            {"norm", numbers.norm},
            {"largest", numbers.largest}};
}

DiffJson chance_json(const checkpoint::TextModel& model, const checkpoint::TokenChance& chance) {
    return {{"id", chance.id}, {"token", spelling_of(model, chance.id)}, {"probability", chance.probability}};
}

DiffJson text_json(const checkpoint::TextModel& model, const DiffReport::Text& text) {
    DiffJson json = DiffJson::object();
    if (text.line > 0)
        json["line"] = text.line;
    if (text.difference.has_prediction) {
        json["divergence"] = text.difference.divergence;
        json["next_a"] = chance_json(model, text.difference.next_a);
        json["next_b"] = chance_json(model, text.difference.next_b);
    }
    return json;
}

DiffJson head_json(const DiffReport& report, const checkpoint::ModelConfig& config, std::size_t n) {
    const HeadDifference& head = report.heads[n];
    DiffJson json = DiffJson::object();
    if (const std::string stack = checkpoint::stack_name(config, head.place.stack); !stack.empty())
        json["stack"] = stack;
    json["layer"] = head.place.layer;
    json["head"] = head.head;
    for (const HeadMatrix& matrix : head_matrices)
        json[matrix.name] = json_or_null((head.*matrix.of).relative());
    json["all"] = json_or_null(head.all().relative());
    if (!report.texts.empty()) {
        json["pattern"] = json_or_null(report.pattern(n));
        json["effect"] = json_or_null(report.effect(n));
    }
    return json;
}

} // namespace

std::optional<double> DiffReport::pattern(std::size_t head) const {
    return mean_over_texts(
        texts, [&](const Text& text) { return std::optional(text.difference.heads[head].pattern); });
}

std::optional<double> DiffReport::effect(std::size_t head) const {
    return mean_over_texts(texts, [&](const Text& text) { return text.difference.heads[head].effect; });
}

std::string diff_as_text(const DiffReport& report, const checkpoint::TextModel& model, std::int64_t top) {
    std::string text = "B - A, relative to A. A: " + report.a + ", B: " + report.b + "\n";
    for (const auto& [names, in] : {std::pair(&report.only_a, "A"), {&report.only_b, "B"}})
        if (!names->empty())
            text += app::counted(std::ssize(*names), "tensor") + " only in " + in + ": " + names->front() +
                    (names->size() > 1 ? ", ...\n" : "\n");
    text += tensors_text(report, top);
    const auto differs = [](const HeadDifference& head) { return head.all().difference > 0; };
    if (!report.texts.empty() || std::ranges::any_of(report.heads, differs))
        text += heads_text(report, model.model->config(), top);
    return text + (report.texts.empty() ? "" : predictions_text(report, model, top));
}

std::string diff_as_json(const DiffReport& report, const checkpoint::TextModel& model) {
    DiffJson tensors = DiffJson::array(), heads = DiffJson::array(), texts = DiffJson::array(),
             failed = DiffJson::array();
    for (const ParameterDifference& one : report.tensors) {
        DiffJson row{{"name", one.name}, {"shape", one.extents}};
        row.update(numbers_json(one.numbers));
        tensors.push_back(std::move(row));
    }
    for (std::size_t n = 0; n < report.heads.size(); ++n)
        heads.push_back(head_json(report, model.model->config(), n));
    for (const DiffReport::Text& text : report.texts)
        texts.push_back(text_json(model, text));
    for (const FailedPrompt& one : report.failed)
        failed.push_back({{"line", one.line}, {"why", one.why}});
    return dump_json(DiffJson{{"a", report.a},
                              {"b", report.b},
                              {"only_a", report.only_a},
                              {"only_b", report.only_b},
                              {"tensors", tensors},
                              {"heads", heads},
                              {"texts", texts},
                              {"failed", failed}},
                     1) +
           "\n";
}

std::string diff_as_csv(const DiffReport& report, const checkpoint::ModelConfig& config) {
    std::string text = "what,name,relative,difference,norm,largest,W_Q,W_K,W_V,W_O,pattern,effect\n";
    const auto numbers = [](const NumberDifference& of) {
        return cell_or_empty(of.relative()) + "," + cell_or_empty(of.difference) + "," +
               cell_or_empty(of.norm) + "," + cell_or_empty(of.largest);
    };
    for (const ParameterDifference& one : report.tensors)
        text += "tensor," + one.name + "," + numbers(one.numbers) + ",,,,,,\n";
    for (std::size_t n = 0; n < report.heads.size(); ++n) {
        text += "head," + head_name(config, report.heads[n]) + "," + numbers(report.heads[n].all());
        for (const HeadMatrix& matrix : head_matrices)
            text += "," + cell_or_empty((report.heads[n].*matrix.of).relative());
        text += "," + cell_or_empty(report.pattern(n)) + "," + cell_or_empty(report.effect(n)) + "\n";
    }
    return text;
}

void write_diff_tensors(const DiffReport& report, const analysis::CheckpointPair& pair,
                        const std::string& path) {
    format::SafetensorsWriter file;
    for (const ParameterDifference& one : report.tensors)
        file.add_generated(one.name, Shape(std::span<const std::int64_t>(one.extents)),
                           [&pair, &one](const format::SafetensorsWriter::NumberSink& sink) {
                               const TensorPtr a = pair.a().files().tensor(one.name),
                                               b = pair.b().files().tensor(one.name);
                               std::vector<float> numbers(b->values().begin(), b->values().end());
                               std::ranges::transform(numbers, a->values(), numbers.begin(), std::minus<>());
                               sink(numbers);
                           });
    const checkpoint::ModelConfig& config = pair.a().config();
    std::map<std::string, std::vector<float>> columns;
    std::map<std::string, std::int64_t> widths;
    for (std::size_t n = 0; n < report.heads.size(); ++n) {
        const HeadDifference& head = report.heads[n];
        const std::string prefix = checkpoint::stack_prefix(config, head.place.stack) + "heads.";
        const auto add = [&](const std::string& name, const std::optional<double>& number) {
            columns[prefix + name].push_back(number ? static_cast<float>(*number)
                                                    : std::numeric_limits<float>::quiet_NaN());
            widths[prefix + name] = checkpoint::in_stack(config, head.place.stack).H;
        };
        for (const HeadMatrix& matrix : head_matrices)
            add(matrix.name, (head.*matrix.of).relative());
        add("all", head.all().relative());
        if (!report.texts.empty()) {
            add("pattern", report.pattern(n));
            add("effect", report.effect(n));
        }
    }
    for (const auto& [name, numbers] : columns)
        file.add(name, make_tensor(Shape{std::ssize(numbers) / widths[name], widths[name]}, numbers));
    file.set_metadata("headscope.diff", dump_json(DiffJson{{"a", report.a}, {"b", report.b}}));
    write_file_atomically(path, [&](const ByteSink& sink) { file.write_to(sink); });
}

} // namespace headscope::cli
