#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/base/overloaded.h"
#include "core/checkpoint/files/config_reader.h"
#include "core/project/mask_json.h"
#include "core/project/project_file.h"
#include "core/project/project_parts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace headscope::project {

namespace {

using nlohmann::json;

constexpr std::int64_t largest_extent = std::numeric_limits<std::int32_t>::max();

std::string dump(const json& value) {
    return shortened_json(value, 40);
}

std::vector<float> read_numbers(const checkpoint::ConfigReader& object, const char* key) {
    const std::string wanted = tr("project_reader.list_finite_numbers", "a list of finite numbers");
    std::vector<float> numbers;
    const json* list = object.find(key);
    if (list == nullptr)
        return numbers;
    if (!list->is_array())
        object.refuse(key, wanted);
    for (const json& element : *list) {
        if (!element.is_number() ||
            !(std::abs(element.get<double>()) <= double{std::numeric_limits<float>::max()}))
            object.refuse(key, wanted);
        numbers.push_back(element.get<float>());
    }
    return numbers;
}

/// Returns `usual` if the key is missing.
float read_positive(const checkpoint::ConfigReader& object, const char* key, float usual) {
    if (!object.has(key))
        return usual;
    const auto number = static_cast<float>(object.positive(key, static_cast<double>(usual)));
    if (!std::isfinite(number) || number <= 0)
        object.refuse(key,
                      tr("project_reader.number_above_0_float32", "a number above 0 that float32 can hold"));
    return number;
}

RelativeTerms read_relative(const checkpoint::ConfigReader& object) {
    RelativeTerms relative;
    relative.rows.span = object.needed_integer("span", 1);
    relative.rows.buckets = object.integer("buckets", 0).value_or(0);
    relative.rows.furthest = object.integer("furthest", 0).value_or(0);
    relative.c2p = object.flag("c2p", false);
    relative.p2c = object.flag("p2c", false);
    return relative;
}

/// Reads the parts of one file. A tensor that several parts name is shared, as it was when saved.
class Reader {
public:
    Reader(const format::Safetensors& file, const ReadOptions& rules, std::vector<std::string>& notes)
        : file_(file), rules_(rules), notes_(notes) {}

    /// Returns the result of `read`, or nothing with a note if parts may be omitted.
    template<class Read>
    auto part(const std::string& what, const Read& read) -> std::optional<decltype(read())> {
        try {
            return read();
        } catch (const Error& fault) {
            if (!rules_.omit_unreadable || fault.kind() != ErrorKind::input)
                throw;
            notes_.push_back(tr("project_reader.could_not_recovered", "{} could not be recovered ({}).", what,
                                fault.what()));
            return std::nullopt;
        }
    }

    /// `what` is "the edit of W_Q" or "W_Q of the problem".
    TensorPtr tensor(const json& name, const std::string& what) {
        const std::string key = checked_name(name, what);
        TensorPtr& tensor = tensors_[key];
        if (tensor == nullptr)
            tensor = file_.tensor(key);
        return tensor;
    }
    TensorPtr finite_tensor(const json& name, const std::string& what) {
        TensorPtr read = tensor(name, what);
        if (read->count() == 0)
            fail_input(tr("project_reader.tensor_shape_no_number",
                          "{}: tensor {} ({}) has shape {} and is empty; no dimension may be 0",
                          file_.source(), dump(name), what, read->shape().text()));
        const auto values = read->values();
        const auto bad = std::ranges::find_if(values, [](float value) { return !std::isfinite(value); });
        if (bad != values.end())
            fail_input(std::isnan(*bad)
                           ? tr("project_reader.number_tensor_nan_every",
                                "{}: number {} of tensor {} ({}) is NaN; every number should be finite",
                                file_.source(), bad - values.begin(), dump(name), what)
                           : tr("project_reader.number_tensor_infinite",
                                "{}: number {} of tensor {} ({}) is infinite; every number should be finite",
                                file_.source(), bad - values.begin(), dump(name), what));
        return read;
    }
    BoolTensorPtr bools(const json& name, const std::string& what) {
        const std::string key = checked_name(name, what);
        BoolTensorPtr& tensor = bools_[key];
        if (tensor == nullptr)
            tensor = file_.bools(key);
        return tensor;
    }

    MaskRule rule(const json& value, const std::string& what) {
        const auto named = value.is_object() ? value.find("tensor") : value.end();
        if (!value.is_object() || named == value.end())
            return plain_rule(value, what);
        if (value.value("kind", json()) == "explicit")
            return ExplicitMask{bools(*named, what)};
        if (value.value("kind", json()) == "additive")
            return AdditiveMask{tensor(*named, what)};
        fail_input(tr("project_reader.explicit_additive_rules",
                      "{}: {} is {}; only explicit and additive rules name a tensor", file_.source(), what,
                      dump(value)));
    }
    /// With `whole`, a rule that cannot be read is an error even if parts may be omitted.
    Mask mask(const checkpoint::ConfigReader& object, const char* key, const std::string& owner, bool whole) {
        Mask mask;
        const json* rules = object.find(key);
        if (rules == nullptr)
            return mask;
        if (!rules->is_array())
            object.refuse(key, tr("project_reader.list_rules", "a list of rules"));
        for (const json& value : *rules) {
            const std::string what = tr("project_reader.mask_rule", "mask rule {} of {}", mask.size(), owner);
            if (whole)
                mask.push_back(rule(value, what));
            else if (auto read = part(what, [&] { return rule(value, what); }))
                mask.push_back(std::move(*read));
        }
        return mask;
    }

    Problem problem(const checkpoint::ConfigReader& object, const std::string& owner);
    Recipe recipe(const checkpoint::ConfigReader& object);
    std::map<TensorId, TensorPtr> inputs(const checkpoint::ConfigReader& object, const char* key, bool edits);

private:
    std::string checked_name(const json& name, const std::string& what) const {
        if (!name.is_string())
            fail_input(tr("project_reader.should_name_tensor_file",
                          "{}: {} is {}; it should be the name of a tensor of the file", file_.source(), what,
                          dump(name)));
        std::string key = name.get<std::string>();
        if (rules_.missing_tensors.contains(key))
            fail_input(tr("project_reader.tensor_lies_part_missing",
                          "tensor {} is in the missing part of {}; take it from another copy", key,
                          file_.source()));
        return key;
    }
    MaskRule plain_rule(const json& value, const std::string& what) const {
        Mask read;
        try {
            read = parse_mask(value.is_object() ? dump_json(value) : "[" + dump_json(value) + "]");
        } catch (const Error& fault) {
            fail_input(file_.source() + ": " + what + ": " + fault.what());
        }
        const auto* additive = std::get_if<AdditiveMask>(&read.front());
        if (additive != nullptr && additive->add == nullptr)
            fail_input(tr("project_reader.no_add_names_no",
                          "{}: {} has no \"add\" and names no tensor; give one of them", file_.source(),
                          what));
        return read.front();
    }

    const format::Safetensors& file_;
    const ReadOptions& rules_;
    std::vector<std::string>& notes_;
    std::map<std::string, TensorPtr> tensors_;
    std::map<std::string, BoolTensorPtr> bools_;
};

Problem Reader::problem(const checkpoint::ConfigReader& object, const std::string& owner) {
    Problem problem;
    const auto dims = object.object("dims");
    if (!dims)
        object.refuse("dims", tr("project_reader.object_b_tq_tk",
                                 "an object with B, Tq, Tk, D, Dkv, H, Hkv, dk and dv"));
    Dims& d = problem.dims;
    for (const auto& [key, extent] :
         {std::pair("B", &d.B), std::pair("Tq", &d.Tq), std::pair("Tk", &d.Tk), std::pair("D", &d.D),
          std::pair("Dkv", &d.Dkv), std::pair("H", &d.H), std::pair("Hkv", &d.Hkv), std::pair("dk", &d.dk),
          std::pair("dv", &d.dv)})
        if (const auto value = dims->integer(key, 1))
            *extent = *value;
        else
            dims->refuse(key,
                         tr("project_reader.whole_number_1", "a whole number from 1 to {}", largest_extent));

    const json* tensors = object.find("tensors");
    if (tensors == nullptr || !tensors->is_object())
        object.refuse("tensors", tr("project_reader.object_names_tensor_x",
                                    "an object that names the tensor for x, W_Q and the others"));
    std::set<std::string_view> known;
    const auto read = [&](std::string_view name) {
        known.insert(name);
        const auto value = tensors->find(name);
        // Translators: "W_Q of the problem on screen"
        return value == tensors->end() ? nullptr
                                       : finite_tensor(*value, tr("common.of_2", "{} of {}", name, owner));
    };
    const auto key = [](const Field& field) { return std::string(field.name); };
    visit_fields(
        Overloaded{
            [](const Field&, const Dims&) {}, // read above
            [&](const Field& field, TensorPtr& tensor) { tensor = read(field.name); },
            [&](const Field&, std::optional<Rotary>& rotary) {
                Rotary tables{read(tensor_info(TensorId::rotary_cos).name),
                              read(tensor_info(TensorId::rotary_sin).name)};
                if (tables.cos != nullptr || tables.sin != nullptr)
                    rotary = std::move(tables);
            },
            [&](const Field& field, std::optional<RelativeTerms>& relative) {
                if (const auto terms = object.object(field.name)) {
                    relative = read_relative(*terms);
                    d.distances = relative->rows.count();
                }
            },
            [&](const Field& field, Mask& rules) { rules = mask(object, key(field).c_str(), owner, true); },
            [&](const Field& field, std::vector<float>& numbers) {
                numbers = read_numbers(object, key(field).c_str());
            },
            [&](const Field& field, float& number) {
                number = read_positive(object, key(field).c_str(), number);
            },
            [&](const Field& field, std::vector<std::string>& texts) { texts = object.texts(key(field)); }},
        problem);
    for (const auto& [name, value] : tensors->items())
        if (!known.contains(name))
            fail_input(tr("project_reader.names_tensor_no_problem",
                          "{}: {} names a tensor for {}, which no problem has; remove it", file_.source(),
                          owner, name));
    try {
        validate(problem);
    } catch (const Error& fault) {
        throw Error(fault.kind(),
                    tr("project_reader.in", "{}: in {}, {}", file_.source(), owner, fault.what()));
    }
    return problem;
}

std::map<TensorId, TensorPtr> Reader::inputs(const checkpoint::ConfigReader& object, const char* key,
                                             bool edits) {
    std::map<TensorId, TensorPtr> read;
    const json* named = object.find(key);
    if (named == nullptr)
        return read;
    if (!named->is_object())
        object.refuse(key, tr("project_reader.object_names_tensor_each",
                              "an object that names a tensor for each input"));
    for (const auto& [name, value] : named->items()) {
        const std::string what = edits ? tr("project_reader.edit", "the edit of {}", name)
                                       : tr("project_reader.unedited", "the unedited {}", name);
        const auto tensor = part(what, [&, &input = name, &tensor_name = value] {
            const auto id = find_tensor(input);
            if (!id || !is_editable(*id))
                fail_input(tr("project_reader.no_input_edits_x",
                              "{}: there is no input {}; only x, x_kv, W_* and b_* can be edited",
                              file_.source(), input));
            TensorPtr found = finite_tensor(tensor_name, what);
            if (found->shape().rank() != tensor_info(*id).rank())
                fail_input(tr_n("project_reader.tensor_shape_should_axes",
                                "{}: tensor {} ({}) has shape {}; it should have {} axes",
                                "{}: tensor {} ({}) has shape {}; it should have {} axes",
                                tensor_info(*id).rank(), file_.source(), dump(tensor_name), what,
                                found->shape().text(), tensor_info(*id).rank()));
            return std::pair(*id, std::move(found));
        });
        if (tensor)
            read.insert(*tensor);
    }
    return read;
}

MaskChoice read_mask_choice(const checkpoint::ConfigReader& object) {
    const std::string name = object.text("mask", "none");
    const auto row = std::ranges::find(mask_choice_names, name);
    if (row == mask_choice_names.end())
        object.refuse("mask", tr("project_reader.none_causal_causal_window",
                                 "none, causal, causal_window or symmetric_window"));
    return static_cast<MaskChoice>(row - mask_choice_names.begin());
}

Recipe Reader::recipe(const checkpoint::ConfigReader& object) {
    Recipe recipe;
    recipe.preset = object.text("preset", recipe.preset);
    recipe.sentence = object.text("sentence", "");
    recipe.kv_sentence = object.text("kv_sentence", "");
    recipe.mask = read_mask_choice(object);
    recipe.H = object.integer("H", 0).value_or(0);
    recipe.Hkv = object.integer("Hkv", 0).value_or(0);
    if (const json* seed = object.find("seed"); seed != nullptr) {
        if (!seed->is_number_unsigned())
            object.refuse("seed", tr("project_reader.whole_number_0_2", "a whole number from 0 to 2^64 - 1"));
        recipe.seed = seed->get<std::uint64_t>();
    }
    recipe.identity_W_O = object.flag("identity_W_O", false);
    if (const auto base = object.object("base"))
        if (auto read = part(tr("project_reader.problem_file", "The problem from a file"), [&] {
                return problem(*base, tr("project_reader.problem_file_2", "the problem from a file"));
            }))
            recipe.base = std::make_shared<const Problem>(std::move(*read));
    recipe.edits = inputs(object, "edits", true);
    recipe.gains = read_numbers(object, "gains");
    recipe.temperature = read_positive(object, "temperature", 1.0F);
    recipe.extra_mask = mask(object, "extra_mask", tr("project_reader.recipe", "the recipe"), false);
    recipe.painted_mask =
        mask(object, "painted_mask", tr("project_reader.painted_mask", "the painted mask"), false);
    return recipe;
}

/// Creates a recipe for a problem of a program that does not know presets.
Recipe recipe_for(Problem problem) {
    Recipe recipe;
    recipe.gains = std::exchange(problem.gains, {});
    recipe.temperature = std::exchange(problem.temperature, 1.0F);
    recipe.base = std::make_shared<const Problem>(std::move(problem));
    return recipe;
}

} // namespace

bool is_project(const format::Safetensors& file) {
    return file.metadata().contains(std::string(project_key));
}

nlohmann::json project_json(const format::Safetensors& file) {
    const auto entry = file.metadata().find(std::string(project_key));
    if (entry == file.metadata().end())
        fail_input(tr("project_reader.safetensors_file_without",
                      "{} is a safetensors file without a project in it; open it as a tensor file",
                      file.source()));
    json project = parse_json_with_bytes(entry->second,
                                         tr("project_reader.project", "the project in {}", file.source()));
    if (!project.is_object() || !project.contains("format") || !project["format"].is_number_unsigned() ||
        project["format"] == 0)
        fail_input(tr("project_reader.project_no_format_number",
                      "{}: the project has no format number; it should be 1 or above", file.source()));
    return project;
}

void check_format(const json& project, const std::string& source) {
    const auto format = project["format"].get<std::uint64_t>();
    if (format <= std::uint64_t{project_format})
        return;
    const json writer = project.value("program", json());
    fail_input(writer.is_string()
                   ? tr("project_reader.project_format_written",
                        "{} is a project of format {}, written by Headscope {}; this is Headscope {}, which "
                        "reads up to format {}; open it with a newer Headscope",
                        source, format, writer.get<std::string>(), HEADSCOPE_VERSION, project_format)
                   : tr("project_reader.project_format_written_2",
                        "{} is a project of format {}, written by Headscope of another version; this is "
                        "Headscope {}, which reads up to format {}; open it with a newer Headscope",
                        source, format, HEADSCOPE_VERSION, project_format));
}

StoredProject read_stored_project(const format::Safetensors& file, const ReadOptions& rules) {
    const json project = project_json(file);
    check_format(project, file.source());
    const checkpoint::ConfigReader object(project, file.source());
    StoredProject stored;
    Reader reader(file, rules, stored.notes);
    stored.program = object.text("program", tr("project_reader.another_program", "another program"));
    stored.problem = reader.part(tr("project_reader.problem_screen", "The problem as it was on screen"), [&] {
        const auto problem = object.object("problem");
        if (!problem)
            object.refuse("problem", tr("project_reader.object_dims_tensors",
                                        "an object with dims, tensors and the others"));
        return reader.problem(*problem, tr("project_reader.problem_screen_2", "the problem on screen"));
    });
    const auto recipe = object.object("recipe");
    if (!recipe && !stored.problem)
        object.refuse("recipe", tr("project_reader.object_preset_sentence",
                                   "an object with preset, sentence and the others"));
    stored.recipe = recipe ? reader.recipe(*recipe) : recipe_for(*stored.problem);
    stored.unedited = reader.inputs(object, "unedited", false);
    return stored;
}

} // namespace headscope::project
