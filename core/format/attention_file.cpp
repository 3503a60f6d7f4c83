#include "core/format/attention_file.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/base/message.h"
#include "core/format/attention_tensors.h"
#include "core/format/attention_tokens.h"
#include "core/format/npy_header.h"
#include "core/format/number_types.h"
#include "core/format/safetensors.h"

#include <algorithm>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>

namespace headscope::format {

namespace {

/// The numbers of an attention file in either format. Any thread may read.
class Numbers {
public:
    Numbers() = default;
    Numbers(const Numbers&) = delete;
    Numbers& operator=(const Numbers&) = delete;
    virtual ~Numbers() = default;
    /// Reads `to.size()` numbers of block `l`, starting at number `first`.
    virtual void read(std::int64_t l, std::uint64_t first, std::span<float> to) const = 0;
    /// Reads the weights of the attention sink, one per row, in the same way; 0 if the file has none.
    virtual void read_sinks(std::int64_t /*l*/, std::uint64_t /*first*/, std::span<float> to) const {
        std::ranges::fill(to, 0.0F);
    }
};

class NpyNumbers final : public Numbers {
public:
    NpyNumbers(std::unique_ptr<RandomAccessFile> file, const NpyHeader& header, std::uint64_t block)
        : file_(std::move(file)), header_(header), block_(block) {}

    void read(std::int64_t l, std::uint64_t first, std::span<float> to) const override {
        const std::size_t width = header_.type->width;
        const std::uint64_t at = header_.data + (static_cast<std::uint64_t>(l) * block_ + first) * width;
        if (header_.type == &type_of<float>())
            return file_->read(at, {reinterpret_cast<char*>(to.data()), to.size_bytes()});
        read_in_pieces(*header_.type, to,
                       [&](std::uint64_t from, std::span<char> bytes) { file_->read(at + from, bytes); });
    }

private:
    std::unique_ptr<RandomAccessFile> file_;
    NpyHeader header_;
    std::uint64_t block_; ///< numbers in one layer
};

class SafetensorsNumbers final : public Numbers {
public:
    /// `names`: one tensor per layer, or one tensor with all layers. `sinks`: the same number, or none;
    /// `rows`: of one layer.
    SafetensorsNumbers(Safetensors file, std::vector<std::string> names, std::uint64_t block,
                       std::vector<std::string> sinks, std::uint64_t rows)
        : file_(std::move(file)), names_(std::move(names)), sinks_(std::move(sinks)), block_(block),
          rows_(rows) {}

    void read(std::int64_t l, std::uint64_t first, std::span<float> to) const override {
        if (names_.size() > 1)
            file_.read_numbers(names_[static_cast<std::size_t>(l)], first, to);
        else
            file_.read_numbers(names_.front(), static_cast<std::uint64_t>(l) * block_ + first, to);
    }
    void read_sinks(std::int64_t l, std::uint64_t first, std::span<float> to) const override {
        if (sinks_.size() > 1)
            file_.read_numbers(sinks_[static_cast<std::size_t>(l)], first, to);
        else
            file_.read_numbers(sinks_.front(), static_cast<std::uint64_t>(l) * rows_ + first, to);
    }

private:
    Safetensors file_;
    std::vector<std::string> names_, sinks_;
    std::uint64_t block_, rows_;
};

class AttentionFile final : public AttentionSet {
public:
    AttentionFile(AttentionInfo info, AttentionTokens tokens, std::unique_ptr<Numbers> numbers,
                  std::size_t kept_bytes)
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
        numbers_->read_sinks(l, static_cast<std::uint64_t>(h * info_.Tq), shares);
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
        numbers_->read(l, 0, weights->values());
        cached_layers_.emplace_front(l, std::move(weights));
        return cached_layers_.front().second;
    }

    void read_part(std::int64_t l, std::int64_t h, const MapPart& part, std::span<float> to) const override {
        const auto place = [&](std::int64_t row) {
            return static_cast<std::uint64_t>((h * info_.Tq + row) * info_.Tk + part.col);
        };
        if (part.cols == info_.Tk)
            return numbers_->read(l, place(part.row), to);
        const auto width = static_cast<std::size_t>(part.cols);
        for (std::int64_t i = 0; i < part.rows; ++i)
            numbers_->read(l, place(part.row + i), to.subspan(static_cast<std::size_t>(i) * width, width));
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
    std::unique_ptr<Numbers> numbers_;
    std::size_t most_kept_ = 1;
    mutable std::mutex mutex_;
    mutable std::list<std::pair<std::int64_t, TensorPtr>> cached_layers_; ///< most recently used first
};

/// Infers L, H, Tq and Tk from a shape. `layers`: the number of tensors of that shape.
void infer_shape(AttentionInfo& info, std::vector<std::int64_t> extents, std::int64_t layers,
                 const std::string& what) {
    const std::string shape = extents_text(extents);
    if (std::ranges::find(extents, 0) != extents.end())
        fail_input(tr("attention_file.shape_empty_save_again",
                      "{} of shape {} is empty; save it again with weights in it", what, shape));
    // (L, 1, H, Tq, Tk): one sequence. (1, H, Tq, Tk): one layer of a file with many tensors.
    if (extents.size() == 5 && extents[1] == 1)
        extents.erase(extents.begin() + 1);
    const bool many = layers > 1;
    if (many && extents.size() == 4 && extents[0] == 1)
        extents.erase(extents.begin());
    if (many && extents.size() == 4)
        fail_input(tr("attention_file.shape_holds_several",
                      "{} of shape {} holds several sequences for each layer; save the layers of one of them",
                      what, shape));
    if (extents.size() == 5)
        fail_input(tr("attention_file.shape_5_axes_save",
                      "{} of shape {} has 5 axes; save one sequence, for example a[:, 0] of (L, B, H, T, T)",
                      what, shape));
    if (extents.size() != 3 && extents.size() != 4)
        fail_input(tr_n("attention_file.shape_axis_attention",
                        "{} of shape {} has {} axis; attention weights have the shape (H, T, T), (L, H, T, "
                        "T) or (B, H, T, T)",
                        "{} of shape {} has {} axes; attention weights have the shape (H, T, T), (L, H, T, "
                        "T) or (B, H, T, T)",
                        std::ssize(extents), what, shape, extents.size()));
    info.L = many ? layers : extents.size() == 4 ? extents[0] : 1;
    info.H = extents[extents.size() - 3];
    info.Tq = extents[extents.size() - 2];
    info.Tk = extents[extents.size() - 1];
    constexpr std::int64_t most_maps = 1 << 16, most_tokens = 1 << 20;
    if (info.L > most_maps || info.H > most_maps / std::max<std::int64_t>(info.L, 1))
        fail_input(tr("attention_file.shape_more_heads_all",
                      "{} of shape {} has more than {} heads in all; save fewer layers or sequences", what,
                      shape, most_maps));
    if (info.Tq > most_tokens || info.Tk > most_tokens)
        fail_input(tr("attention_file.shape_more_tokens_save",
                      "{} of shape {} has more than {} tokens; save a part of the rows and columns", what,
                      shape, most_tokens));
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

/// The tokens of NAME.tokens.json next to NAME.npy, if that file exists.
AttentionTokens read_sidecar_tokens(const std::string& path) {
    const std::string beside = std::filesystem::path(path).replace_extension(".tokens.json").string();
    std::error_code none;
    if (!std::filesystem::is_regular_file(beside, none))
        return {};
    return parse_attention_tokens(read_file(beside, 64 * mebibyte), beside);
}

AttentionTokens tokens_in(const Safetensors& file, const std::string& path) {
    const auto entry = file.metadata().find("tokens");
    if (entry == file.metadata().end())
        return read_sidecar_tokens(path);
    AttentionTokens tokens = parse_attention_tokens(
        entry->second, tr("attention_file.metadata_entry_tokens", "{}: the metadata entry tokens", path));
    if (const auto keys = file.metadata().find("kv_tokens"); keys != file.metadata().end()) {
        AttentionTokens read =
            parse_attention_tokens(keys->second, tr("attention_file.metadata_entry_kv_tokens",
                                                    "{}: the metadata entry kv_tokens", path));
        tokens.keys = std::move(read.queries);
        tokens.key_pieces = std::move(read.query_pieces);
    }
    return tokens;
}

bool read_as_floats(const SafetensorsEntry& entry) {
    const NumberType* const type = find_safetensors_type(entry.dtype);
    return type != nullptr && type->read_floats != nullptr;
}

/// "layers.3.sink" for "layers.3.weights".
std::string sibling(const std::string& name, const std::string& last) {
    return name.substr(0, name.find_last_of("./") + 1) + last; // npos + 1 is 0
}

/// The tensors called `sink` next to the weights, which traces of models with sinks have: the sink's weight
/// in each row. Empty unless every layer has one with a matching shape.
std::vector<std::string> find_sink_tensors(const Safetensors& file, const std::vector<std::string>& weights) {
    std::vector<std::string> sinks;
    for (const std::string& name : weights) {
        const SafetensorsEntry *const entry = file.find(name), *const sink = file.find(sibling(name, "sink"));
        if (sink == nullptr || !read_as_floats(*sink))
            return {};
        std::vector<std::int64_t> rows = entry->extents;
        rows.pop_back();
        if (sink->extents != rows)
            return {};
        sinks.push_back(sink->name);
    }
    return sinks;
}

/// The padding queries according to the tensor `attention_mask`: either a tokenizer's mask, 0 for padding, or
/// numbers that are added to the scores, negative for padding. Empty unless it has one number for each query.
std::vector<std::vector<bool>> padding_in(const Safetensors& file, const AttentionInfo& info) {
    const SafetensorsEntry* const entry = file.find("attention_mask");
    if (entry == nullptr || info.cross || info.Tq != info.Tk)
        return {};
    std::int64_t count = 1;
    for (const std::int64_t extent : entry->extents)
        count *= extent;
    const bool sequences = info.axis == SetAxis::sequences && count == info.L * info.Tq;
    if (entry->extents.empty() || entry->extents.back() != info.Tq || (count != info.Tq && !sequences))
        return {};
    std::vector<bool> padding;
    if (read_as_floats(*entry)) {
        std::vector<float> mask(static_cast<std::size_t>(count));
        file.read_numbers(entry->name, 0, mask);
        const bool added = std::ranges::any_of(mask, [](float number) { return number < 0; });
        for (const float number : mask)
            padding.push_back(added ? number < 0 : number == 0);
    } else {
        for (const std::int64_t number : file.integers(entry->name))
            padding.push_back(number == 0);
    }
    std::vector<std::vector<bool>> lists;
    for (auto at = padding.begin(); at != padding.end(); at += info.Tq)
        lists.emplace_back(at, at + info.Tq);
    return lists;
}

/// Completes the information that is common to both formats after shape and tokens are known.
void finish(AttentionInfo& info, const AttentionTokens& tokens, const NumberType& type,
            const std::string& path) {
    check_tokens(tokens, info);
    if (tokens.is_per_sequence && info.L > 1)
        info.axis = SetAxis::sequences;
    info.title = std::filesystem::path(path).filename().string();
    info.source = path;
    info.held_as = type.name;
    info.bytes = static_cast<std::uint64_t>(info.L * info.H * info.Tq * info.Tk) * type.width;
    info.sum_tolerance = type.sum_tolerance;
    if (!tokens.queries.empty())
        info.tokens_from = tokens.source;
    info.cross = !tokens.queries.empty() && !tokens.keys.empty() && tokens.queries != tokens.keys;
    if (info.numbers.empty()) {
        info.numbers.resize(static_cast<std::size_t>(info.L));
        std::iota(info.numbers.begin(), info.numbers.end(), 0);
    }
}

AttentionSetPtr open_npy(const std::string& path, std::size_t kept_bytes) {
    auto file = std::make_unique<RandomAccessFile>(path);
    const NpyHeader header = read_npy_header(*file);
    AttentionInfo info;
    infer_shape(info, header.extents, 1, path);
    AttentionTokens tokens = read_sidecar_tokens(path);
    finish(info, tokens, *header.type, path);
    const auto block = static_cast<std::uint64_t>(info.H * info.Tq * info.Tk);
    return std::make_shared<AttentionFile>(std::move(info), std::move(tokens),
                                           std::make_unique<NpyNumbers>(std::move(file), header, block),
                                           kept_bytes);
}

AttentionSetPtr open_safetensors(const std::string& path, std::size_t kept_bytes) {
    Safetensors file = Safetensors::open_lazily(path);
    const AttentionTensors found = find_attention_tensors(file);
    const SafetensorsEntry& first = *found.entries.front();
    AttentionInfo info;
    infer_shape(info, first.extents, static_cast<std::int64_t>(found.entries.size()),
                tr("common.tensor", "{}: tensor {}", path, first.name));
    info.tensor = found.name;
    info.numbers = found.numbers;
    // In a trace of one layer, the first axis is the batch.
    const bool batch =
        found.numbers.size() == 1 || (file.metadata().contains("config") && found.name == "weights");
    if (batch && info.L > 1) {
        info.axis = SetAxis::sequences;
        info.numbers.clear();
    }
    AttentionTokens tokens = tokens_in(file, path);
    finish(info, tokens, *find_safetensors_type(first.dtype), path);
    std::vector<std::string> names;
    for (const SafetensorsEntry* entry : found.entries)
        names.push_back(entry->name);
    std::vector<std::string> sinks = find_sink_tensors(file, names);
    info.sinks = !sinks.empty();
    if (auto padding = padding_in(file, info); !padding.empty())
        tokens.padding = std::move(padding);
    const auto block = static_cast<std::uint64_t>(info.H * info.Tq * info.Tk),
               rows = static_cast<std::uint64_t>(info.H * info.Tq);
    return std::make_shared<AttentionFile>(std::move(info), std::move(tokens),
                                           std::make_unique<SafetensorsNumbers>(std::move(file),
                                                                                std::move(names), block,
                                                                                std::move(sinks), rows),
                                           kept_bytes);
}

} // namespace

AttentionSetPtr open_attention_file(const std::string& path, std::size_t kept_bytes) {
    // Detects the format by the content, because a .npy may have any name. If the content matches neither
    // format, the name decides which reader reports the error.
    const RandomAccessFile file(path);
    std::string start(std::min<std::uint64_t>(file.size(), npy_magic.size()), '\0');
    file.read(0, start);
    const bool npy = start == npy_magic || std::filesystem::path(path).extension() == ".npy";
    return npy ? open_npy(path, kept_bytes) : open_safetensors(path, kept_bytes);
}

} // namespace headscope::format
