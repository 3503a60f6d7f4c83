#include "core/format/arrays/circuitsvis_arrays.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/joined.h"
#include "core/base/json.h"
#include "core/base/message.h"
#include "core/base/parse.h"
#include "core/base/random_access_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace headscope::format {

namespace {

using nlohmann::json;

// A file of 1 GiB could hold hundreds of millions of empty texts, which take ten times as much memory.
constexpr std::size_t most_objects = 1 << 16, most_head_names = 1 << 16, most_json_tokens = 1 << 20,
                      most_json_weights = 1 << 28;

/// The members of one object, or of one layer.
struct CircuitsVisObject {
    std::vector<std::string> tokens, head_names; ///< kept of the first object alone
    bool has_other_tokens = false;               ///< than the first object
    std::vector<float> weights;                  ///< row-major
    std::vector<std::int64_t> extents;           ///< outermost first; empty: no attention
};

/// Returns the number as float32; outside its range, an infinity.
float float_of_json(double value) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    if (std::abs(value) <= double{std::numeric_limits<float>::max()})
        return static_cast<float>(value);
    return value < 0 ? -infinity : infinity;
}

/// Collects the objects while the text is parsed, so that the numbers are never held as JSON values.
class CircuitsVisReader final : public json::json_sax_t {
public:
    explicit CircuitsVisReader(const std::string& path) : path_(path) {}

    std::vector<CircuitsVisObject> objects;

    bool null() override { return other("null"); }
    bool boolean(bool value) override { return other(value ? "true" : "false"); }
    bool number_integer(std::int64_t value) override { return number(static_cast<double>(value)); }
    bool number_unsigned(std::uint64_t value) override { return number(static_cast<double>(value)); }
    bool number_float(double value, const std::string& /*text*/) override { return number(value); }
    bool binary(json::binary_t& /*value*/) override { return other("binary"); }
    bool string(std::string& value) override {
        if (member_ == Member::attention)
            refuse_number('"' + value.substr(0, 20) + '"');
        if (objects_open_ != 1 || lists_ != 1)
            return true;
        if (member_ == Member::tokens)
            add_token(value);
        else if (member_ == Member::names)
            add_head_name(value);
        return true;
    }
    bool start_object(std::size_t /*count*/) override {
        if (++objects_open_ == 1)
            add_object();
        else if (member_ == Member::attention)
            refuse_number("{");
        return true;
    }
    bool end_object() override {
        if (--objects_open_ == 0 && objects.size() > 1) {
            CircuitsVisObject& last = objects.back();
            last.has_other_tokens = last.tokens != objects.front().tokens;
            last.tokens = std::vector<std::string>(); // frees the memory, unlike = {}
            last.head_names = std::vector<std::string>();
        }
        return true;
    }
    bool key(std::string& name) override {
        if (objects_open_ > 1)
            return true;
        member_ = name == "attention"              ? Member::attention
                  : name == "tokens"               ? Member::tokens
                  : name == "attention_head_names" ? Member::names
                  : name == "attentionHeadNames"   ? Member::names
                                                   : Member::other;
        lists_ = 0;
        counts_.clear();
        if (member_ == Member::other)
            return true;
        bool& seen = seen_[static_cast<std::size_t>(member_)];
        if (seen)
            fail_input(tr("circuitsvis.twice", "{} has \"{}\" twice in one object; keep one of them", path_,
                          member_ == Member::names ? "attention_head_names" : name));
        seen = true;
        return true;
    }
    bool start_array(std::size_t /*count*/) override {
        constexpr int most_nested = 64;
        if (objects_open_ == 0)
            return true;
        ++lists_;
        if (member_ != Member::attention)
            return true;
        if (lists_ > most_nested)
            fail_shape();
        count_element();
        counts_.push_back(0);
        return true;
    }
    bool end_array() override {
        if (objects_open_ == 0)
            return true;
        --lists_;
        if (member_ != Member::attention)
            return true;
        // Every list at one depth should have the length of the first.
        const std::size_t depth = counts_.size() - 1;
        std::vector<std::int64_t>& extents = objects.back().extents;
        if (extents.size() <= depth)
            extents.resize(depth + 1, -1);
        if (extents[depth] == -1)
            extents[depth] = counts_.back();
        else if (extents[depth] != counts_.back())
            fail_input(tr("circuitsvis.ragged",
                          "{}: the lists in \"attention\" have the lengths {} and {} at the same depth; all "
                          "heads and rows should have the same",
                          path_, extents[depth], counts_.back()));
        counts_.pop_back();
        return true;
    }
    bool parse_error(std::size_t position, const std::string& /*token*/,
                     const json::exception& /*fault*/) override {
        fail_input(tr("circuitsvis.not_json",
                      "{} is not valid JSON from byte {} on; NaN and Infinity are not JSON either: write the "
                      "file again with json.dump(..., allow_nan=False)",
                      path_, position));
    }

private:
    enum class Member { other, attention, tokens, names };
    static constexpr std::size_t members = 4;

    void add_object() {
        if (objects.size() == most_objects)
            fail_input(tr("circuitsvis.many_objects",
                          "{} has more than {} objects, one for each layer; save fewer layers", path_,
                          most_objects));
        objects.emplace_back();
        seen_ = {};
    }
    void add_token(const std::string& token) {
        std::vector<std::string>& tokens = objects.back().tokens;
        if (tokens.size() == most_json_tokens)
            fail_input(tr("circuitsvis.many_tokens",
                          "{} has more than {} tokens; save a part of the rows and columns", path_,
                          most_json_tokens));
        tokens.push_back(token);
    }
    void add_head_name(const std::string& name) {
        std::vector<std::string>& names = objects.back().head_names;
        if (names.size() == most_head_names)
            fail_input(tr("circuitsvis.many_names",
                          "{} has more than {} names in \"attention_head_names\"; save fewer heads", path_,
                          most_head_names));
        names.push_back(name);
    }
    bool other(const std::string& value) const {
        if (member_ == Member::attention && lists_ > 0)
            refuse_number(value);
        return true;
    }
    [[noreturn]] void refuse_number(const std::string& value) const {
        fail_input(tr("circuitsvis.no_number", "{}: \"attention\" should hold only numbers, and holds {}",
                      path_, value));
    }
    [[noreturn]] void fail_shape() const {
        fail_input(
            tr("circuitsvis.shape",
               "{}: \"attention\" should be a list of heads, each with a row of weights for each token: "
               "[head][destination][source], or one such list for each layer",
               path_));
    }
    void count_element() {
        if (!counts_.empty())
            ++counts_.back();
    }
    bool number(double value) {
        if (member_ != Member::attention || objects_open_ != 1)
            return true;
        if (counts_.empty())
            fail_shape();
        // A number beside a list would shift all others.
        CircuitsVisObject& object = objects.back();
        if (depth_of_numbers_ == 0 || object.weights.empty())
            depth_of_numbers_ = counts_.size();
        if (depth_of_numbers_ != counts_.size())
            fail_shape();
        count_element();
        if (++weights_ > most_json_weights)
            fail_input(tr("circuitsvis.many_weights",
                          "{} has more than {} weights; save fewer heads, or write .npz", path_,
                          most_json_weights));
        object.weights.push_back(float_of_json(value));
        return true;
    }

    const std::string& path_;
    Member member_ = Member::other;
    int objects_open_ = 0, lists_ = 0;
    std::array<bool, members> seen_{}; ///< the members of the open object so far
    std::vector<std::int64_t> counts_; ///< elements so far of each open list in "attention"
    std::size_t depth_of_numbers_ = 0, weights_ = 0;
};

/// The layer and the head in a name such as L3H7, L3 H7, L3.H7 or 3.7.
struct HeadPlace {
    std::int64_t layer = 0, head = 0;
};

std::optional<HeadPlace> place_in_name(std::string_view name) {
    constexpr std::string_view digits = "0123456789";
    if (name.starts_with('L') || name.starts_with('l'))
        name.remove_prefix(1);
    const std::size_t first = std::min(name.find_first_not_of(digits), name.size());
    const std::size_t second = std::min(name.find_first_of(digits, first), name.size());
    std::string between(name.substr(first, second - first));
    std::erase_if(between, [](char c) { return c == ' ' || c == '.' || c == ',' || c == ':' || c == '_'; });
    const bool separated = second > first && (between.empty() || between == "H" || between == "h");
    const auto layer = number_of<std::int64_t>(name.substr(0, first)),
               head = number_of<std::int64_t>(name.substr(second));
    return separated && layer && head ? std::optional(HeadPlace{*layer, *head}) : std::nullopt;
}

/// The numbers of the layers if the names say that the heads are all heads of some layers, layer by layer;
/// empty for other names.
std::vector<std::int64_t> layers_in_names(const std::vector<std::string>& names) {
    std::vector<std::int64_t> layers;
    std::int64_t heads = 0, next = 0;
    for (const std::string& name : names) {
        const auto place = place_in_name(name);
        if (!place)
            return {};
        if (layers.empty() || place->layer != layers.back()) {
            if (!layers.empty() && (place->layer < layers.back() || (heads != 0 && next != heads)))
                return {};
            heads = next;
            next = 0;
            layers.push_back(place->layer);
        }
        if (place->head != next++)
            return {};
    }
    return layers.size() > 1 && next != heads ? std::vector<std::int64_t>() : layers;
}

/// The names of a list in which there may be thousands.
std::string first_names(const std::vector<std::string>& names) {
    constexpr std::size_t most_shown = 8;
    std::string list = joined(std::span(names).first(std::min(most_shown, names.size())));
    return names.size() > most_shown
               ? tr("attention_tensors.more", "{}, and {} more", list, names.size() - most_shown)
               : list;
}

class CircuitsVisArrays final : public NamedArrays {
public:
    CircuitsVisArrays(std::string path, std::vector<CircuitsVisObject> layers) : path_(std::move(path)) {
        CircuitsVisObject& first = layers.front();
        entry_ = {"attention", "F32", first.extents};
        tokens_ = std::move(first.tokens);
        weights_ = std::move(first.weights);
        if (layers.size() > 1) {
            entry_.extents.insert(entry_.extents.begin(), static_cast<std::int64_t>(layers.size()));
            for (auto layer = layers.begin() + 1; layer != layers.end(); ++layer)
                weights_.insert(weights_.end(), layer->weights.begin(), layer->weights.end());
        }
        if (entry_.extents.size() == 2) // attention_pattern(): one head
            entry_.extents.insert(entry_.extents.begin(), 1);
        if (entry_.extents.size() == 3)
            use_names(first.head_names);
    }

    const std::string& source() const override { return path_; }
    std::vector<const TensorEntry*> entries() const override { return {&entry_}; }
    const NumberType* number_type(const TensorEntry& /*entry*/) const override { return &type_of<float>(); }
    void read_numbers(const TensorEntry& /*entry*/, std::uint64_t first, std::span<float> to) const override {
        std::copy_n(weights_.begin() + static_cast<std::ptrdiff_t>(first), to.size(), to.begin());
    }
    std::vector<std::int64_t> integers(const TensorEntry& /*entry*/) const override { return {}; }
    std::optional<std::string> note(std::string_view key) const override {
        return key == "tokens" && !tokens_.empty() ? std::optional(dump_json(json(tokens_))) : std::nullopt;
    }
    std::string note_name(std::string_view key) const override {
        return tr("circuitsvis.member", "{}: the list \"{}\"", path_, key);
    }
    std::vector<std::int64_t> layer_numbers() const override { return layers_; }
    std::string head_names() const override { return head_names_; }

private:
    void use_names(const std::vector<std::string>& names) {
        const std::int64_t heads = entry_.extents.front();
        if (names.empty())
            return;
        if (std::ssize(names) != heads)
            fail_input(tr("circuitsvis.head_names",
                          "{} has {} names in \"attention_head_names\" for {} heads; write one for each, or "
                          "remove them",
                          path_, names.size(), heads));
        layers_ = layers_in_names(names);
        const auto count = static_cast<std::int64_t>(layers_.size());
        if (count > 1) {
            entry_.extents.front() = heads / count;
            entry_.extents.insert(entry_.extents.begin(), count);
        } else if (layers_.empty()) {
            head_names_ = first_names(names);
        }
    }

    std::string path_, head_names_;
    TensorEntry entry_;
    std::vector<std::string> tokens_;
    std::vector<float> weights_;
    std::vector<std::int64_t> layers_;
};

/// Returns true if a text of JSON contains a member "attention" whose value is a list, unlike a text or a
/// vocabulary with that word.
bool has_attention_list(std::string_view text) {
    constexpr std::string_view name = "\"attention\"", blanks = " \t\r\n";
    for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
        const std::size_t colon = text.find_first_not_of(blanks, at + name.size());
        if (colon == std::string_view::npos || text[colon] != ':')
            continue;
        const std::size_t value = text.find_first_not_of(blanks, colon + 1);
        if (value != std::string_view::npos && text[value] == '[')
            return true;
    }
    return false;
}

} // namespace

NamedArraysPtr read_circuitsvis(const std::string& path) {
    CircuitsVisReader reader(path);
    json::sax_parse(read_file(path, 1024 * mebibyte), &reader);
    std::vector<CircuitsVisObject>& layers = reader.objects;
    const bool has_attention =
        !layers.empty() &&
        std::ranges::all_of(layers, [](const CircuitsVisObject& one) { return !one.extents.empty(); });
    if (!has_attention)
        fail_input(
            tr("circuitsvis.no_attention",
               "{} is JSON without a list \"attention\" as circuitsvis.attention.attention_heads takes "
               "it; name another file",
               path));
    const CircuitsVisObject& first = layers.front();
    for (const CircuitsVisObject& layer : layers) {
        if (layer.extents != first.extents)
            fail_input(tr("circuitsvis.layers_differ",
                          "{}: \"attention\" has the shapes {} and {}; all layers should have the same", path,
                          extents_text(first.extents), extents_text(layer.extents)));
        if (layer.has_other_tokens)
            fail_input(tr("circuitsvis.tokens_differ",
                          "{}: its objects have different tokens; write one file for each text", path));
        // Lists without numbers inside have a shape too.
        std::int64_t count = 1;
        for (const std::int64_t extent : layer.extents)
            count *= std::max<std::int64_t>(extent, 0);
        if (count != std::ssize(layer.weights) || count == 0 || layer.extents.size() < 2 ||
            layer.extents.size() > 4 || (layers.size() > 1 && layer.extents.size() != 3))
            fail_input(tr("circuitsvis.shape",
                          "{}: \"attention\" should be a list of heads, each with a row of weights for each "
                          "token: [head][destination][source], or one such list for each layer",
                          path));
    }
    return std::make_shared<CircuitsVisArrays>(path, std::move(layers));
}

bool is_circuitsvis_file(const std::string& path) {
    const RandomAccessFile file(path);
    std::string start(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), mebibyte)), '\0');
    file.read(0, start);
    const std::size_t first = start.find_first_not_of(" \t\r\n");
    return first != std::string::npos && (start[first] == '{' || start[first] == '[') &&
           start.find('\0') == std::string::npos && has_attention_list(start);
}

} // namespace headscope::format
