#pragma once

#include "core/attention/problem.h"
#include "core/trace/trace.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::lesson {

/// One index in a lesson's notation: a number, a word of the sentence, `word@position`, `:` for all, or
/// `a:b`.
struct TargetIndex {
    enum class Kind : std::uint8_t { number, word, all, range };
    Kind kind = Kind::all;
    std::int64_t first = 0, end = 0; ///< number: first only; range: [first, end)
    std::string word;
};

/// Cells of one tensor in a lesson's notation, "weights[0][sat, cat]": one index per axis of the tensor
/// without the batch; missing trailing indices mean all.
struct Target {
    TensorId tensor = TensorId::x;
    std::vector<TargetIndex> indices;
};

/// The cells of a target in one problem: `count[axis]` indices from `first[axis]` on, in batch entry 0.
struct CellRange {
    TensorId tensor = TensorId::x;
    Index first{};
    Index count{};
    std::int64_t size() const;
};

/// Both functions throw Error(input) with the problem, without a file or line.
TargetIndex parse_index(std::string_view text);
/// Finds a stage, an input, or a stage around a checkpoint's attention.
std::optional<TensorId> find_named(std::string_view name);
Target parse_target(std::string_view text);
std::string target_text(const Target& target);

/// Finds the cells of a target. Words are tokens of the problem; a token that occurs twice needs its position
/// (`the@4`). Throws Error(input) that names the index, its size and the valid range.
CellRange resolve(const Target& target, const Problem& problem);

/// The row of a query token: by its number, its word, or the first of a range. Throws the same.
std::int64_t query_row(const TargetIndex& index, const Problem& problem);

/// The offsets of the cells in a tensor of that shape, in row-major order.
std::vector<std::int64_t> offsets_of(const CellRange& cells, const Shape& shape);

/// A stage of the trace or an input of the problem; null if the problem has no such tensor.
const Tensor* tensor_of(const Problem& problem, const Trace& trace, TensorId id);
/// The numbers of cells of a tensor, in row-major order.
std::vector<float> values_of(const CellRange& cells, const Tensor& tensor);
/// Same for a tensor of a problem or its trace. Throws Error(input) if the tensor does not exist.
std::vector<float> values_of(const CellRange& cells, const Problem& problem, const Trace& trace);

} // namespace headscope::lesson
