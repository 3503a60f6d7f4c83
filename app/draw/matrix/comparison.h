#pragma once

#include "app/draw/kit/picture.h"
#include "core/analysis/difference.h"

#include <array>
#include <optional>
#include <string>

namespace headscope::app {

/// A baseline (A), what it is compared with (B, the newest trace), and their differences, each computed when
/// it is first asked for and kept until A, B, the batch entry or the page changes. For one thread.
class Comparison {
public:
    void mark(Shown baseline, std::string name);
    void drop();
    /// What A computes around its attention, where the page shows that of B; null while it is not known.
    void know_around(const checkpoint::BlockTracePtr& block);
    /// B, the batch entry and the page shown. Costs nothing when they are what they were; differences of a
    /// page that is left are let go, since those of many long heads are large.
    void follow(const Shown& now, std::int64_t batch, StageGroup page);

    bool marked() const { return baseline_.trace != nullptr; }
    const Shown& baseline() const { return baseline_; } ///< A; only when marked
    const Shown& now() const { return now_; }           ///< B
    const std::string& name() const { return name_; }   ///< of A: "as built", "after edit W_O[5, 1]"
    /// Why A and B cannot be compared, one sentence; empty when they can.
    const std::string& obstacle() const { return obstacle_; }
    /// Whether A is of another layer, and is being computed for the one on screen.
    bool coming() const;
    bool comparable() const { return marked() && obstacle_.empty(); }

    /// Null when not comparable, or where A or B lacks the tensor.
    const analysis::TensorDifference* of(TensorId id) const;
    /// B − A at an address; the tensor has a difference. Of logits and probabilities the row, see BlockTrace.
    float change_at(const CellAddress& cell) const;
    /// Like B, but the tensors that a page draws as its own (not as factors) hold B − A. Only when
    /// comparable.
    const Shown& difference(StageGroup page) const;
    /// The largest change among those tensors, rounded up to a tenth (below a tenth to one digit): where the
    /// colours of the page end.
    float limit(StageGroup page) const;

private:
    void forget();

    Shown baseline_, now_;
    std::string name_, obstacle_;
    std::int64_t batch_ = 0;
    std::optional<StageGroup> followed_page_;
    mutable std::array<std::optional<analysis::TensorDifference>, tensor_count> differences_;
    mutable std::optional<StageGroup> page_;
    mutable Shown difference_;
};

/// The tensors that the page of a stop shows as results.
std::span<const TensorId> results_of(StageGroup page);
/// What a page's change is told by, head by head: contributions where the page itself has no heads.
TensorId told_by_head(const ViewState& view);
/// The cell that the canvas speaks of, also for panels, which show B beside a canvas of B − A. Nothing while
/// context.shown does not hold the number.
std::optional<CellAddress> spoken_on_canvas(const DrawContext& context);

/// The end of a symmetric scale: rounded up to a tenth, below a tenth to one digit; at least 1e-6.
float symmetric_end(float largest);

/// What is on screen, given what was asked for: B where A does not fit.
Compare effective(const Comparison& comparison, Compare asked);
/// Whether a page can draw B − A; arcs, text and graph show shares of attention and stay at B.
bool draws_difference(const ViewState& view);

/// In B − A, a factor of a product is drawn as it is now.
DrawContext factor_context(const DrawContext& context);

/// "output, B − A" in a difference, else the name itself.
std::string difference_name(const DrawContext& context, const std::string& name);
/// "2 cells changed" for an input that differs from A, else `otherwise`.
std::string changed_text(const DrawContext& context, TensorId input, const std::string& otherwise);

/// The bar above the canvas where a baseline is marked: what is on screen, and the switch between A, B and
/// B − A. context.showing says what the canvas shows.
Picture draw_compare_bar(const DrawContext& context);
inline constexpr float compare_bar_height = 44.0F;

} // namespace headscope::app
