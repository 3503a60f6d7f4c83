#include "core/checkpoint/model/model_inputs.h"

#include "core/base/error.h"
#include "core/format/safetensors.h"

#include <algorithm>

namespace headscope::checkpoint {

namespace {

/// A list that is empty or has one number per token.
template<class Number>
void check_count(const std::vector<Number>& list, const char* name, const ModelInputs& inputs) {
    if (!list.empty() && static_cast<std::int64_t>(list.size()) != inputs.B * inputs.T)
        fail_input(std::string(name) + " has " + std::to_string(list.size()) +
                   " entries; it should have B·T = " + std::to_string(inputs.B * inputs.T));
}

void check_range(const std::vector<std::int64_t>& list, const char* name, std::int64_t end, std::int64_t T) {
    const auto bad = std::ranges::find_if(list, [end](std::int64_t id) { return id < 0 || id >= end; });
    if (bad == list.end())
        return;
    const std::int64_t at = bad - list.begin();
    fail_input(std::string(name) + "[" + std::to_string(at / T) + ", " + std::to_string(at % T) + "] is " +
               std::to_string(*bad) + "; it should be from 0 to " + std::to_string(end - 1));
}

std::vector<std::int64_t> read_like_ids(const format::Safetensors& file, const char* name,
                                        const std::vector<std::int64_t>& extents) {
    const format::SafetensorsEntry* entry = file.find(name);
    if (entry == nullptr)
        return {};
    if (entry->extents != extents)
        fail_input(file.source() + ": " + name + " has shape " + entry->shape_text() +
                   "; it should have that of input_ids, " + file.find("input_ids")->shape_text());
    return file.integers(name);
}

} // namespace

ModelInputs read_model_inputs(const format::Safetensors& file) {
    ModelInputs inputs;
    inputs.ids = file.integers("input_ids");
    const format::SafetensorsEntry& entry = *file.find("input_ids");
    if (entry.extents.empty() || entry.extents.size() > 2)
        fail_input(file.source() + ": input_ids has shape " + entry.shape_text() +
                   "; it should have (T) or (B, T)");
    inputs.B = entry.extents.size() == 2 ? entry.extents.front() : 1;
    inputs.T = entry.extents.back();
    for (const std::int64_t bit : read_like_ids(file, "attention_mask", entry.extents)) {
        if (bit != 0 && bit != 1)
            fail_input(file.source() + ": attention_mask has the number " + std::to_string(bit) +
                       "; each should be 0 or 1");
        inputs.attention_mask.push_back(static_cast<std::uint8_t>(bit));
    }
    inputs.token_types = read_like_ids(file, "token_type_ids", entry.extents);
    return inputs;
}

void check_inputs(const ModelInputs& inputs, const Architecture& architecture) {
    if (inputs.B < 1 || inputs.T < 1 || inputs.ids.empty())
        fail_input("there are no token ids; give at least one");
    check_count(inputs.ids, "input_ids", inputs);
    check_count(inputs.attention_mask, "attention_mask", inputs);
    check_count(inputs.token_types, "token_type_ids", inputs);
    check_count(inputs.tokens, "the list of tokens", inputs);
    check_range(inputs.ids, "input_ids", architecture.vocab, inputs.T);
    const std::int64_t types = architecture.word_token_types ? architecture.vocab : architecture.token_types;
    if (types > 0)
        check_range(inputs.token_types, "token_type_ids", types, inputs.T);
    else if (!inputs.token_types.empty())
        fail_input("token_type_ids are given, and " + architecture.family +
                   " has no token types; leave them out");
}

std::vector<std::int64_t> learned_positions(const ModelInputs& inputs, const Architecture& architecture) {
    const auto counts = [&](std::size_t at) {
        switch (architecture.position_count) {
        case PositionCount::every_token:
            return true;
        case PositionCount::other_than_pad_id:
            return inputs.ids[at] != architecture.pad_id;
        case PositionCount::real_tokens:
            return inputs.attention_mask.empty() || inputs.attention_mask[at] != 0;
        }
        return true;
    };
    std::vector<std::int64_t> positions(inputs.ids.size());
    std::int64_t counted = 0;
    for (std::size_t at = 0; at < positions.size(); ++at) {
        if (at % static_cast<std::size_t>(inputs.T) == 0)
            counted = 0;
        positions[at] = architecture.position_offset + (counts(at) ? counted++ : -1);
    }
    if (std::ranges::max(positions) >= architecture.position_rows)
        fail_input("there are " + std::to_string(inputs.T) +
                   " tokens, and the model has learned positions for " +
                   std::to_string(architecture.longest_text()) + "; give fewer");
    return positions;
}

} // namespace headscope::checkpoint
