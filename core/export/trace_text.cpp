#include "core/export/collected_text.h"
#include "core/export/trace_selection.h"
#include "core/format/number_text.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace headscope::exporting {

namespace {

/// How many axes, from the innermost on, begin with number `at` of a tensor of this shape.
int axes_begun(const Shape& shape, std::int64_t at) {
    int axes = 0;
    for (std::int64_t block = 1; axes < shape.rank(); ++axes)
        if (at % (block *= shape.back(axes)) != 0)
            break;
    return axes;
}

/// Nested lists by shape; JSON has no infinities, so they become strings.
void append_nested(CollectedText& text, const SelectedStage& stage) {
    const Shape& shape = stage.shape();
    std::int64_t at = 0;
    stage.give([&](std::span<const float> numbers) {
        std::string& out = text.at_hand;
        for (const float number : numbers) {
            if (at > 0)
                out += ',';
            out.append(static_cast<std::size_t>(axes_begun(shape, at)), '[');
            const char* quote = std::isfinite(number) ? "" : "\"";
            out += quote;
            format::append_number(out, number);
            out += quote;
            out.append(static_cast<std::size_t>(axes_begun(shape, ++at)), ']');
            text.pass_on();
        }
    });
}

} // namespace

void write_table(const std::vector<SelectedStage>& stages, char separator, const ByteSink& sink) {
    CollectedText text(sink);
    std::string& out = text.at_hand;
    out = "stage,b,h,i,j,value\n";
    std::ranges::replace(out, ',', separator);
    for (const SelectedStage& stage : stages) {
        const Shape& shape = stage.shape();
        const std::string name = stage.name();
        const bool has_heads = shape.rank() == 4; // or experts' numbers of a token: (B, T, experts, width)
        const std::int64_t heads = has_heads ? shape[1] : 1;
        const std::int64_t rows = shape.back(1), columns = shape.back(0);
        std::int64_t at = 0;
        stage.give([&](std::span<const float> numbers) {
            for (const float number : numbers) {
                const std::int64_t row = at / columns, block = row / rows;
                out.append(name) += separator;
                format::append_integer(out, block / heads + stage.first_batch);
                out += separator;
                if (has_heads)
                    format::append_integer(out, block % heads + stage.first_head);
                out += separator;
                format::append_integer(out, row % rows);
                out += separator;
                format::append_integer(out, at++ % columns);
                out += separator;
                format::append_number(out, number);
                out += '\n';
                text.pass_on();
            }
        });
    }
    text.pass_on(0);
}

void write_json(const nlohmann::ordered_json& metadata, const std::vector<SelectedStage>& stages,
                const ByteSink& sink) {
    CollectedText text(sink);
    std::string& out = text.at_hand;
    out = json_text(metadata);
    out.back() = ',';
    out += "\"stages\":{";
    for (const SelectedStage& stage : stages) {
        if (&stage != &stages.front())
            out += ',';
        const Shape& shape = stage.shape();
        out += '"' + stage.name() +
               "\":{\"shape\":" + json_text(std::vector<std::int64_t>(shape.begin(), shape.end())) +
               ",\"values\":";
        append_nested(text, stage);
        out += '}';
    }
    out += "}}\n";
    text.pass_on(0);
}

} // namespace headscope::exporting
