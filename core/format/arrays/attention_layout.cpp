#include "core/format/arrays/attention_layout.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/message.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

namespace headscope::format {

namespace {

/// Infers L, texts, H, Tq and Tk from a shape. `layers`: the number of arrays of that shape.
void infer_shape(AttentionLayout& info, std::vector<std::int64_t> extents, std::int64_t layers,
                 const std::string& what) {
    const std::string shape = extents_text(extents);
    if (std::ranges::find(extents, 0) != extents.end())
        fail_input(tr("attention_file.shape_empty_save_again",
                      "{} of shape {} is empty; save it again with weights in it", what, shape));
    // (L, B, H, Tq, Tk), or (B, H, Tq, Tk) for each of many layers.
    const bool many = layers > 1;
    const std::size_t with_texts = many ? 4 : 5;
    if (extents.size() == with_texts) {
        const auto axis = extents.end() - 4;
        info.texts = *axis;
        extents.erase(axis);
    }
    if (many && extents.size() > 3)
        fail_input(tr("attention_file.shape_holds_several",
                      "{} of shape {} holds several sequences for each layer; save the layers of one of them",
                      what, shape));
    if (extents.size() != 3 && extents.size() != 4)
        fail_input(tr_n("attention_file.shape_axis_attention",
                        "{} of shape {} has {} axis; attention weights have the shape (H, T, T), (L, H, T, "
                        "T), (B, H, T, T) or (L, B, H, T, T)",
                        "{} of shape {} has {} axes; attention weights have the shape (H, T, T), (L, H, T, "
                        "T), (B, H, T, T) or (L, B, H, T, T)",
                        std::ssize(extents), what, shape, extents.size()));
    info.L = many ? layers : extents.size() == 4 ? extents[0] : 1;
    info.H = extents[extents.size() - 3];
    info.Tq = extents[extents.size() - 2];
    info.Tk = extents[extents.size() - 1];
    constexpr std::int64_t most_maps = 1 << 16, most_tokens = 1 << 20, most_texts = 1 << 16;
    if (info.L > most_maps || info.H > most_maps / std::max<std::int64_t>(info.L, 1))
        fail_input(tr("attention_file.shape_more_heads_all",
                      "{} of shape {} has more than {} heads in all; save fewer layers or sequences", what,
                      shape, most_maps));
    if (info.texts > most_texts)
        fail_input(tr("attention_file.shape_more_texts",
                      "{} of shape {} has more than {} texts; save fewer of them", what, shape, most_texts));
    if (info.Tq > most_tokens || info.Tk > most_tokens)
        fail_input(tr("attention_file.shape_more_tokens_save",
                      "{} of shape {} has more than {} tokens; save a part of the rows and columns", what,
                      shape, most_tokens));
}

/// "layers.3.sink" for "layers.3.weights".
std::string sibling(const std::string& name, const std::string& last) {
    return name.substr(0, name.find_last_of("./") + 1) + last; // npos + 1 is 0
}

/// The path of NAME.tokens.json next to NAME.npy, if that file exists.
std::optional<std::string> sidecar_of(const std::string& path) {
    std::string beside = std::filesystem::path(path).replace_extension(".tokens.json").string();
    std::error_code none;
    return std::filesystem::is_regular_file(beside, none) ? std::optional(std::move(beside)) : std::nullopt;
}

/// A note of the file, or a member of the object in NAME.tokens.json.
struct TokenNote {
    std::string json, from;
};

std::optional<TokenNote> token_note(const NamedArrays& file, std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys)
        if (auto text = file.note(key))
            return TokenNote{std::move(*text), file.note_name(key)};
    const auto beside = sidecar_of(file.source());
    if (!beside)
        return std::nullopt;
    const nlohmann::json object = parse_json_with_bytes(read_file(*beside, 64 * mebibyte), *beside);
    for (const std::string_view key : keys)
        if (object.is_object() && object.contains(key))
            return TokenNote{dump_json(object.at(std::string(key))), *beside};
    return std::nullopt;
}

AttentionTokens parse_note(const std::optional<TokenNote>& note) {
    return note ? parse_attention_tokens(note->json, note->from) : AttentionTokens{};
}

void set_keys(AttentionTokens& tokens, AttentionTokens keys) {
    tokens.keys = std::move(keys.queries);
    tokens.key_pieces = std::move(keys.query_pieces);
}

/// The tokens of the encoder, the decoder, or the decoder reading the encoder. In the last case, `Tq` queries
/// without tokens of their own are numbered.
AttentionTokens tokens_of_part(const NamedArrays& file, const std::string& part, std::int64_t Tq) {
    const auto of_encoder = [&] { return token_note(file, {"encoder_tokens", "tokens"}); };
    const auto of_decoder = [&] { return token_note(file, {"decoder_tokens"}); };
    if (part == "encoder")
        return parse_note(of_encoder());
    AttentionTokens tokens = parse_note(of_decoder());
    if (part != "cross")
        return tokens;
    AttentionTokens keys = parse_note(of_encoder());
    if (tokens.queries.empty() && !keys.queries.empty()) {
        std::vector<std::string> numbers;
        for (std::int64_t i = 0; i < Tq; ++i)
            numbers.push_back(std::to_string(i));
        tokens.queries.push_back(numbers);
        tokens.query_pieces.push_back(std::move(numbers));
        tokens.source = keys.source;
    }
    set_keys(tokens, std::move(keys));
    return tokens;
}

} // namespace

std::pair<std::size_t, std::uint64_t> AttentionLayout::place(std::int64_t l, std::int64_t text,
                                                             bool rows) const {
    const std::int64_t block = H * Tq * (rows ? 1 : Tk);
    return arrays.entries.size() > 1
               ? std::pair(static_cast<std::size_t>(l), static_cast<std::uint64_t>(text * block))
               : std::pair(std::size_t{0}, static_cast<std::uint64_t>((l * texts + text) * block));
}

AttentionLayout attention_layout(const NamedArrays& file, AttentionTensors arrays) {
    AttentionLayout layout;
    const TensorEntry& first = *arrays.entries.front();
    infer_shape(layout, first.extents, static_cast<std::int64_t>(arrays.entries.size()),
                first.name.empty() ? file.source()
                                   : tr("common.tensor", "{}: tensor {}", file.source(), first.name));
    // In a trace of one layer, the first axis is the batch.
    layout.is_batch = layout.L > 1 && first.extents.size() == 4 && arrays.entries.size() == 1 &&
                      (arrays.numbers.size() == 1 || (arrays.name == "weights" && file.note("config")));
    if (layout.is_batch || std::ssize(arrays.numbers) != layout.L)
        arrays.numbers.clear();
    if (const std::vector<std::int64_t> numbers = file.layer_numbers(); std::ssize(numbers) == layout.L)
        arrays.numbers = numbers;
    layout.arrays = std::move(arrays);
    return layout;
}

AttentionTokens read_tokens(const NamedArrays& file, const AttentionLayout& layout) {
    if (!layout.arrays.part.empty())
        return tokens_of_part(file, layout.arrays.part, layout.Tq);
    const auto note = file.note("tokens");
    if (!note) {
        const auto beside = sidecar_of(file.source());
        return beside ? parse_attention_tokens(read_file(*beside, 64 * mebibyte), *beside)
                      : AttentionTokens{};
    }
    AttentionTokens tokens = parse_attention_tokens(*note, file.note_name("tokens"));
    if (const auto keys = file.note("kv_tokens"))
        set_keys(tokens, parse_attention_tokens(*keys, file.note_name("kv_tokens")));
    return tokens;
}

AttentionTokens tokens_of_text(AttentionTokens tokens, std::int64_t texts, std::int64_t text) {
    if (texts == 1)
        return tokens;
    const auto keep = [&](auto& lists) {
        if (lists.size() <= 1)
            return;
        if (std::ssize(lists) != texts)
            fail_input(
                tr("attention_file.lists_tokens_sequences",
                   "{} has {} lists of tokens for {} sequences of weights; write one list, or one for each",
                   tokens.source, lists.size(), texts));
        auto one = std::move(lists[static_cast<std::size_t>(text)]);
        lists.clear();
        lists.push_back(std::move(one));
    };
    keep(tokens.queries);
    keep(tokens.keys);
    keep(tokens.query_pieces);
    keep(tokens.key_pieces);
    keep(tokens.padding);
    tokens.is_per_sequence = false;
    return tokens;
}

void check_tokens(const AttentionTokens& tokens, const AttentionInfo& info) {
    const auto check = [&](const std::vector<std::vector<std::string>>& lists, std::int64_t count,
                           bool queries) {
        if (lists.size() > 1 && lists.size() != static_cast<std::size_t>(info.L))
            fail_input(
                tr("attention_file.lists_tokens_sequences",
                   "{} has {} lists of tokens for {} sequences of weights; write one list, or one for each",
                   tokens.source, lists.size(), info.L));
        for (const auto& list : lists)
            if (static_cast<std::int64_t>(list.size()) != count)
                fail_input(queries ? tr("attention_file.tokens_queries_rows",
                                        "{} has {} tokens for {} queries (rows) of the weights; write one "
                                        "for each, or remove it",
                                        tokens.source, list.size(), count)
                                   : tr("attention_file.tokens_keys_columns",
                                        "{} has {} tokens for {} keys (columns) of the weights; write one "
                                        "for each, or remove it",
                                        tokens.source, list.size(), count));
    };
    check(tokens.queries, info.Tq, true);
    check(tokens.keys, info.Tk, false);
    for (const std::vector<bool>& mask : tokens.padding)
        if (std::ssize(mask) != info.Tq ||
            (tokens.padding.size() > 1 && std::ssize(tokens.padding) != info.L))
            fail_input(tr("attention_file.attention_mask_numbers",
                          "{} has an \"attention_mask\" of {} numbers for {} queries of the weights; write "
                          "one for each, or remove it",
                          tokens.source, mask.size(), info.Tq));
}

std::vector<std::vector<bool>> read_padding(const NamedArrays& file, const AttentionLayout& layout,
                                            const AttentionInfo& info, std::int64_t text) {
    const std::string& part = layout.arrays.part;
    const bool of_decoder = part == "decoder" || part == "cross";
    const TensorEntry* const entry = file.find(of_decoder ? "decoder_attention_mask" : "attention_mask");
    // Between two texts, the mask is about the keys.
    if (entry == nullptr || (part.empty() && (info.cross || info.Tq != info.Tk)))
        return {};
    std::int64_t count = 1;
    for (const std::int64_t extent : entry->extents)
        if (__builtin_mul_overflow(count, extent, &count))
            return {};
    const std::int64_t lists = info.axis == SetAxis::sequences ? info.L : layout.texts;
    if (entry->extents.empty() || entry->extents.back() != info.Tq ||
        (count != info.Tq && count != lists * info.Tq))
        return {};
    std::vector<bool> padding;
    if (file.holds_floats(*entry)) {
        file.require_floats(*entry);
        std::vector<float> mask(static_cast<std::size_t>(count));
        file.read_numbers(*entry, 0, mask);
        const bool added = std::ranges::any_of(mask, [](float number) { return number < 0; });
        for (const float number : mask)
            padding.push_back(added ? number < 0 : number == 0);
    } else {
        for (const std::int64_t number : file.integers(*entry))
            padding.push_back(number == 0);
    }
    std::vector<std::vector<bool>> masks;
    for (auto at = padding.begin(); at != padding.end(); at += info.Tq)
        masks.emplace_back(at, at + info.Tq);
    if (layout.texts > 1 && std::ssize(masks) == layout.texts)
        masks = {masks[static_cast<std::size_t>(text)]};
    return masks;
}

std::vector<const TensorEntry*> find_sinks(const NamedArrays& file, const AttentionTensors& weights) {
    std::vector<const TensorEntry*> sinks;
    for (const TensorEntry* entry : weights.entries) {
        const TensorEntry* const sink = file.find(sibling(entry->name, "sink"));
        if (sink == nullptr || !file.holds_floats(*sink))
            return {};
        std::vector<std::int64_t> rows = entry->extents;
        rows.pop_back();
        if (sink->extents != rows)
            return {};
        file.require_floats(*sink);
        sinks.push_back(sink);
    }
    return sinks;
}

} // namespace headscope::format
