#include "core/export/tensor_export.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/message.h"
#include "core/export/circuitsvis.h"
#include "core/export/trace_selection.h"
#include "core/format/npy.h"
#include "core/format/safetensors.h"
#include "core/format/tsv.h"

#include <algorithm>

namespace headscope::exporting {

namespace {

Shape shape_from(const std::vector<std::int64_t>& extents) {
    return extents.empty() ? Shape{1} : Shape(extents);
}

/// The same numbers in another shape of as many.
TensorPtr reshaped(const Tensor& tensor, const std::vector<std::int64_t>& extents) {
    return make_tensor(shape_from(extents), tensor.values());
}

/// Index `at` of an axis, which stays with extent 1.
TensorPtr slice(const Tensor& tensor, int axis, std::int64_t at) {
    std::vector<std::int64_t> extents(tensor.shape().begin(), tensor.shape().end());
    std::int64_t inner = 1, outer = 1;
    for (int a = 0; a < tensor.shape().rank(); ++a)
        (a < axis ? outer : inner) *= a == axis ? 1 : tensor.shape()[a];
    const std::int64_t extent = tensor.shape()[axis];
    extents[static_cast<std::size_t>(axis)] = 1;
    auto out = std::make_shared<Tensor>(shape_from(extents));
    for (std::int64_t o = 0; o < outer; ++o)
        std::copy_n(tensor.data() + (o * extent + at) * inner, inner, out->data() + o * inner);
    return out;
}

/// Where an axis of the stage table lies; -1 when the tensor has none of that kind.
int find_axis(const TensorInfo& info, std::initializer_list<Axis> kinds) {
    const auto found = std::ranges::find_first_of(info.axes, kinds);
    return found == info.axes.end() ? -1 : static_cast<int>(found - info.axes.begin());
}

TensorPtr whole(const Problem& problem, const Trace& trace, const TensorInfo& info) {
    if (is_stage(info.id) || is_block_stage(info.id) || is_block_weight(info.id)) {
        const TensorPtr& stage = trace.stages[static_cast<std::size_t>(info.id)];
        if (!has_tensor(info.id, trace.parts))
            fail_input(tr("tensor_export.problem_no_stage_name",
                          "this problem has no stage {}; name another one", info.name));
        if (stage == nullptr)
            throw Error(ErrorKind::internal, "the stage " + std::string(info.name) + " was not computed");
        return stage;
    }
    const TensorPtr input = problem.input_ptr(info.id);
    if (input == nullptr)
        fail_input(tr("tensor_export.problem_no_tensor_name",
                      "this problem has no tensor {}; name another one, such as weights or W_Q", info.name));
    return input;
}

/// The part with all its axes, those that it fixes having extent 1, and where they begin.
SelectedStage select_part(const Problem& problem, const Trace& trace, const TensorPart& part) {
    const TensorInfo& info = tensor_info(part.id);
    SelectedStage selected{.info = &info, .tensor = whole(problem, trace, info)};
    if (part.b) {
        const int axis = find_axis(info, {Axis::B});
        if (axis < 0)
            fail_input(tr("tensor_export.no_batch_axis_take",
                          "{} has no batch axis to take an entry of; leave that choice out", info.name));
        if (*part.b < 0 || *part.b >= problem.dims.B)
            fail_input(tr("tensor_export.no_batch_entry_batch",
                          "there is no batch entry {}; batch entries are numbered 0 to {}", *part.b,
                          problem.dims.B - 1));
        selected.tensor = slice(*selected.tensor, axis, *part.b);
        selected.first_batch = *part.b;
    }
    if (part.h) {
        const int axis = selected.head_axis();
        if (axis < 0)
            fail_input(tr("tensor_export.no_head_axis_take",
                          "{} has no head axis to take an entry of; leave that choice out", info.name));
        if (*part.h < 0 || *part.h >= problem.dims.H)
            fail_input(tr("common.no_head_heads_numbered", "there is no head {}; heads are numbered 0 to {}",
                          *part.h, problem.dims.H - 1));
        const bool key_value = info.axes[static_cast<std::size_t>(axis)] == Axis::Hkv;
        selected.first_head = key_value ? problem.dims.kv_head(*part.h) : *part.h;
        selected.tensor = slice(*selected.tensor, axis, selected.first_head);
    }
    return selected;
}

/// Without the axes that the part fixes.
TensorPtr drop_fixed(const SelectedStage& selected, const TensorPart& part) {
    std::vector<std::int64_t> extents;
    for (int axis = 0; axis < selected.tensor->shape().rank(); ++axis) {
        const bool fixed = (part.b && axis == find_axis(*selected.info, {Axis::B})) ||
                           (part.h && axis == selected.head_axis());
        if (!fixed)
            extents.push_back(selected.tensor->shape()[axis]);
    }
    return reshaped(*selected.tensor, extents);
}

std::string table(const SelectedStage& selected, char separator) {
    const Tensor& tensor = *selected.tensor;
    const Shape& shape = tensor.shape();
    const bool matrix = shape.count() == shape.back(0) * (shape.rank() > 1 ? shape.back(1) : 1);
    std::string text;
    if (!matrix) {
        write_table({selected}, separator, [&](std::string_view part) { text += part; });
        return text;
    }
    text = format::tsv(tensor, format::matrix_around(tensor, {}));
    std::ranges::replace(text, '\t', separator);
    return text;
}

/// "L3" for the note 3 or L3.
std::string layer_in_names(const std::map<std::string, std::string>& notes) {
    const auto note = notes.find("layer");
    if (note == notes.end() || note->second.empty())
        return {};
    return (note->second.find_first_of("0123456789") == 0 ? "L" : "") + note->second;
}

std::string circuitsvis_bytes(const Problem& problem, const SelectedStage& selected,
                              const std::map<std::string, std::string>& notes) {
    if (selected.info->id != TensorId::weights)
        fail_input(
            tr("tensor_export.circuitsvis_weights",
               "a file for CircuitsVis holds attention weights, not {}; name weights, or another format",
               selected.info->name));
    if (problem.cross())
        fail_input(tr("trace_export.circuitsvis_two_texts",
                      "CircuitsVis shows queries and keys that are the same tokens, and these keys are of "
                      "another text; write .npz"));
    std::string bytes;
    write_circuitsvis(problem.tokens, {{selected, layer_in_names(notes)}},
                      [&](std::string_view part) { bytes += part; });
    return bytes;
}

} // namespace

TensorPtr tensor_part(const Problem& problem, const Trace& trace, const TensorPart& part) {
    return drop_fixed(select_part(problem, trace, part), part);
}

std::string tensor_bytes(const Problem& problem, const Trace& trace, const TensorPart& part,
                         TraceFormat format, const std::map<std::string, std::string>& notes) {
    const SelectedStage selected = select_part(problem, trace, part);
    switch (format) {
    case TraceFormat::npy:
        return format::npy_bytes(*drop_fixed(selected, part));
    case TraceFormat::csv:
        return table(selected, ',');
    case TraceFormat::tsv:
        return table(selected, '\t');
    case TraceFormat::circuitsvis:
        return circuitsvis_bytes(problem, selected, notes);
    case TraceFormat::npz:
    case TraceFormat::safetensors: {
        format::SafetensorsWriter writer;
        for (const auto& [key, text] : notes)
            writer.set_metadata(key, text);
        writer.add(std::string(selected.info->name), drop_fixed(selected, part));
        std::string bytes;
        const auto append = [&](std::string_view piece) { bytes += piece; };
        if (format == TraceFormat::npz)
            writer.write_npz_to(append);
        else
            writer.write_to(append);
        return bytes;
    }
    case TraceFormat::json:
        break;
    }
    fail_input(tr("tensor_export.one_tensor_written_npy",
                  "one tensor is written as .npy, .npz, .csv, .tsv or .safetensors, not as json"));
}

void export_tensor(const Problem& problem, const Trace& trace, const TensorPart& part,
                   const std::string& path, const std::map<std::string, std::string>& notes) {
    const auto format = trace_format_of_path(path);
    if (!format || *format == TraceFormat::json)
        fail_input(tr("tensor_export.ending_no_format_tensor",
                      "{} does not end like a tensor file; use .npy, .npz, .csv, .tsv or .safetensors",
                      path));
    write_file_atomically(path, tensor_bytes(problem, trace, part, *format, notes));
}

} // namespace headscope::exporting
