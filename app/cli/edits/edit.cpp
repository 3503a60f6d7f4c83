#include "app/cli/prompt_option.h"
#include "app/cli/subcommands.h"
#include "core/base/error.h"
#include "core/checkpoint/model/edited_table.h"
#include "core/checkpoint/model/patch_file.h"
#include "core/checkpoint/model/stacks.h"
#include "core/format/safetensors.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <memory>

namespace headscope::cli {

namespace {

struct EditOptions {
    EditedModelOption model;
    std::string parameters, out;
};

bool same_bits(std::span<const float> a, std::span<const float> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

/// A parameter by its name in `trace` and `export`.
struct NamedParameter {
    std::int64_t attention = 0; ///< the one whose edits hold it
    TensorId weight{};
};

/// Returns the last attention whose names begin with the prefix: that of a layer, or that of a stack for what
/// stands around its layers; -1 if there is none.
std::int64_t attention_of(const checkpoint::ModelConfig& config, const std::string& prefix, bool of_layer) {
    std::int64_t attention = checkpoint::attention_count(config) - 1;
    for (; attention >= 0; --attention) {
        const checkpoint::AttentionPlace place = checkpoint::attention_place(config, attention);
        if (prefix == (of_layer ? checkpoint::layer_prefix(config, place)
                                : checkpoint::stack_prefix(config, place.stack)))
            break;
    }
    return attention;
}

NamedParameter parameter_of(const std::string& name, const checkpoint::ModelConfig& config) {
    const std::size_t point = name.rfind('.'), begin = point == std::string::npos ? 0 : point + 1;
    const std::string prefix = name.substr(0, begin), before = prefix.substr(0, begin == 0 ? 0 : point);
    const std::string_view rest = std::string_view(name).substr(begin);
    const std::optional<TensorId> around = find_block_weight(rest), id = around ? around : find_tensor(rest);
    const std::optional<TensorId> weight = id && checkpoint::is_editable_weight(*id) ? id : std::nullopt;
    if (!weight)
        fail_input(name + " is not a parameter that can be edited; name one of headscope export --tensor, "
                          "such as layers.0.W_Q");
    const bool of_layer = checkpoint::is_per_layer(*weight);
    if (of_layer && prefix.empty())
        fail_input(name + " belongs to a layer; name it as in layers.0." + name);
    // Without a stack the ends of an encoder-decoder are those of the decoder.
    const std::int64_t attention = !of_layer && prefix.empty() ? checkpoint::attention_count(config) - 1
                                                               : attention_of(config, prefix, of_layer);
    if (attention < 0 && !of_layer && attention_of(config, prefix, true) >= 0)
        fail_input(name + " belongs to no layer; name it as in " + std::string(rest) + " or encoder." +
                   std::string(rest));
    if (attention < 0)
        fail_input("there is no " + std::string(of_layer ? "layer " : "stack ") + before +
                   " in this model; parameters are named as in layers.0.W_Q, W_E or encoder.W_E");
    const TensorId read = checkpoint::read_as(config, *weight);
    return {checkpoint::edited_with(config, attention, read), read};
}

/// Adds the rows that differ from the model's.
void add_rows(const checkpoint::Model& model, NamedParameter at, const std::string& name,
              const Tensor& changed, checkpoint::LayerEdits& edits) {
    const checkpoint::EditedTable table(checkpoint::stack_at(model, at.attention), {}, at.weight,
                                        at.attention);
    if (!table.exists())
        fail_input("the model has no " + name + "; name another parameter");
    if (changed.shape() != table.own().shape())
        fail_input(name + " has the shape " + changed.shape().text() + "; the model's has " +
                   table.own().shape().text());
    const std::size_t width = table.own_row(0).size();
    for (std::int64_t row = 0; row < table.rows(); ++row) {
        const std::span<const float> numbers =
            changed.values().subspan(static_cast<std::size_t>(row) * width, width);
        if (!same_bits(numbers, table.own_row(row)))
            edits.rows[at.weight][row] =
                std::make_shared<const Tensor>(checkpoint::row_shape(table.own().shape()), numbers);
    }
}

void add_parameters(const checkpoint::Model& model, const format::Safetensors& file,
                    checkpoint::ModelEdits& edits) {
    for (const format::SafetensorsEntry& entry : file.entries()) {
        const NamedParameter at = parameter_of(entry.name, model.config());
        const TensorPtr changed = file.tensor(entry.name);
        checkpoint::LayerEdits& layer = edits[at.attention];
        layer.tensors.erase(at.weight);
        layer.rows.erase(at.weight);
        if (is_table(at.weight)) {
            add_rows(model, at, entry.name, *changed, layer);
            continue;
        }
        const TensorPtr own = checkpoint::editable_weights(model, at.attention)[at.weight];
        if (own == nullptr)
            fail_input("the model has no " + entry.name + "; name another parameter");
        if (changed->shape() != own->shape() || !same_bits(changed->values(), own->values()))
            layer.tensors[at.weight] = changed;
    }
}

void run_edit(const EditOptions& options) {
    const checkpoint::TextModelPtr model = options.model.open();
    checkpoint::ModelEdits edits = options.model.edits(*model);
    if (std::ranges::any_of(edits, [](const auto& one) { return !one.second.patched.empty(); }))
        fail_input("--patch sets activations, which belong to one text and cannot be written with "
                   "parameters; name a file without them");
    add_parameters(*model->model, format::Safetensors::open(options.parameters), edits);
    std::erase_if(edits, [](const auto& one) { return one.second.empty(); });
    checkpoint::save_patch(*model->model, edits, options.out);
}

} // namespace

void add_edit(CLI::App& program) {
    CLI::App& command =
        *program.add_subcommand("edit", "write changed parameters as a file of edits, for --patch");
    const auto options = std::make_shared<EditOptions>();
    options->model.add_to(command);
    command
        .add_option("--parameters", options->parameters,
                    "a .safetensors file with whole parameters by their names in trace, such as layers.0.W_Q "
                    "(D, H dk) or W_E (vocabulary, D)")
        ->required();
    command.add_option("-o,--output", options->out, "the .patch.safetensors file to write")->required();
    command.footer(
        "--gain and the edits of --patch are written too. The file has only the numbers that differ "
        "from the checkpoint's, and belongs to this checkpoint.");
    command.callback([options] { run_edit(*options); });
}

} // namespace headscope::cli
