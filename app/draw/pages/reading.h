#pragma once

#include "app/draw/kit/picture.h"

#include <string>
#include <vector>

namespace headscope::app {

/// The weights that one figure shows, for one batch entry: those of one head, the difference of two heads, or
/// the mean over all. Keeps a reference to the context.
class Reading {
public:
    /// `head` is the head itself, or the one that view.other is subtracted from; a mean needs none.
    Reading(const DrawContext& context, HeadsView kind, std::int64_t head);

    HeadsView kind() const { return kind_; }
    std::int64_t head() const { return head_; }
    /// How much query i reads key j: 0 to 1; -1 to 1 in a difference.
    float at(std::int64_t i, std::int64_t j) const;
    /// Query i may not read key j: in this head, in both that are compared, in any.
    bool masked(std::int64_t i, std::int64_t j) const;
    /// Query i may read no key at all.
    bool reads_nothing(std::int64_t i) const;
    /// The key that query i reads most (in a difference: where the heads differ most); 0 where it reads none.
    std::int64_t largest(std::int64_t i) const;
    /// The cell that hovering speaks of: of weights_mean in a mean, else of the weights of head().
    CellAddress address(std::int64_t i, std::int64_t j) const;

    std::string title() const; ///< "Head 0", "Head 0 − head 1", "Mean over 4 heads"
    std::string role() const;  ///< what the head was built to do, or what the figure shows; may be empty
    /// As numbers are written everywhere on the page: two decimals, differences signed.
    std::string text(float value) const;
    figure::Color line_color(float value) const;
    /// `end`: the value that has the last colour of the ramp.
    figure::Color cell_color(float value, float end) const;
    const Ramp& ramp() const;
    /// Colours follow the logarithm of a weight; never in a difference.
    bool log_colours() const;

    /// Makes `area` of the picture stand for one weight, so that it can be hovered and is outlined.
    void add_cell(Picture& picture, std::int64_t i, std::int64_t j, const figure::Rect& area,
                  float end) const;

    const DrawContext& context() const { return *context_; }

private:
    const DrawContext* context_;
    HeadsView kind_;
    std::int64_t batch_, head_, other_;
};

/// What the pages of weights show: every head, or one difference, or one mean.
std::vector<Reading> readings_of(const DrawContext& context);
/// The one in focus: view.head's, or the difference, or the mean.
Reading reading_in_focus(const DrawContext& context);

/// The query row that is spoken of, and the key if the cell that is spoken of has one (else -1).
struct SpokenPlace {
    std::int64_t row = 0, key = -1;
};
SpokenPlace spoken_place(const DrawContext& context);

/// The largest weight among the readings, over all rows, rounded up to a tenth: where widths and colours end.
/// It does not depend on the row, so that rows compare.
float scale_end(const DrawContext& context, const std::vector<Reading>& readings);

/// One weight that is drawn as a line from its query to its key.
struct Link {
    std::int64_t i = 0, j = 0;
    float value = 0;
    bool strong = false; ///< of the query row that is spoken of
};

/// From which weight on lines are drawn, so that a long sentence can be read. No row that reads anything is
/// without a line, as its largest weight is at least 1/Tk.
struct LinkThresholds {
    float spoken = 0.10F; ///< in the row that is spoken of
    float others = 0.10F; ///< in other rows
};
LinkThresholds link_thresholds(const Dims& dims);

/// The lines of a figure, none for masked keys (their weights are 0) nor for rows that are still to come
/// while rows are stepped through. Those that are there whichever row is spoken of come first.
std::vector<Link> links_of(const Reading& reading, std::int64_t spoken_row);

} // namespace headscope::app
