#pragma once

#include "core/lesson/lesson_model.h"
#include "core/lesson/target.h"

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace headscope::lesson {

struct PageNumbers;

/// The input of live values and gates: a problem with its trace, and the learner's view.
struct LessonState {
    const Problem& problem;
    const Trace& trace;                  ///< all stages
    std::string_view stage = {};         ///< label of the step of the strip that is on screen
    std::int64_t row = -1;               ///< the query row stepped through; -1: none
    std::int64_t head = 0;               ///< the focused head
    std::set<std::string> done{};        ///< answered quizzes and filled tables: "quiz 2", "table 1"
    std::optional<CellRange> selected{}; ///< the cell whose arithmetic the inspector shows
    bool edited = false;                 ///< any number differs from the step's own problem
    bool text_changed = false;           ///< the text differs from the step's own
    /// the checkpoint that the problem is a layer of; null if there is none
    const LessonModel* model = nullptr;
    std::int64_t layer = 0;                       ///< of the model: the problem's layer
    std::string_view screen = "stages";           ///< of the model; see StepScene::screen
    std::string_view patched = {};                ///< on the patching screen; see StepScene::patched
    std::array<std::int64_t, 2> patch = {-1, -1}; ///< on the patching screen: the selected cell
    const PageNumbers* page_numbers =
        nullptr; ///< the page's own numbers, while others are on screen; else null
};

/// The value of an expression: a number or a text.
using LessonValue = std::variant<double, std::string>;

/// An expression of a lesson, evaluated for the current state:
///   numbers, + - * / ^, comparisons (< <= > >= = !=), `and`, `or`, `not`;
///   cells: weights[0][sat, cat], W_O[5, 1], q_heads[0][sat, 2]; several cells as arguments of functions;
///   sizes: B Tq Tk T D H Hkv dk dv; parameters, flops, projection_flops, attention_flops, weights_bytes,
///   kv_cache_bytes, temperature, row, head; the words stage, and "quoted text";
///   functions: sum, mean, max, min, norm, count (over cells), top (the word of the largest cell of a row),
///   every score of a head by its id in core/analysis/heads/head_metrics.h, such as entropy(h) and share(h),
///   entropy(h, row), distance(h, g) between two heads' weights (mean total variation, 0 to 1), gain(h),
///   difference(cells, cells) the largest absolute difference, sqrt, exp, ln, abs, round, done("quiz 1"),
///   selected(cells): true if the selected cell is one of them, edited, retyped;
///   screen, patched, patch_row, patch_column: the state of a checkpoint's canvas;
///   for a checkpoint: L2.weights[7][to, Mary] and L2.gain(7) read layer 2, stages around the attention have
///   the names of block_table(), corrupted(expression) is its value for the second prompt,
///   before(expression) its value without gains and edits, own(expression) its value on the step's own page,
///   while another problem is on screen; model_function lists further functions.
class Expression {
public:
    /// Throws Error(input) that quotes the position, without a file or line.
    static Expression parse(std::string_view text);

    /// Throws Error(input) if a cell, a word or a head does not exist.
    LessonValue value(const LessonState& state) const;
    double number(const LessonState& state) const;
    bool truth(const LessonState& state) const;
    /// A comparison with the values of its two sides.
    struct Comparison {
        LessonValue left;
        std::string sign;
        LessonValue right;
    };
    /// The comparisons that make the expression false: itself, or operands of `and` and `or`.
    std::vector<Comparison> false_comparisons(const LessonState& state) const;
    const std::string& text() const { return text_; }
    /// Every target in the expression, for checks and for highlighting its cells.
    std::vector<Target> targets() const;
    /// The name of every function that the expression calls.
    std::vector<std::string> functions() const;

    struct Node;

private:
    std::string text_;
    std::shared_ptr<const Node> root_;
};

} // namespace headscope::lesson
