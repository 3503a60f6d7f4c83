#include "core/format/attention_tensors.h"

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/base/parse.h"
#include "core/format/number_types.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

namespace headscope::format {

namespace {

constexpr std::array<std::string_view, 7> names{
    "attentions", "attention", "attention_weights", "attention_probs", "attn_weights", "attn", "weights"};

bool may_hold_weights(const SafetensorsEntry& entry) {
    const NumberType* const type = find_safetensors_type(entry.dtype);
    return type != nullptr && type->read_floats != nullptr && entry.extents.size() >= 3 &&
           entry.extents.size() <= 5;
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
int rank_of(std::string_view pattern) {
    const auto last = pattern.substr(pattern.find_last_of("./") + 1); // npos + 1 is 0
    for (std::size_t i = 0; i < names.size(); ++i)
        if (last == names[i] || pattern == std::string(names[i]) + ".{l}" ||
            pattern == std::string(names[i]) + "_{l}")
            return static_cast<int>(names.size() - i);
    return 0;
}

[[noreturn]] void refuse(const Safetensors& file) {
    constexpr std::size_t most = 12;
    std::string list = joined(std::span(file.entries()).first(std::min(most, file.entries().size())),
                              [](const SafetensorsEntry& entry) {
                                  return entry.name + " " + entry.shape_text() + " " + entry.dtype;
                              });
    if (file.entries().size() > most)
        list = tr("attention_tensors.more", "{}, and {} more", list, file.entries().size() - most);
    fail_input(list.empty()
                   ? tr("attention_tensors.no_tensor_clearly",
                        "{} has no tensor that is clearly attention weights; name one \"attentions\", of "
                        "floats and of shape (H, T, T), (L, H, T, T) or (B, H, T, T): it has no tensors",
                        file.source())
                   : tr("attention_tensors.no_tensor_clearly_2",
                        "{} has no tensor that is clearly attention weights; name one \"attentions\", of "
                        "floats and of shape (H, T, T), (L, H, T, T) or (B, H, T, T): it has {}",
                        file.source(), list));
}

AttentionTensors layers_of(const Safetensors& file,
                           const std::map<std::int64_t, const SafetensorsEntry*>& layers,
                           const std::string& pattern) {
    AttentionTensors out{{}, {}, pattern};
    for (const auto& [number, entry] : layers) {
        const SafetensorsEntry& first = *layers.begin()->second;
        if (entry->extents != first.extents || entry->dtype != first.dtype)
            fail_input(
                tr("attention_tensors.tensor_shape_all",
                   "{}: tensor {} has the shape {} of {} and {} {} of {}; all layers should have the same",
                   file.source(), entry->name, entry->shape_text(), entry->dtype, first.name,
                   first.shape_text(), first.dtype));
        out.numbers.push_back(number);
        out.entries.push_back(entry);
    }
    return out;
}

} // namespace

AttentionTensors find_attention_tensors(const Safetensors& file) {
    std::vector<const SafetensorsEntry*> possible;
    for (const SafetensorsEntry& entry : file.entries())
        if (may_hold_weights(entry))
            possible.push_back(&entry);
    if (possible.size() == 1)
        return {possible, {}, possible.front()->name};
    for (const std::string_view name : names)
        for (const SafetensorsEntry* entry : possible)
            if (entry->name == name)
                return {{entry}, {}, entry->name};

    std::map<std::string, std::map<std::int64_t, const SafetensorsEntry*>> groups;
    for (const SafetensorsEntry* entry : possible)
        if (const auto name = numbered(entry->name))
            groups[name->pattern][name->number] = entry;
    const auto best =
        std::ranges::max_element(groups, {}, [](const auto& group) { return rank_of(group.first); });
    if (best != groups.end() && rank_of(best->first) > 0)
        return layers_of(file, best->second, best->first);
    const bool only = groups.size() == 1 && groups.begin()->second.size() == possible.size();
    if (only)
        return layers_of(file, groups.begin()->second, groups.begin()->first);
    refuse(file);
}

} // namespace headscope::format
