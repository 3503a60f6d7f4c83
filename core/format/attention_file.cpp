#include "core/format/attention_file.h"

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/memory.h"
#include "core/base/message.h"
#include "core/format/arrays/attention_layout.h"

#include <algorithm>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <numeric>
#include <span>
#include <utility>

namespace headscope::format {

namespace {

/// The numbers of one text of one attention. Any thread may read.
struct ChosenNumbers {
    NamedArraysPtr file;
    AttentionLayout layout;
    std::vector<const TensorEntry*> sinks; ///< one per array of weights, or none
    std::int64_t text = 0;

    /// Reads `to.size()` numbers of layer `l`, starting at number `first`.
    void read(std::int64_t l, std::uint64_t first, std::span<float> to) const {
        const auto [array, at] = layout.place(l, text);
        file->read_numbers(*layout.arrays.entries[array], at + first, to);
    }
    /// Reads the weights of the attention sink, one per row, in the same way; only if there are sinks.
    void read_sinks(std::int64_t l, std::uint64_t first, std::span<float> to) const {
        const auto [array, at] = layout.place(l, text, true);
        file->read_numbers(*sinks[array], at + first, to);
    }
};

class AttentionFile final : public AttentionSet {
public:
    AttentionFile(AttentionInfo info, AttentionTokens tokens, ChosenNumbers numbers, std::size_t kept_bytes)
        : info_(std::move(info)), tokens_(std::move(tokens)), numbers_(std::move(numbers)) {
        const auto layer_bytes = static_cast<std::size_t>(info_.H * info_.Tq * info_.Tk) * sizeof(float);
        most_kept_ = std::max<std::size_t>(1, kept_bytes / std::max<std::size_t>(layer_bytes, 1));
    }

    const AttentionInfo& info() const override { return info_; }
    std::vector<bool> padding(std::int64_t l) const override {
        if (tokens_.padding.empty())
            return {};
        return tokens_.padding.size() == 1 ? tokens_.padding.front()
                                           : tokens_.padding[static_cast<std::size_t>(l)];
    }
    std::vector<float> sink_shares(std::int64_t l, std::int64_t h) const override {
        if (!info_.sinks)
            return {};
        std::vector<float> shares(static_cast<std::size_t>(info_.Tq));
        numbers_.read_sinks(l, static_cast<std::uint64_t>(h * info_.Tq), shares);
        return shares;
    }
    const std::vector<std::string>& query_tokens(std::int64_t l) const override {
        return of_layer(tokens_.queries, l);
    }
    const std::vector<std::string>& key_tokens(std::int64_t l) const override {
        return tokens_.keys.empty() && info_.Tq == info_.Tk ? query_tokens(l) : of_layer(tokens_.keys, l);
    }
    const std::vector<std::string>& query_pieces(std::int64_t l) const override {
        return of_layer(tokens_.query_pieces, l);
    }
    const std::vector<std::string>& key_pieces(std::int64_t l) const override {
        return tokens_.keys.empty() && info_.Tq == info_.Tk ? query_pieces(l)
                                                            : of_layer(tokens_.key_pieces, l);
    }

    TensorPtr layer(std::int64_t l) const override {
        const std::scoped_lock lock(mutex_);
        const auto found = std::ranges::find(cached_layers_, l, &std::pair<std::int64_t, TensorPtr>::first);
        if (found != cached_layers_.end()) {
            cached_layers_.splice(cached_layers_.begin(), cached_layers_, found);
            return cached_layers_.front().second;
        }
        // Evicts old layers before it reads: two extra layers at a time may take a gigabyte.
        while (cached_layers_.size() >= most_kept_)
            cached_layers_.pop_back();
        require_memory(static_cast<std::uint64_t>(info_.H * info_.Tq * info_.Tk) * sizeof(float),
                       tr("attention_file.layer", "a layer of {}", info_.title),
                       tr("attention_file.save_fewer_heads_part",
                          "save fewer heads, or a part of the rows and columns"));
        auto weights = std::make_shared<Tensor>(Shape{1, info_.H, info_.Tq, info_.Tk});
        numbers_.read(l, 0, weights->values());
        cached_layers_.emplace_front(l, std::move(weights));
        return cached_layers_.front().second;
    }

    void read_part(std::int64_t l, std::int64_t h, const MapPart& part, std::span<float> to) const override {
        const auto place = [&](std::int64_t row) {
            return static_cast<std::uint64_t>((h * info_.Tq + row) * info_.Tk + part.col);
        };
        if (part.cols == info_.Tk)
            return numbers_.read(l, place(part.row), to);
        const auto width = static_cast<std::size_t>(part.cols);
        for (std::int64_t i = 0; i < part.rows; ++i)
            numbers_.read(l, place(part.row + i), to.subspan(static_cast<std::size_t>(i) * width, width));
    }

private:
    static const std::vector<std::string>& of_layer(const std::vector<std::vector<std::string>>& lists,
                                                    std::int64_t l) {
        static const std::vector<std::string> none;
        if (lists.empty())
            return none;
        return lists.size() == 1 ? lists.front() : lists[static_cast<std::size_t>(l)];
    }

    AttentionInfo info_;
    AttentionTokens tokens_;
    ChosenNumbers numbers_;
    std::size_t most_kept_ = 1;
    mutable std::mutex mutex_;
    mutable std::list<std::pair<std::int64_t, TensorPtr>> cached_layers_; ///< most recently used first
};

/// An opened file before anything is chosen from it.
struct OpenedFile {
    NamedArraysPtr file;
    std::vector<AttentionLayout> layouts; ///< one per part
    std::size_t kept_bytes;
};

std::string part_title(const std::string& part) {
    return part == "encoder"   ? tr("attention_file.part_encoder", "the encoder's attention")
           : part == "decoder" ? tr("attention_file.part_decoder", "the decoder's self-attention")
                               : tr("attention_file.part_cross", "cross-attention");
}

/// "encoder, decoder or cross"
std::string part_ids(const std::vector<AttentionPart>& parts) {
    std::vector<std::string> ids;
    for (const AttentionPart& part : parts)
        ids.push_back(part.id);
    return ids.size() == 1
               ? ids.front()
               : tr("common.or", "{} or {}", joined(std::span(ids).first(ids.size() - 1)), ids.back());
}

/// Returns the index of the chosen part.
std::size_t chosen_part(const OpenedFile& opened, const AttentionOptions& options, const std::string& id) {
    const std::string& path = opened.file->source();
    if (id.empty() && options.parts.size() > 1)
        fail_input(tr("attention_file.choose_part", "{} holds {}; choose one with --stack {}", path,
                      joined(options.parts, [](const AttentionPart& one) { return part_title(one.id); }),
                      part_ids(options.parts)));
    const AttentionPart* const part = options.find(id);
    if (part == nullptr && options.parts.front().id.empty())
        fail_input(tr("attention_file.one_part",
                      "{} holds one attention, whose arrays are not called encoder, decoder or cross; leave "
                      "--stack out",
                      path));
    if (part == nullptr)
        fail_input(tr("attention_file.no_such_part", "{} does not hold {}; choose {}", path, part_title(id),
                      part_ids(options.parts)));
    return static_cast<std::size_t>(part - options.parts.data());
}

std::int64_t chosen_text(const OpenedFile& opened, const AttentionPart& part,
                         const std::optional<std::int64_t>& text) {
    const std::string& path = opened.file->source();
    if (!text && part.texts > 1)
        fail_input(tr("attention_file.choose_text",
                      "{} holds {} texts, shape {}; choose one with --batch 0 to {}", path, part.texts,
                      part.shape, part.texts - 1));
    if (text && (*text < 0 || *text >= part.texts))
        fail_input(part.texts == 1
                       ? tr("attention_file.one_text",
                            "{} holds one text for each layer, shape {}; leave --batch out", path, part.shape)
                       : tr("attention_file.no_such_text",
                            "{} has no text {}; its texts are numbered 0 to {}", path, *text,
                            part.texts - 1));
    return text.value_or(0);
}

AttentionSetPtr open_chosen(const OpenedFile& opened, const AttentionOptionsPtr& options,
                            const AttentionChoice& choice) {
    const std::size_t n = chosen_part(opened, *options, choice.part);
    const AttentionPart& part = options->parts[n];
    const std::int64_t text = chosen_text(opened, part, choice.text);
    const AttentionLayout& layout = opened.layouts[n];
    const NamedArrays& file = *opened.file;
    for (const TensorEntry* entry : layout.arrays.entries)
        file.require_floats(*entry);

    AttentionInfo info;
    info.L = layout.L;
    info.H = layout.H;
    info.Tq = layout.Tq;
    info.Tk = layout.Tk;
    info.axis = layout.is_batch ? SetAxis::sequences : SetAxis::layers;
    info.numbers = layout.arrays.numbers;
    info.tensor = layout.arrays.name;
    if (const std::string names = file.head_names(); !names.empty())
        info.tensor += ": " + names;
    AttentionTokens tokens = tokens_of_text(read_tokens(file, layout), layout.texts, text);
    check_tokens(tokens, info);
    if (tokens.is_per_sequence && info.L > 1)
        info.axis = SetAxis::sequences;
    const NumberType& type = *file.number_type(*layout.arrays.entries.front());
    info.title = std::filesystem::path(file.source()).filename().string();
    info.source = file.source();
    info.held_as = type.name;
    info.bytes = static_cast<std::uint64_t>(info.L * info.H * info.Tq * info.Tk) * type.width;
    info.sum_tolerance = type.sum_tolerance;
    if (!tokens.queries.empty())
        info.tokens_from = tokens.source;
    info.cross = !tokens.queries.empty() && !tokens.keys.empty() && tokens.queries != tokens.keys;
    if (part.id == "cross")
        info.cross = true;
    if (info.numbers.empty()) {
        info.numbers.resize(static_cast<std::size_t>(info.L));
        std::iota(info.numbers.begin(), info.numbers.end(), 0);
    }
    if (options->has_choice()) {
        info.options = options;
        info.choice = {part.id, part.texts > 1 ? std::optional(text) : std::nullopt};
    }
    ChosenNumbers numbers{opened.file, layout, find_sinks(file, layout.arrays), text};
    info.sinks = !numbers.sinks.empty();
    if (auto padding = read_padding(file, layout, info, text); !padding.empty())
        tokens.padding = std::move(padding);
    return std::make_shared<AttentionFile>(std::move(info), std::move(tokens), std::move(numbers),
                                           opened.kept_bytes);
}

/// The tokens of each text in one line; empty if they are not known or do not fit.
std::vector<std::string> text_names(const NamedArrays& file, const AttentionLayout& layout) {
    if (layout.texts == 1)
        return {};
    std::vector<std::string> names;
    try {
        const AttentionTokens tokens = read_tokens(file, layout);
        if (std::ssize(tokens.queries) == layout.texts)
            for (const std::vector<std::string>& list : tokens.queries)
                names.push_back(joined(list, {}, " "));
    } catch (const Error&) { // reported when a text is opened
        names.clear();
    }
    return names;
}

} // namespace

AttentionOptionsPtr attention_options(const std::string& path, std::size_t kept_bytes) {
    const auto opened = std::make_shared<OpenedFile>(OpenedFile{open_named_arrays(path), {}, kept_bytes});
    const auto options = std::make_shared<AttentionOptions>();
    for (AttentionTensors& arrays : find_attention_tensors(*opened->file)) {
        opened->layouts.push_back(attention_layout(*opened->file, std::move(arrays)));
        const AttentionLayout& layout = opened->layouts.back();
        options->parts.push_back({layout.arrays.part, layout.texts, text_names(*opened->file, layout),
                                  layout.arrays.entries.front()->shape_text()});
    }
    // Each set keeps its options alive, so the options must not keep themselves alive.
    const std::weak_ptr<const AttentionOptions> self = options;
    options->open = [opened, self](const AttentionChoice& choice) {
        return open_chosen(*opened, self.lock(), choice);
    };
    return options;
}

AttentionSetPtr open_attention_file(const std::string& path, const AttentionChoice& choice,
                                    std::size_t kept_bytes) {
    return attention_options(path, kept_bytes)->open(choice);
}

AttentionSetPtr open_attention_file(const std::string& path, std::size_t kept_bytes) {
    return open_attention_file(path, AttentionChoice{}, kept_bytes);
}

} // namespace headscope::format
