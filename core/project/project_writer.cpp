#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"
#include "core/project/checksum.h"
#include "core/project/mask_json.h"
#include "core/project/project_file.h"
#include "core/project/project_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace headscope::project {

namespace {

using nlohmann::ordered_json;

/// Writes each tensor once, even if several parts of the project share it.
class Tensors {
public:
    /// The name of the tensor in the file: `name`, or that of an earlier part that shares it.
    template<class Pointer>
    std::string put(const std::string& name, const Pointer& tensor) {
        const auto [row, added] = names_.try_emplace(tensor.get(), name);
        if (added)
            writer_.add(name, tensor);
        return row->second;
    }
    std::string put_finite(const std::string& name, const TensorPtr& tensor) {
        if (!std::ranges::all_of(tensor->values(), [](float value) { return std::isfinite(value); }))
            fail_input(
                tr("project_writer.tensor_holds_nan_infinity",
                   "the tensor {} holds NaN or infinity, which a project cannot keep; give it finite numbers",
                   name));
        return put(name, tensor);
    }
    format::SafetensorsWriter& writer() { return writer_; }

private:
    format::SafetensorsWriter writer_;
    std::map<const void*, std::string> names_;
};

/// `what` is their key in the file.
ordered_json finite_numbers(std::span<const float> values, std::string_view what) {
    if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); }))
        fail_input(tr("project_writer.one_nan_infinite_project",
                      "one of the {} is NaN or infinite, which a project cannot keep; give finite numbers",
                      what));
    return std::vector<float>(values.begin(), values.end());
}

/// The list form of mask_json, in which a rule with values names the tensor that contains them.
ordered_json mask_json(const Mask& mask, const std::string& prefix, Tensors& tensors) {
    ordered_json rules = ordered_json::array();
    for (std::size_t i = 0; i < mask.size(); ++i) {
        const std::string name = prefix + "mask." + std::to_string(i);
        if (const auto* allowed = std::get_if<ExplicitMask>(&mask[i]))
            rules.push_back({{"kind", "explicit"}, {"tensor", tensors.put(name, allowed->allowed)}});
        else if (const auto* additive = std::get_if<AdditiveMask>(&mask[i]))
            rules.push_back({{"kind", "additive"}, {"tensor", tensors.put(name, additive->add)}});
        else
            rules.push_back(ordered_json::parse(describe_mask({mask[i]})).front());
    }
    return rules;
}

ordered_json problem_json(const Problem& problem, const std::string& prefix, Tensors& tensors) {
    ordered_json out;
    const auto put = [&](std::string_view name, const TensorPtr& tensor) {
        if (tensor != nullptr)
            out["tensors"][std::string(name)] = tensors.put_finite(prefix + std::string(name), tensor);
    };
    visit_fields(Overloaded{[&](const Field& field, const Dims& d) {
                                out[std::string(field.name)] = {{"B", d.B},     {"Tq", d.Tq},   {"Tk", d.Tk},
                                                                {"D", d.D},     {"Dkv", d.Dkv}, {"H", d.H},
                                                                {"Hkv", d.Hkv}, {"dk", d.dk},   {"dv", d.dv}};
                            },
                            [&](const Field& field, const TensorPtr& tensor) { put(field.name, tensor); },
                            [&](const Field&, const std::optional<Rotary>& rotary) {
                                if (!rotary)
                                    return;
                                put(tensor_info(TensorId::rotary_cos).name, rotary->cos);
                                put(tensor_info(TensorId::rotary_sin).name, rotary->sin);
                            },
                            [&](const Field& field, const std::optional<RelativeTerms>& relative) {
                                if (relative)
                                    out[std::string(field.name)] = {{"span", relative->rows.span},
                                                                    {"buckets", relative->rows.buckets},
                                                                    {"furthest", relative->rows.furthest},
                                                                    {"c2p", relative->c2p},
                                                                    {"p2c", relative->p2c}};
                            },
                            [&](const Field& field, const Mask& mask) {
                                out[std::string(field.name)] = mask_json(mask, prefix, tensors);
                            },
                            [&](const Field& field, const std::vector<float>& numbers) {
                                out[std::string(field.name)] = finite_numbers(numbers, field.label.english);
                            },
                            [&](const Field& field, float number) {
                                if (has_tensor(*field.row, problem.parts()))
                                    out[std::string(field.name)] = number;
                            },
                            [&](const Field& field, const std::vector<std::string>& texts) {
                                out[std::string(field.name)] = texts;
                            }},
                 problem);
    return out;
}

/// The original tensors of the visible edits, so that a version that builds other numbers can still undo the
/// edits.
ordered_json unedited_json(const Recipe& recipe, const Problem& problem, Tensors& tensors) {
    ordered_json out = ordered_json::object();
    std::optional<Problem> unedited;
    for (const auto& [id, tensor] : recipe.edits) {
        if (problem.input(id) != tensor.get())
            continue; // pending until its shape matches
        if (!unedited)
            unedited = build_recipe(recipe).problem;
        const std::string name(tensor_info(id).name);
        out[name] = tensors.put_finite("unedited." + name, unedited->input_ptr(id));
    }
    return out;
}

ordered_json recipe_json(const Recipe& recipe, Tensors& tensors) {
    ordered_json out;
    out["preset"] = recipe.preset;
    out["sentence"] = recipe.sentence;
    if (!recipe.kv_sentence.empty())
        out["kv_sentence"] = recipe.kv_sentence;
    out["mask"] = mask_choice_names[static_cast<std::size_t>(recipe.mask)];
    out["H"] = recipe.H;
    out["Hkv"] = recipe.Hkv;
    out["seed"] = recipe.seed;
    out["identity_W_O"] = recipe.identity_W_O;
    out["base"] = recipe.base == nullptr ? ordered_json() : problem_json(*recipe.base, "base.", tensors);
    ordered_json& edits = out["edits"] = ordered_json::object();
    for (const auto& [id, tensor] : recipe.edits) {
        const std::string name(tensor_info(id).name);
        edits[name] = tensors.put_finite("edits." + name, tensor);
    }
    out["gains"] = finite_numbers(recipe.gains, "gains");
    out["temperature"] = finite_numbers({&recipe.temperature, 1}, "temperature").front();
    out["extra_mask"] = mask_json(recipe.extra_mask, "extra_", tensors);
    if (!recipe.painted_mask.empty())
        out["painted_mask"] = mask_json(recipe.painted_mask, "painted_", tensors);
    return out;
}

constexpr Message no_title = translatable("project_writer.problem_file", "a problem from a file");

std::string title_of(const Recipe& recipe, const Problem& problem) {
    if (recipe.base == nullptr)
        return recipe_title(recipe);
    std::string title;
    for (const std::string& token : problem.tokens)
        title += (title.empty() ? "" : " ") + token;
    return title.empty() ? std::string(no_title.english) : title;
}

} // namespace

std::string project_bytes(const Recipe& recipe, const Problem& problem,
                          const std::map<std::string, std::string>& also) {
    Tensors tensors;
    ordered_json project;
    project["format"] = project_format;
    project["program"] = HEADSCOPE_VERSION;
    project["title"] = title_of(recipe, problem);
    // The order matters: displayed tensors have their own names, and other parts refer to them.
    ordered_json shown = problem_json(problem, "problem.", tensors);
    project["recipe"] = recipe_json(recipe, tensors);
    project["problem"] = std::move(shown);
    project["unedited"] = unedited_json(recipe, problem, tensors);
    project[std::string(checksum_field)] = "sha256";

    format::SafetensorsWriter& writer = tensors.writer();
    for (const auto& [key, text] : also)
        writer.set_metadata(key, text);
    writer.set_metadata(std::string(checksum_key), placeholder_checksum());
    writer.set_metadata(std::string(project_key), dump_json(project));
    std::string bytes = writer.bytes();
    if (bytes.size() > largest_project)
        fail_input(tr("project_writer.project_would_bytes_more",
                      "the project would have {} bytes, more than the 2 GB a project may have; take fewer "
                      "tokens or a smaller model",
                      bytes.size()));
    write_checksum(bytes);
    return bytes;
}

} // namespace headscope::project
