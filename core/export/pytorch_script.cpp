#include "core/export/pytorch_script.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/base/message.h"
#include "core/export/pytorch_steps.h"
#include "core/export/pytorch_values.h"
#include "core/format/safetensors.h"

#include <filesystem>
#include <optional>

namespace headscope::exporting {

namespace {

/// In the metadata of a file beside a script; says that an export may replace it.
constexpr const char* mark_key = "written_by";
constexpr const char* mark = "headscope export";

constexpr const char* reader = R"(

def read_safetensors(path):
    """The tensors of a file: 8 bytes N, N bytes of JSON that say where each tensor is, then their numbers."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    entries = json.loads(data[8 : 8 + length])
    dtypes = {"F32": torch.float32, "BOOL": torch.bool, "I64": torch.int64}
    tensors = {}
    for name, entry in entries.items():
        if name != "__metadata__":
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            flat = torch.frombuffer(bytearray(data[begin:end]), dtype=dtypes[entry["dtype"]])
            tensors[name] = flat.reshape(entry["shape"])
    return tensors


)";

/// A part of a graph, and the names of its variables.
struct Subject {
    Subject(const ScriptPart& of, const std::string& title_of) : part(of), title(title_of) {}

    const ScriptPart& part;
    const std::string& title;
    ScriptVariables variables{part};
    std::vector<ScriptValue> inputs = script_inputs(part, variables),
                             expected = expected_values(part, variables);
};

const char* kind_words(ScriptPart::Kind kind) {
    switch (kind) {
    case ScriptPart::Kind::attention:
        return "Multi-head attention";
    case ScriptPart::Kind::layer:
        return "A layer of a transformer";
    case ScriptPart::Kind::model:
        return "A transformer";
    }
    return "";
}

std::string opening(const Subject& subject, bool with_module) {
    std::string out = "#!/usr/bin/env python3\n\"\"\"" + std::string(kind_words(subject.part.kind)) +
                      " as Headscope computed it: " + python_text(subject.title);
    const bool is_model = subject.part.kind == ScriptPart::Kind::model;
    const bool has_attention = has_one_attention(subject.part, subject.variables);
    out += ".\n\nComputes every ";
    out +=
        is_model
            ? "node of the model with plain tensor operations, under its name in Headscope, then compares "
              "the "
              "hidden states\nand the logits"
            : "stage with plain tensor operations and prints it under its name in Headscope, then compares ";
    if (!is_model)
        out += has_attention ? "the weights\nand the output" : "what\nleaves the layer";
    out += " with those that Headscope computed. Ends with exit code 1 when they differ by more than "
           "rounding does.\n";
    if (with_module)
        out += "torch.nn.MultiheadAttention computes the same, and is held to the same numbers.\n";
    return out + R"(Needs PyTorch 1.13 or later and nothing else.

Vectors are rows, as in Vaswani et al. 2017, "Attention Is All You Need": Y = X W + b. Head h owns columns h*dk to
(h+1)*dk - 1 of Q.
"""
)";
}

std::string imports(bool beside) {
    return std::string(beside ? "import json\n" : "") + "import math\n" +
           (beside ? "import pathlib\nimport struct\n" : "") +
           "import sys\n\nimport torch\n\ninf = math.inf\ntorch.set_printoptions(precision=4, "
           "sci_mode=False, linewidth=120)\n";
}

std::string definitions(const std::vector<ScriptValue>& values, bool beside) {
    std::string out;
    for (const ScriptValue& value : values)
        out += beside ? value.name + " = numbers[\"" + value.name + "\"]  # " + value.axes + "\n"
                      : python_tensor(value);
    return out;
}

/// With `tensors_name`, the numbers are read from that file beside the script.
std::string write_script(const Subject& subject, const std::optional<std::string>& tensors_name) {
    const ScriptPart& part = subject.part;
    const bool beside = tensors_name.has_value();
    const bool with_module = fits_torch_module(part, subject.variables);
    std::string out = opening(subject, with_module) + imports(beside);
    if (beside)
        out += reader;
    else
        out += "\n";
    out += script_sizes(part) + "\n";
    if (beside)
        out += "numbers = read_safetensors(pathlib.Path(__file__).with_name(" + python_text(*tensors_name) +
               "))\n";
    out += definitions(subject.inputs, beside);
    out += "\n# What Headscope computed on the device " + python_text(part.device) + "\n";
    out += definitions(subject.expected, beside);
    out += script_steps(part, subject.variables);
    if (with_module)
        out += script_module(part, subject.variables);
    return out + script_comparison(part, subject.variables, with_module);
}

format::SafetensorsWriter numbers_of(const Subject& subject) {
    format::SafetensorsWriter writer;
    writer.set_metadata(mark_key, mark);
    for (const auto& values : {subject.inputs, subject.expected})
        for (const ScriptValue& value : values)
            add_to(writer, value);
    return writer;
}

std::int64_t count_numbers(const Subject& subject) {
    std::int64_t count = 0;
    for (const auto& values : {subject.inputs, subject.expected})
        for (const ScriptValue& value : values)
            count += value.tensor->count();
    return count;
}

/// The numbers file of an earlier export may be replaced; nothing else may.
void check_replaceable(const std::string& path) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
        return;
    const bool own = [&] {
        try {
            const auto metadata = format::Safetensors::open_lazily(path).metadata();
            const auto row = metadata.find(mark_key);
            return row != metadata.end() && row->second == mark;
        } catch (const Error&) {
            return false;
        }
    }();
    if (!own)
        fail_input(tr("pytorch_script.scripts_numbers_would_go",
                      "{} would hold the script's numbers but was not written by an export; move it or give "
                      "the script another name",
                      path));
}

/// Both or neither: when the second cannot be written, the first is as it was.
void write_both(const std::string& script_path, const std::string& script, const std::string& numbers_path,
                const format::SafetensorsWriter& numbers) {
    check_replaceable(numbers_path);
    std::error_code ignored;
    std::optional<std::string> earlier;
    if (std::filesystem::exists(numbers_path, ignored))
        earlier = read_file_into_memory(numbers_path, available_memory());
    write_file_atomically(numbers_path, [&](const ByteSink& sink) { numbers.write_to(sink); });
    try {
        write_file_atomically(script_path, script);
    } catch (const Error&) {
        if (earlier)
            write_file_atomically(numbers_path, *earlier);
        else
            std::filesystem::remove(numbers_path, ignored);
        throw;
    }
}

/// A pipe or a device: nothing can lie beside it.
bool is_stream(const std::string& path) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    return path == "-" || (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
                           !std::filesystem::is_directory(status));
}

} // namespace

std::string pytorch_script(const ScriptPart& part, const std::string& title) {
    return write_script({part, title}, std::nullopt);
}

std::string pytorch_clipboard(const ScriptPart& part, const std::string& title) {
    // A number with its comma has three characters or more: a script that must be too long is not made.
    constexpr std::int64_t shortest_number = 3;
    const Subject subject{part, title};
    const std::int64_t count = count_numbers(subject);
    std::string script;
    const bool hopeless = count * shortest_number > static_cast<std::int64_t>(longest_copied_script);
    if (!hopeless)
        script = write_script(subject, std::nullopt);
    if (hopeless || script.size() > longest_copied_script)
        fail_input(tr("pytorch_script.script_numbers_too_long",
                      "the script with its {} numbers is too long to be copied (the limit is {} MB of text); "
                      "save it to a file instead",
                      count, longest_copied_script / 1'000'000));
    return script;
}

std::string pytorch_numbers_path(const std::string& script_path) {
    constexpr std::string_view suffix = ".py";
    std::string stem = script_path;
    if (stem.ends_with(suffix))
        stem.resize(stem.size() - suffix.size());
    return stem + ".numbers.safetensors";
}

void export_pytorch(const ScriptPart& part, const std::string& title, const std::string& path) {
    const Subject subject{part, title};
    if (is_stream(path) || count_numbers(subject) <= most_numbers_in_script)
        return write_file_atomically(path, write_script(subject, std::nullopt));
    const std::string numbers_path = pytorch_numbers_path(path);
    const std::string script = write_script(subject, std::filesystem::path(numbers_path).filename().string());
    write_both(path, script, numbers_path, numbers_of(subject));
}

} // namespace headscope::exporting
