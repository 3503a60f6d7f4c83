#pragma once

#include "app/draw/kit/picture.h"

#include <span>
#include <string>
#include <vector>

namespace headscope::app {

/// The weights of one figure for one batch entry: those of one head, the difference of two heads, or the mean
/// over all heads. Keeps a reference to the context.
class FigureWeights {
public:
    /// `head`: the head, or in a difference the head from which view.other is subtracted. Ignored for a mean.
    FigureWeights(const DrawContext& context, HeadsView kind, std::int64_t head);

    HeadsView kind() const { return kind_; }
    std::int64_t head() const { return head_; }
    /// The weight of key j in row i: 0 to 1; in a difference -1 to 1.
    float at(std::int64_t i, std::int64_t j) const;
    /// All weights, (Tq, Tk) row by row; empty for a difference, which is not stored.
    std::span<const float> stored_weights() const;
    /// Returns true if query i may not attend to key j: in this head, in both heads of a difference, in every
    /// head of a mean.
    bool masked(std::int64_t i, std::int64_t j) const;
    /// Returns true if query i may not attend to any key.
    bool is_fully_masked(std::int64_t i) const;
    /// The key with the largest weight in row i (in a difference: the largest magnitude); 0 if all keys are
    /// masked.
    std::int64_t largest(std::int64_t i) const;
    /// The cell that hovering selects: of weights_mean in a mean, otherwise of the weights of head().
    CellAddress address(std::int64_t i, std::int64_t j) const;

    std::string title() const; ///< "Head 0", "Head 0 − head 1", "Mean over 4 heads"
    std::string role() const;  ///< the head's purpose, or the content of the figure; may be empty
    /// The printed form of a number: two decimals, differences with a sign.
    std::string text(float value) const;
    figure::Color line_color(float value) const;
    /// `end`: the value of the ramp's last color.
    figure::Color cell_color(float value, float end) const;
    const Ramp& ramp() const;
    /// Returns true if colors depend on the logarithm of a weight; always false for a difference.
    bool log_colours() const;

    /// Makes `area` of the picture the cell of one weight, for hovering and outlines.
    void add_cell(Picture& picture, std::int64_t i, std::int64_t j, const figure::Rect& area,
                  float end) const;

    const DrawContext& context() const { return *context_; }

private:
    /// Returns true if in_head(h) is true for every head of the figure.
    template<class InHead>
    bool in_all_heads(const InHead& in_head) const;

    const DrawContext* context_;
    HeadsView kind_;
    std::int64_t batch_, head_, other_;
};

/// The figures of a view of weights: one per head, one difference, or one mean.
std::vector<FigureWeights> figure_weights_of(const DrawContext& context);
/// The focused figure: that of view.head, the difference, or the mean.
FigureWeights focused_figure_weights(const DrawContext& context);

/// The focused query row, and the key if the focused cell has one (otherwise -1). See current_cell().
struct FocusedCell {
    std::int64_t row = 0, key = -1;
};
FocusedCell focused_cell(const DrawContext& context);

/// The end of width and color scales: the largest weight in all figures and rows, rounded up to a tenth. The
/// same for every row, so that rows are comparable.
float scale_end(const DrawContext& context, const std::vector<FigureWeights>& readings);

/// One weight, drawn as a line from its query to its key.
struct Link {
    std::int64_t i = 0, j = 0;
    float value = 0;
    bool in_focused_row = false; ///< in the focused query row
};

/// The smallest weights that get a line, so that a long sentence stays readable. Every row with an allowed
/// key has a line, because its largest weight is at least 1/Tk.
struct LinkThresholds {
    float focused = 0.10F; ///< for the focused row
    float others = 0.10F;  ///< for other rows
};
LinkThresholds link_thresholds(const Dims& dims);

/// The lines of a figure, without masked keys (their weights are 0) and rows that have not been stepped
/// through yet. Lines that do not depend on the focused row come first.
std::vector<Link> links_of(const FigureWeights& reading, std::int64_t focused_row);

} // namespace headscope::app
