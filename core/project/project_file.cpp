#include "core/project/project_file.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/base/random_access_file.h"
#include "core/project/checkpoint_project.h"
#include "core/project/checksum.h"
#include "core/project/project_parts.h"
#include "core/project/same_bits.h"
#include "core/text/preset.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace headscope::project {

namespace {

using nlohmann::json;

void check_size(std::uint64_t size, const std::string& source) {
    if (size > largest_project)
        fail_input(tr(
            "project_file.bytes_project_most_2",
            "{} has {} bytes; a project has at most 2 GB, so this is another kind of file or a damaged one",
            source, size));
}

/// Checks the size before it reads any byte.
std::string read_project_bytes(const std::string& path) {
    check_size(RandomAccessFile(path).size(), path);
    return read_file(path, largest_project);
}

std::optional<Problem> built_problem(const Recipe& recipe) {
    try {
        return with_edits(build_recipe(recipe).problem, recipe);
    } catch (const Error&) {
        return std::nullopt;
    }
}

/// The stored problem without its edits, as a base for the recipe's edits, gains and temperature. An identity
/// W_O stays a choice: an edit of W_O stays pending under it.
Recipe recipe_on_stored_problem(const StoredProject& stored) {
    Problem base = *stored.problem;
    for (const auto& [id, tensor] : stored.unedited)
        *base.input_slot(id) = tensor;
    if (static_cast<std::int64_t>(stored.recipe.gains.size()) == base.dims.H)
        base.gains.clear();
    Recipe recipe = stored.recipe;
    recipe.base = std::make_shared<const Problem>(std::move(base));
    recipe.H = recipe.Hkv = 0;
    recipe.mask = MaskChoice::none;
    recipe.extra_mask.clear();
    return recipe;
}

/// The note that explains why the saved numbers replace those of the recipe: its preset, or the program, has
/// changed.
std::string change_note(const StoredProject& stored, const std::string& source) {
    if (const text::PresetInfo* preset =
            stored.recipe.base == nullptr ? text::find_preset(stored.recipe.preset) : nullptr)
        return tr(
            "project_file.preset_changed_since_saved",
            "The preset {} has changed since {} was saved. The project shows the numbers that were saved, "
            "until you type a sentence or choose a preset.",
            tr(preset->title), source);
    return tr(
        "project_file.saved_headscope_program",
        "{} was saved by Headscope {}, and this program ({}) builds other numbers from the same settings; "
        "the saved numbers are kept as a separate problem until you type a sentence or choose a preset.",
        source, stored.program, HEADSCOPE_VERSION);
}

/// Ensures that the recipe gives the saved numbers.
OpenedProject with_saved_numbers(StoredProject stored, const std::string& source) {
    OpenedProject opened{stored.recipe, std::move(stored.notes)};
    if (!stored.problem) {
        const BuiltRecipe built = build_recipe(stored.recipe);
        static_cast<void>(with_edits(built.problem, stored.recipe));
        opened.notes.push_back(tr("project_file.numbers_built_anew_may",
                                  "The numbers of {} were rebuilt and may differ from those that were saved.",
                                  source));
        return opened;
    }
    const auto gives_stored = [&](const Recipe& recipe) {
        const std::optional<Problem> built = built_problem(recipe);
        return built && same_bits(*built, *stored.problem);
    };
    if (gives_stored(opened.recipe))
        return opened;
    opened.recipe = recipe_on_stored_problem(stored);
    if (gives_stored(opened.recipe)) {
        opened.notes.push_back(change_note(stored, source));
        return opened;
    }
    opened.recipe.edits.clear();
    opened.recipe.identity_W_O = false;
    opened.recipe.gains.clear();
    opened.recipe.temperature = stored.problem->temperature;
    opened.recipe.base = std::make_shared<const Problem>(*stored.problem);
    opened.notes.push_back(tr("project_file.saved_headscope_program_2",
                              "{} was saved by Headscope {}, and this program ({}) builds other numbers from "
                              "the same settings; the saved numbers are kept as a separate problem until you "
                              "type a sentence or choose a preset, and its edits are part of that problem.",
                              source, stored.program, HEADSCOPE_VERSION));
    return opened;
}

OpenedProject settled(const format::Safetensors& file, const ReadOptions& rules, const std::string& source) {
    OpenedProject opened = with_saved_numbers(read_stored_project(file, rules), source);
    if (const auto view = file.metadata().find(std::string(view_key)); view != file.metadata().end())
        opened.view = view->second;
    return opened;
}

constexpr std::size_t length_bytes = 8;

/// Converts a file that is truncated or too long, or whose tensors have invalid descriptions, into a readable
/// form; `lost` receives the names of the tensors with missing bytes.
format::Safetensors repaired(const std::string& bytes, const std::string& source,
                             std::set<std::string>& lost) {
    std::uint64_t header_bytes = 0;
    for (std::size_t i = std::min(length_bytes, bytes.size()); i-- > 0;)
        header_bytes = header_bytes << 8U | static_cast<unsigned char>(bytes[i]);
    if (bytes.size() < length_bytes || header_bytes > bytes.size() - length_bytes)
        fail_input(tr("project_file.ends_before_structure",
                      "{} ends before its structure is complete; nothing of it can be recovered", source));
    const auto header_end = length_bytes + static_cast<std::size_t>(header_bytes);
    const json header = parse_json(std::string_view(bytes).substr(length_bytes, header_end - length_bytes),
                                   tr("common.header", "the header of {}", source));
    const std::size_t data_bytes = bytes.size() - header_end;
    std::uint64_t wanted = 0;
    for (const auto& [name, entry] : header.items()) {
        const json offsets = entry.is_object() ? entry.value("data_offsets", json()) : json();
        const std::uint64_t end = offsets.is_array() && offsets.size() == 2 && offsets[1].is_number_unsigned()
                                      ? offsets[1].get<std::uint64_t>()
                                      : 0;
        if (end > data_bytes)
            lost.insert(name);
        wanted = std::max(wanted, end);
    }
    if (wanted <= largest_project) {
        try {
            std::string whole = bytes;
            whole.resize(header_end + static_cast<std::size_t>(wanted), '\0');
            return format::Safetensors::from_bytes(std::move(whole), source);
        } catch (const Error&) {
            // The tensors cannot be separated: only the structure can be recovered.
        }
    }
    const json metadata = header.is_object() ? header.value("__metadata__", json()) : json();
    const std::string structure = json{{"__metadata__", metadata}}.dump();
    std::string alone(length_bytes, '\0');
    for (std::size_t i = 0; i < length_bytes; ++i)
        alone[i] = static_cast<char>(std::uint64_t{structure.size()} >> 8U * i & 0xFFU);
    return format::Safetensors::from_bytes(alone + structure, source);
}

format::Safetensors header_of(const std::string& path) {
    try {
        return format::Safetensors::open_lazily(path);
    } catch (const Error&) {
        std::set<std::string> missing_tensors;
        return repaired(read_project_bytes(path), path, missing_tensors);
    }
}

/// The JSON of a checkpoint project, an object with a format.
json checkpoint_json(const format::Safetensors& file) {
    json structure = parse_json_with_bytes(file.metadata().at(std::string(checkpoint_key)), file.source());
    if (!structure.is_object() || !structure.value("format", json()).is_number_unsigned())
        fail_input(tr("project_file.no_format", "{}: its {} has no format", file.source(), checkpoint_key));
    return structure;
}

} // namespace

void save_project(const Recipe& recipe, const Problem& problem, const std::string& path,
                  const std::map<std::string, std::string>& also) {
    write_file_atomically(path, project_bytes(recipe, problem, also));
}

OpenedProject open_project(const std::string& path) {
    return parse_project(read_project_bytes(path), path);
}

OpenedProject parse_project(std::string bytes, const std::string& source) {
    check_size(bytes.size(), source);
    const std::optional<bool> holds = checksum_matches(bytes);
    const format::Safetensors file = format::Safetensors::from_bytes(std::move(bytes), source);
    const json project = project_json(file);
    check_format(project, source);
    if (is_damaged(holds, file, project))
        fail_input(tr("project_file.damaged_bytes_not_saved",
                      "{} is damaged: its bytes are not those that were saved; open a copy of it, or open it "
                      "in the window, which recovers what it can",
                      source));
    return settled(file, {}, source);
}

OpenedProject recover_project(const std::string& path) {
    return recover_project_bytes(read_project_bytes(path), path);
}

OpenedProject recover_project_bytes(std::string bytes, const std::string& source) {
    check_size(bytes.size(), source);
    ReadOptions rules{.omit_unreadable = true, .missing_tensors = {}};
    const format::Safetensors file = repaired(bytes, source, rules.missing_tensors);
    OpenedProject opened = settled(file, rules, source);
    if (is_damaged(checksum_matches(bytes), file, project_json(file)))
        opened.notes.insert(opened.notes.begin(),
                            tr("project_file.damaged_numbers_may_others",
                               "{} is damaged, and its numbers may differ from those that were saved.",
                               source));
    return opened;
}

ProjectSummary project_summary(const std::string& path) {
    const format::Safetensors file = header_of(path);
    const json project = is_checkpoint_project(file) ? checkpoint_json(file) : project_json(file);
    const auto text = [&](const char* key) {
        const json value = project.value(key, json());
        return value.is_string() ? value.get<std::string>() : std::string();
    };
    const auto format = std::min<std::uint64_t>(project["format"].get<std::uint64_t>(),
                                                std::numeric_limits<std::int64_t>::max());
    return {static_cast<std::int64_t>(format), text("program"), text("title"), file.metadata()};
}

} // namespace headscope::project
