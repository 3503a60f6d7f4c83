#include "core/checkpoint/model/model_inputs.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/architecture/architecture.h"
#include "core/checkpoint/model/model.h"
#include "core/format/safetensors.h"

#include <algorithm>

namespace headscope::checkpoint {

namespace {

/// A list that is empty or has one number per token.
template<class Number>
void check_count(const std::vector<Number>& list, const std::string& name, const ModelInputs& inputs) {
    if (!list.empty() && static_cast<std::int64_t>(list.size()) != inputs.B * inputs.T)
        fail_input(tr("model_inputs.entries_should_b_t", "{} has {} entries; it should have B·T = {}", name,
                      list.size(), inputs.B * inputs.T));
}

void check_range(const std::vector<std::int64_t>& list, const std::string& name, std::int64_t end,
                 std::int64_t T) {
    const auto bad = std::ranges::find_if(list, [end](std::int64_t id) { return id < 0 || id >= end; });
    if (bad == list.end())
        return;
    const std::int64_t at = bad - list.begin();
    fail_input(tr("model_inputs.should_0", "{}[{}, {}] is {}; it should be from 0 to {}", name, at / T,
                  at % T, *bad, end - 1));
}

std::vector<std::int64_t> read_like_ids(const format::Safetensors& file, const std::string& name,
                                        const std::string& ids) {
    const format::SafetensorsEntry *entry = file.find(name), *wanted = file.find(ids);
    if (entry == nullptr)
        return {};
    if (entry->extents != wanted->extents)
        fail_input(tr("model_inputs.shape_should", "{}: {} has shape {}; it should have the shape of {}, {}",
                      file.source(), name, entry->shape_text(), ids, wanted->shape_text()));
    return file.integers(name);
}

/// The tensors whose names begin with `side`.
ModelInputs read_side(const format::Safetensors& file, const std::string& side) {
    ModelInputs inputs;
    const std::string ids = side + "input_ids", mask = side + "attention_mask";
    inputs.ids = file.integers(ids);
    const format::SafetensorsEntry& entry = *file.find(ids);
    if (entry.extents.empty() || entry.extents.size() > 2)
        fail_input(tr("model_inputs.shape_should_t_b", "{}: {} has shape {}; it should have (T) or (B, T)",
                      file.source(), ids, entry.shape_text()));
    inputs.B = entry.extents.size() == 2 ? entry.extents.front() : 1;
    inputs.T = entry.extents.back();
    for (const std::int64_t bit : read_like_ids(file, mask, ids)) {
        if (bit != 0 && bit != 1)
            fail_input(tr("model_inputs.number_each_should_0",
                          "{}: {} has the number {}; each should be 0 or 1", file.source(), mask, bit));
        inputs.attention_mask.push_back(static_cast<std::uint8_t>(bit));
    }
    inputs.token_types = read_like_ids(file, side + "token_type_ids", ids);
    return inputs;
}

/// Releases of the library that defines these models disagree about where chunks begin behind padding.
void check_chunks(const ModelInputs& inputs, const Architecture& architecture, const std::string& side) {
    for (const auto& chunk : architecture.chunks)
        for (std::int64_t b = 0; chunk && *chunk < inputs.T && b < inputs.B; ++b)
            if (!inputs.attention_mask.empty() &&
                inputs.attention_mask[static_cast<std::size_t>(b * inputs.T)] == 0)
                fail_input(
                    tr("model_inputs.padding_before_chunks",
                       "{}[{}, 0] is 0; padding before a text that is longer than a chunk of {} tokens "
                       "is not computed here; put the padding at the end",
                       side + "attention_mask", b, *chunk));
}

void check_side(const ModelInputs& inputs, const Architecture& architecture, const std::string& side) {
    if (inputs.B < 1 || inputs.T < 1 || inputs.ids.empty())
        fail_input(side.empty()
                       ? tr("model_inputs.no_token_ids_give", "there are no token ids; give at least one")
                       : tr("model_inputs.no_token_ids_decoder",
                            "there are no token ids for the decoder; give at least the start token"));
    check_count(inputs.ids, side + "input_ids", inputs);
    check_count(inputs.attention_mask, side + "attention_mask", inputs);
    check_count(inputs.token_types, side + "token_type_ids", inputs);
    check_count(inputs.tokens, tr("model_inputs.list_tokens", "the list of tokens"), inputs);
    const bool is_smaller = architecture.copies && architecture.copies->refuses_later_ids;
    const std::int64_t ids =
        is_smaller ? std::min(architecture.vocab, architecture.copies->layer_rows) : architecture.vocab;
    check_range(inputs.ids, side + "input_ids", ids, inputs.T);
    check_chunks(inputs, architecture, side);
    const std::int64_t types = architecture.word_token_types ? architecture.vocab : architecture.token_types;
    if (types > 0)
        check_range(inputs.token_types, side + "token_type_ids", types, inputs.T);
    else if (!inputs.token_types.empty())
        fail_input(tr("model_inputs.given_no_token_types",
                      "{} are given, and {} has no token types; leave them out", side + "token_type_ids",
                      architecture.family));
}

} // namespace

ModelInputs read_model_inputs(const format::Safetensors& file) {
    ModelInputs inputs = read_side(file, "");
    if (!file.has("decoder_input_ids"))
        return inputs;
    ModelInputs target = read_side(file, "decoder_");
    target.source.push_back(std::move(inputs));
    return target;
}

void check_inputs(const ModelInputs& inputs, const Architecture& architecture) {
    if (architecture.encoder == nullptr) {
        if (!inputs.source.empty())
            fail_input(tr(
                "model_inputs.tokens_decoder_reads",
                "there are tokens for a decoder, and a {} model has only one stack of layers; leave them out",
                architecture.family));
        return check_side(inputs, architecture, "");
    }
    if (inputs.source.empty())
        fail_input(tr("model_inputs.tokens_one_two_stacks",
                      "there are tokens for only one of the two stacks of a {} model; give tokens for its "
                      "encoder and its decoder",
                      architecture.family));
    check_side(inputs.source.front(), *architecture.encoder_architecture, "");
    check_side(inputs, architecture, "decoder_");
    if (inputs.source.front().B != inputs.B)
        fail_input(tr("model_inputs.encoder_texts_decoder_give",
                      "the encoder has {} texts and the decoder {}; give equal numbers",
                      inputs.source.front().B, inputs.B));
}

std::vector<std::int64_t> decoder_ids(const ModelConfig& config, std::vector<std::int64_t> text) {
    if (!text.empty() && std::ranges::find(config.end_tokens, text.back()) != config.end_tokens.end())
        text.pop_back();
    text.insert(text.begin(), config.start_id);
    return text;
}

std::vector<std::int64_t> learned_positions(const ModelInputs& inputs, const Model& stack) {
    return learned_positions(inputs, stack.architecture());
}

std::vector<std::int64_t> layer_embedding_rows(const ModelInputs& inputs, const Model& model) {
    return layer_embedding_rows(inputs, model.architecture());
}

void check_inputs(const ModelInputs& inputs, const Model& model) {
    check_inputs(inputs, model.architecture());
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
        fail_input(tr("model_inputs.tokens_model_positions_give",
                      "there are {} tokens, and the model has positions for {}; give fewer", inputs.T,
                      architecture.longest_text));
    return positions;
}

std::vector<std::int64_t> layer_embedding_rows(const ModelInputs& inputs, const Architecture& architecture) {
    std::vector<std::int64_t> rows = inputs.ids;
    for (std::int64_t& row : rows)
        row = row < architecture.copies->layer_rows ? row : 0;
    return rows;
}

} // namespace headscope::checkpoint
