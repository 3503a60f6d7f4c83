#include "core/export/trace_selection.h"
#include "core/format/number_text.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace headscope::exporting {

namespace {

/// Nested lists by shape; JSON has no infinities, so they become strings.
void append_nested(std::string& out, const Tensor& tensor, int axis, std::int64_t& at) {
    if (axis == tensor.shape().rank()) {
        const float number = tensor.data()[at++];
        const char* quote = std::isfinite(number) ? "" : "\"";
        out += quote;
        format::append_number(out, number);
        out += quote;
        return;
    }
    out += '[';
    for (std::int64_t i = 0; i < tensor.shape()[axis]; ++i) {
        if (i > 0)
            out += ',';
        append_nested(out, tensor, axis + 1, at);
    }
    out += ']';
}

} // namespace

std::string table_bytes(const std::vector<SelectedStage>& stages, char separator) {
    std::string out = "stage,b,h,i,j,value\n";
    std::ranges::replace(out, ',', separator);
    for (const SelectedStage& stage : stages) {
        const Tensor& tensor = *stage.tensor;
        const std::string name = stage.name();
        const bool has_heads = stage.head_axis() >= 0;
        const std::int64_t heads = has_heads ? tensor.shape()[1] : 1;
        const std::int64_t rows = tensor.shape().back(1), columns = tensor.shape().back(0);
        for (std::int64_t at = 0; at < tensor.count(); ++at) {
            const std::int64_t row = at / columns, block = row / rows;
            out.append(name) += separator;
            format::append_integer(out, block / heads + stage.first_batch);
            out += separator;
            if (has_heads)
                format::append_integer(out, block % heads + stage.first_head);
            out += separator;
            format::append_integer(out, row % rows);
            out += separator;
            format::append_integer(out, at % columns);
            out += separator;
            format::append_number(out, tensor.data()[at]);
            out += '\n';
        }
    }
    return out;
}

std::string json_bytes(const nlohmann::ordered_json& metadata, const std::vector<SelectedStage>& stages) {
    std::string out = json_text(metadata);
    out.back() = ',';
    out += "\"stages\":{";
    for (const SelectedStage& stage : stages) {
        if (&stage != &stages.front())
            out += ',';
        const Shape& shape = stage.tensor->shape();
        out += '"' + stage.name() +
               "\":{\"shape\":" + json_text(std::vector<std::int64_t>(shape.begin(), shape.end())) +
               ",\"values\":";
        std::int64_t at = 0;
        append_nested(out, *stage.tensor, 0, at);
        out += '}';
    }
    return out += "}}\n";
}

} // namespace headscope::exporting
