#include "core/export/trace_selection.h"

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/export/streamed_stages.h"
#include "core/format/npy.h"
#include "core/format/number_text.h"
#include "core/project/mask_json.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace headscope::exporting {

namespace {

using nlohmann::ordered_json;

/// One entry of axis 1 of a (B, heads, T, width) tensor, the axis kept.
TensorPtr take_head(const Tensor& tensor, std::int64_t head) {
    const Shape& shape = tensor.shape();
    auto out = std::make_shared<Tensor>(Shape{shape[0], 1, shape[2], shape[3]});
    const auto block = static_cast<std::size_t>(shape[2] * shape[3]);
    for (std::int64_t b = 0; b < shape[0]; ++b) {
        const auto from = static_cast<std::size_t>(tensor.offset(b, head, 0, 0));
        std::ranges::copy(tensor.values().subspan(from, block), out->data() + b * shape[2] * shape[3]);
    }
    return out;
}

ordered_json config_of(const Problem& problem) {
    const Dims& d = problem.dims;
    ordered_json config = {{"B", d.B}, {"Tq", d.Tq},   {"Tk", d.Tk}, {"D", d.D},  {"Dkv", d.Dkv},
                           {"H", d.H}, {"Hkv", d.Hkv}, {"dk", d.dk}, {"dv", d.dv}};
    config["mask"] = ordered_json::parse(project::describe_mask(problem.mask));
    config["gains"] = ordered_json::array();
    for (std::int64_t h = 0; h < d.H; ++h)
        config["gains"].push_back(format::double_of_decimal_text(problem.gain(h)));
    config["temperature"] = format::double_of_decimal_text(problem.temperature);
    return config;
}

} // namespace

int SelectedStage::head_axis() const {
    if (info == nullptr)
        return -1;
    const auto is_head = [](Axis axis) { return axis == Axis::H || axis == Axis::Hkv; };
    const auto found = std::ranges::find_if(info->axes, is_head);
    return found == info->axes.end() ? -1 : static_cast<int>(found - info->axes.begin());
}

void SelectedStage::give(const NumberSink& sink) const {
    if (made)
        made->make(sink);
    else
        sink(tensor->values());
}

std::vector<SelectedStage> select_stages(const Trace& trace, const TraceExport& wanted,
                                         const Problem* problem) {
    const Dims& dims = trace.dims;
    if (wanted.head && (*wanted.head < 0 || *wanted.head >= dims.H))
        fail_input(tr("common.no_head_heads_numbered", "there is no head {}; heads are numbered 0 to {}",
                      *wanted.head, dims.H - 1));
    std::vector<SelectedStage> selected;
    for (const TensorInfo& info : stage_table()) {
        if (!wanted.stages.has(info.id) || !has_tensor(info.id, trace.parts))
            continue;
        const TensorPtr& tensor = trace.stages[static_cast<std::size_t>(info.id)];
        if (tensor == nullptr && problem != nullptr && can_be_streamed(info.id)) {
            selected.push_back(streamed_stage(*problem, info, wanted));
            continue;
        }
        if (tensor == nullptr)
            throw Error(ErrorKind::internal, "the stage " + std::string(info.name) + " was not computed");
        SelectedStage stage{.info = &info, .tensor = tensor};
        if (const int axis = stage.head_axis(); wanted.head && axis >= 0) {
            const bool key_value = info.axes[static_cast<std::size_t>(axis)] == Axis::Hkv;
            stage.first_head = key_value ? dims.kv_head(*wanted.head) : *wanted.head;
            stage.tensor = take_head(*tensor, stage.first_head);
        }
        selected.push_back(std::move(stage));
    }
    return selected;
}

SelectedStage sink_of(const SelectedStage& weights, std::string title) {
    const Shape& shape = weights.shape();
    const auto make = [weights, width = shape[3]](const NumberSink& sink) {
        double left = 1;
        std::int64_t at = 0; // in the row
        std::vector<float> shares;
        weights.give([&](std::span<const float> numbers) {
            shares.clear();
            for (const float number : numbers) {
                left -= static_cast<double>(number);
                if (++at < width)
                    continue;
                shares.push_back(static_cast<float>(std::max(0.0, left)));
                left = 1;
                at = 0;
            }
            sink(shares);
        });
    };
    SelectedStage made{.info = nullptr, .tensor = nullptr, .title = std::move(title)};
    const Shape rows{shape[0], shape[1], shape[2]};
    if (weights.made) {
        made.made = MadeNumbers{rows, make};
        return made;
    }
    auto shares = std::make_shared<Tensor>(rows);
    make([&](std::span<const float> numbers) { std::ranges::copy(numbers, shares->data()); });
    made.tensor = std::move(shares);
    return made;
}

void add_stage(format::SafetensorsWriter& writer, const SelectedStage& stage) {
    if (stage.made)
        writer.add_generated(stage.name(), stage.made->shape, stage.made->make);
    else
        writer.add(stage.name(), stage.tensor);
}

void write_file(const std::string& path, const Progress& cancel,
                const std::function<void(const ByteSink&)>& make) {
    write_file_atomically(path, [&](const ByteSink& sink) {
        make([&](std::string_view bytes) {
            cancel.check();
            sink(bytes);
        });
    });
}

void write_npy(const SelectedStage& stage, const ByteSink& sink) {
    sink(format::npy_header(stage.shape()));
    stage.give([&](std::span<const float> numbers) {
        const auto bytes = std::as_bytes(numbers);
        sink({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    });
}

ordered_json trace_metadata(const Problem& problem, const Trace& trace) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> heads_masked;
    for (const MaskedRow& row : trace.fully_masked)
        ++heads_masked[{row.b, row.i}];
    const auto in_all_heads = [&](const MaskedRow& row) {
        return heads_masked[{row.b, row.i}] == trace.dims.H;
    };
    ordered_json rows = ordered_json::array(), head_rows = ordered_json::array();
    for (const auto& [row, heads] : heads_masked)
        if (heads == trace.dims.H)
            rows.push_back({row.first, row.second});
    for (const MaskedRow& row : trace.fully_masked)
        if (!in_all_heads(row))
            head_rows.push_back({row.b, row.h, row.i});

    ordered_json metadata;
    metadata["tokens"] = problem.tokens;
    if (!problem.kv_tokens.empty())
        metadata["kv_tokens"] = problem.kv_tokens;
    metadata["config"] = config_of(problem);
    metadata["device"] = trace.device;
    for (const TensorInfo& stage : stage_table())
        if (trace.left_to_cpu.has(stage.id))
            metadata["left_to_cpu"].push_back(stage.name);
    metadata["fully_masked_rows"] = std::move(rows);
    if (!head_rows.empty())
        metadata["fully_masked_head_rows"] = std::move(head_rows);
    return metadata;
}

std::string json_text(const ordered_json& value) {
    return dump_json(value);
}

} // namespace headscope::exporting
