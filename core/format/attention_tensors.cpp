#include "core/format/attention_tensors.h"

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/base/parse.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace headscope::format {

namespace {

constexpr std::array<std::string_view, 7> names{
    "attentions", "attention", "attention_weights", "attention_probs", "attn_weights", "attn", "weights"};
/// Names of one layer's weights that say nothing else, from the least telling on.
constexpr std::array<std::string_view, 6> layer_patterns{"arr_{l}",   "{l}",       "layers.{l}",
                                                         "layer.{l}", "layer_{l}", "layer{l}"};
constexpr std::array<std::string_view, 3> part_names{"encoder", "decoder", "cross"};

/// An array under the name by which it is selected, which may lack the beginning "encoder.".
struct Candidate {
    std::string name;
    const TensorEntry* entry;
};

bool may_hold_weights(const NamedArrays& arrays, const TensorEntry& entry) {
    return arrays.holds_floats(entry) && entry.extents.size() >= 3 && entry.extents.size() <= 5;
}

/// A name, split at its first integer: "layers." 12 ".weights".
struct Numbered {
    std::string pattern; ///< "layers.{l}.weights"
    std::int64_t number = 0;
};

std::optional<Numbered> numbered(const std::string& name) {
    constexpr std::string_view digits = "0123456789";
    const auto begin = name.find_first_of(digits);
    if (begin == std::string::npos)
        return std::nullopt;
    const auto end = std::min(name.find_first_not_of(digits, begin), name.size());
    const auto number = number_of<std::int64_t>(std::string_view(name).substr(begin, end - begin));
    return number ? std::optional(Numbered{name.substr(0, begin) + "{l}" + name.substr(end), *number})
                  : std::nullopt;
}

/// Rank of a pattern as a name for attention weights; 0: unsuitable. "layers.{l}.weights_mean" gets 0,
/// because a mean is not the weights themselves.
std::size_t rank_of(std::string_view pattern) {
    const auto last = pattern.substr(pattern.find_last_of("./") + 1); // npos + 1 is 0
    for (std::size_t i = 0; i < names.size(); ++i)
        if (last == names[i] || pattern == std::string(names[i]) + ".{l}" ||
            pattern == std::string(names[i]) + "_{l}")
            return names.size() - i + layer_patterns.size();
    const auto* const row = std::ranges::find(layer_patterns, pattern);
    return row == layer_patterns.end() ? 0 : static_cast<std::size_t>(row - layer_patterns.begin()) + 1;
}

[[noreturn]] void refuse(const NamedArrays& arrays) {
    constexpr std::size_t most = 12;
    const std::vector<const TensorEntry*> entries = arrays.entries();
    std::string list =
        joined(std::span(entries).first(std::min(most, entries.size())), [](const TensorEntry* entry) {
            return entry->name + " " + entry->shape_text() + " " + entry->dtype;
        });
    if (entries.size() > most)
        list = tr("attention_tensors.more", "{}, and {} more", list, entries.size() - most);
    fail_input(
        list.empty()
            ? tr("attention_tensors.no_tensor_clearly",
                 "{} has no tensor that is clearly attention weights; name one \"attentions\", of "
                 "floats and of shape (H, T, T), (L, H, T, T), (B, H, T, T) or (L, B, H, T, T): it has no "
                 "tensors",
                 arrays.source())
            : tr("attention_tensors.no_tensor_clearly_2",
                 "{} has no tensor that is clearly attention weights; name one \"attentions\", of "
                 "floats and of shape (H, T, T), (L, H, T, T), (B, H, T, T) or (L, B, H, T, T): it has {}",
                 arrays.source(), list));
}

AttentionTensors layers_of(const NamedArrays& arrays,
                           const std::map<std::int64_t, const TensorEntry*>& layers,
                           const std::string& pattern) {
    AttentionTensors out{{}, {}, pattern, {}};
    for (const auto& [number, entry] : layers) {
        const TensorEntry& first = *layers.begin()->second;
        if (entry->extents != first.extents || entry->dtype != first.dtype)
            fail_input(
                tr("attention_tensors.tensor_shape_all",
                   "{}: tensor {} has the shape {} of {} and {} {} of {}; all layers should have the same",
                   arrays.source(), entry->name, entry->shape_text(), entry->dtype, first.name,
                   first.shape_text(), first.dtype));
        out.numbers.push_back(number);
        out.entries.push_back(entry);
    }
    return out;
}

using Groups = std::map<std::string, std::map<std::int64_t, const TensorEntry*>>;

Groups groups_of(const std::vector<Candidate>& candidates) {
    Groups groups;
    for (const Candidate& one : candidates)
        if (const auto name = numbered(one.name))
            groups[name->pattern][name->number] = one.entry;
    return groups;
}

/// Selects by the names alone.
std::optional<AttentionTensors> named_weights(const NamedArrays& arrays,
                                              const std::vector<Candidate>& candidates) {
    for (const std::string_view name : names)
        for (const Candidate& one : candidates)
            if (one.name == name)
                return AttentionTensors{{one.entry}, {}, one.entry->name, {}};
    const Groups groups = groups_of(candidates);
    const auto best =
        std::ranges::max_element(groups, {}, [](const auto& group) { return rank_of(group.first); });
    if (best == groups.end() || rank_of(best->first) == 0)
        return std::nullopt;
    return layers_of(arrays, best->second, best->first);
}

/// "attentions" for encoder_attentions and "encoder"; nothing if the name does not begin with that word.
std::optional<std::string> name_in_part(const std::string& name, std::string_view part) {
    if (!name.starts_with(part))
        return std::nullopt;
    const std::string rest = name.substr(part.size());
    if (rest.empty())
        return rest;
    return rest.find_first_of("._/") == 0 ? std::optional(rest.substr(1)) : std::nullopt;
}

/// The attentions of an encoder-decoder; fewer than two if the file has no such names.
std::vector<AttentionTensors> parts_of(const NamedArrays& arrays, const std::vector<Candidate>& candidates) {
    std::vector<AttentionTensors> parts;
    for (const std::string_view part : part_names) {
        std::vector<Candidate> of_part;
        for (const Candidate& one : candidates)
            if (auto name = name_in_part(one.name, part))
                of_part.push_back({name->empty() ? std::string(names.front()) : std::move(*name), one.entry});
        std::optional<AttentionTensors> found = named_weights(arrays, of_part);
        if (!found)
            continue;
        if (found->entries.size() > 1 || !found->numbers.empty())
            found->name = std::string(part) + "." + found->name;
        found->part = part;
        parts.push_back(std::move(*found));
    }
    return parts;
}

std::vector<AttentionTensors> alone(AttentionTensors one) {
    std::vector<AttentionTensors> all;
    all.push_back(std::move(one));
    return all;
}

} // namespace

std::vector<AttentionTensors> find_attention_tensors(const NamedArrays& arrays) {
    std::vector<Candidate> possible;
    std::vector<const TensorEntry*> entries = arrays.entries();
    if (entries.size() == 1 && entries.front()->name.empty()) // a .npy file
        return alone({std::move(entries), {}, {}, {}});
    for (const TensorEntry* entry : entries)
        if (may_hold_weights(arrays, *entry))
            possible.push_back({entry->name, entry});
    if (possible.size() == 1)
        return alone({{possible.front().entry}, {}, possible.front().name, {}});
    if (std::vector<AttentionTensors> parts = parts_of(arrays, possible); parts.size() > 1)
        return parts;
    if (auto found = named_weights(arrays, possible))
        return alone(std::move(*found));
    const Groups groups = groups_of(possible);
    if (groups.size() == 1 && groups.begin()->second.size() == possible.size())
        return alone(layers_of(arrays, groups.begin()->second, groups.begin()->first));
    refuse(arrays);
}

} // namespace headscope::format
