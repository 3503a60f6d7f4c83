#include "core/lesson/target.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/parse.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

namespace headscope::lesson {

namespace {

constexpr std::string_view blanks_between = " \t"; ///< trimmed from the parts of a target

std::string index_text(const TargetIndex& index) {
    switch (index.kind) {
    case TargetIndex::Kind::number:
        return std::to_string(index.first);
    case TargetIndex::Kind::word:
        return index.word;
    case TargetIndex::Kind::range:
        return std::to_string(index.first) + ":" + std::to_string(index.end);
    case TargetIndex::Kind::all:
        break;
    }
    return ":";
}

/// The token labels of an axis of a tensor; null if the axis does not count tokens.
const std::vector<std::string>* labels_of(const Problem& problem, TensorId tensor, int axis) {
    const TensorInfo& info = tensor_info(tensor);
    const Axis kind = info.axes[static_cast<std::size_t>(axis)];
    if (kind == Axis::Tq)
        return &problem.tokens;
    if (kind == Axis::Tk)
        return problem.cross() ? &problem.kv_tokens : &problem.tokens;
    return nullptr;
}

/// Returns true if a token is that word. Labels of a checkpoint's tokens mark a leading space with "·".
bool is_word(const std::string& token, std::string_view word) {
    constexpr std::string_view blank = "·";
    return token == word ||
           (token.starts_with(blank) && std::string_view(token).substr(blank.size()) == word);
}

std::int64_t find_word(const std::string& word, const std::vector<std::string>& tokens) {
    if (const auto at = word.rfind('@'); at != std::string::npos && at > 0)
        if (const auto position = number_of<std::int64_t>(std::string_view(word).substr(at + 1));
            position && *position >= 0 && *position < static_cast<std::int64_t>(tokens.size()) &&
            is_word(tokens[static_cast<std::size_t>(*position)], word.substr(0, at)))
            return *position;
    const auto is = [&](const std::string& token) { return is_word(token, word); };
    const auto first = std::ranges::find_if(tokens, is);
    if (first == tokens.end())
        fail_input(tr("target.no_token_sentence", "there is no token \"{}\" in the sentence", word));
    if (std::find_if(first + 1, tokens.end(), is) != tokens.end())
        fail_input(tr("target.stands_more_once_sentence",
                      "\"{0}\" appears more than once in the sentence; write {0}@{1} for the first", word,
                      first - tokens.begin()));
    return first - tokens.begin();
}

} // namespace

std::int64_t CellRange::size() const {
    const int rank = tensor_info(tensor).rank();
    return std::accumulate(count.begin(), count.begin() + rank, std::int64_t{1}, std::multiplies<>());
}

TargetIndex parse_index(std::string_view raw) {
    const std::string_view text = trimmed(raw, blanks_between);
    if (text.empty())
        fail_input(
            tr("target.index_missing_write_number", "an index is missing; write a number, a word, : or a:b"));
    if (text == ":")
        return {};
    if (const auto number = number_of<std::int64_t>(text))
        return {.kind = TargetIndex::Kind::number, .first = *number, .end = *number + 1, .word = {}};
    if (const auto colon = text.find(':'); colon != std::string_view::npos && colon > 0) {
        const auto first = number_of<std::int64_t>(trimmed(text.substr(0, colon), blanks_between)),
                   end = number_of<std::int64_t>(trimmed(text.substr(colon + 1), blanks_between));
        if (first && end && *first < *end)
            return {.kind = TargetIndex::Kind::range, .first = *first, .end = *end, .word = {}};
    }
    const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
    return {.kind = TargetIndex::Kind::word,
            .first = 0,
            .end = 0,
            .word = std::string(quoted ? text.substr(1, text.size() - 2) : text)};
}

std::optional<TensorId> find_named(std::string_view name) {
    const std::optional<TensorId> found = find_tensor(name);
    return found ? found : find_block_stage(name);
}

Target parse_target(std::string_view text) {
    const std::string_view all = trimmed(text, blanks_between);
    const auto open = all.find('[');
    const std::string_view name = trimmed(all.substr(0, open), blanks_between);
    const auto id = find_named(name);
    if (!id)
        fail_input(tr("common.no_tensor", "there is no tensor \"{}\"", name));
    Target target{.tensor = *id, .indices = {}};
    for (std::string_view rest = open == std::string_view::npos ? std::string_view{} : all.substr(open);
         !rest.empty(); rest = trimmed(rest, blanks_between)) {
        const auto close = rest.find(']');
        if (rest.front() != '[' || close == std::string_view::npos)
            fail_input(tr("target.bracket_not_closed", "\"{}\" has a bracket that is not closed", all));
        for (std::string_view inner = rest.substr(1, close - 1);;) {
            const auto comma = inner.find(',');
            target.indices.push_back(parse_index(inner.substr(0, comma)));
            if (comma == std::string_view::npos)
                break;
            inner.remove_prefix(comma + 1);
        }
        rest.remove_prefix(close + 1);
    }
    return target;
}

std::string target_text(const Target& target) {
    std::string text(tensor_info(target.tensor).name);
    for (std::size_t i = 0; i < target.indices.size(); ++i) {
        // The head index has its own brackets: weights[0][sat, cat].
        const bool opens = i == 0 || (i == 1 && target.indices.size() == 3);
        text += opens ? "[" : ", ";
        text += index_text(target.indices[i]);
        if (i + 1 == target.indices.size() || (i == 0 && target.indices.size() == 3))
            text += "]";
    }
    return text;
}

std::int64_t query_row(const TargetIndex& index, const Problem& problem) {
    const std::int64_t row =
        index.kind == TargetIndex::Kind::word ? find_word(index.word, problem.tokens) : index.first;
    if (row < 0 || row >= problem.dims.Tq)
        fail_input(tr("target.no_row_rows_numbered", "there is no row {}; rows are numbered 0 to {}", row,
                      problem.dims.Tq - 1));
    return row;
}

CellRange resolve(const Target& target, const Problem& problem) {
    const TensorInfo& info = tensor_info(target.tensor);
    const Shape shape = info.shape(problem.dims);
    const int batch = info.rank() > 0 && info.axes[0] == Axis::B ? 1 : 0;
    if (static_cast<int>(target.indices.size()) > info.rank() - batch)
        fail_input(tr("target.indices_batch_not_counted",
                      "{} has {} indices; {} has {} (the batch is not counted)", target_text(target),
                      target.indices.size(), info.name, info.rank() - batch));
    CellRange cells{.tensor = target.tensor, .first = {}, .count = {}};
    if (batch == 1)
        cells.count[0] = 1;
    for (int axis = batch; axis < info.rank(); ++axis) {
        const auto at = static_cast<std::size_t>(axis);
        const auto given = static_cast<std::size_t>(axis - batch);
        const TargetIndex index = given < target.indices.size() ? target.indices[given] : TargetIndex{};
        std::int64_t first = index.first, end = index.end;
        if (index.kind == TargetIndex::Kind::all) {
            first = 0;
            end = shape[axis];
        } else if (index.kind == TargetIndex::Kind::word) {
            const auto* labels = labels_of(problem, target.tensor, axis);
            if (labels == nullptr)
                fail_input(tr("target.index_number_word",
                              "{}: index {} of {} is a number, and \"{}\" is a word", target_text(target),
                              given, info.name, index.word));
            first = find_word(index.word, *labels);
            end = first + 1;
        }
        if (first < 0 || end > shape[axis])
            fail_input(tr("target.index_goes_0", "{}: index {} goes to {}, and {} has only 0 to {} there",
                          target_text(target), given, end - 1, info.name, shape[axis] - 1));
        cells.first[at] = first;
        cells.count[at] = end - first;
    }
    return cells;
}

std::vector<std::int64_t> offsets_of(const CellRange& cells, const Shape& shape) {
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(cells.size()));
    for (std::size_t n = 0; n < offsets.size(); ++n) {
        Index at = cells.first;
        auto rest = static_cast<std::int64_t>(n);
        for (int axis = shape.rank() - 1; axis >= 0; --axis) {
            const auto a = static_cast<std::size_t>(axis);
            at[a] += rest % cells.count[a];
            rest /= cells.count[a];
        }
        offsets[n] = shape.offset(at);
    }
    return offsets;
}

const Tensor* tensor_of(const Problem& problem, const Trace& trace, TensorId id) {
    return is_stage(id) ? trace.stage(id) : problem.input(id);
}

std::vector<float> values_of(const CellRange& cells, const Tensor& tensor) {
    std::vector<float> values;
    values.reserve(static_cast<std::size_t>(cells.size()));
    for (const std::int64_t offset : offsets_of(cells, tensor.shape()))
        values.push_back(tensor.data()[offset]);
    return values;
}

std::vector<float> values_of(const CellRange& cells, const Problem& problem, const Trace& trace) {
    const Tensor* tensor = tensor_of(problem, trace, cells.tensor);
    if (tensor == nullptr)
        fail_input(tr("common.problem_no", "this problem has no {}", tensor_info(cells.tensor).name));
    return values_of(cells, *tensor);
}

} // namespace headscope::lesson
