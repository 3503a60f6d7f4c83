#pragma once

#include "app/draw/kit/picture.h"
#include "core/analysis/difference.h"

#include <array>
#include <optional>
#include <string>

namespace headscope::app {

/// Compares a baseline (A) with the latest trace (B). Differences are computed on demand and cached until A,
/// B, the batch entry or the stage changes. For use by one thread.
class Comparison {
public:
    void mark(Shown baseline, std::string name);
    void drop();
    /// Sets the nodes around A's attention, for views that show those of B; null while they are not known.
    void set_baseline_block(const checkpoint::RunPartPtr& block);
    /// Sets B, the batch entry and the current stage. Does nothing if they are unchanged. Otherwise discards
    /// the cached differences, which are large for many long heads.
    void follow(const Shown& now, std::int64_t batch, StageGroup page);

    bool marked() const { return baseline_.trace != nullptr; }
    const Shown& baseline() const { return baseline_; } ///< A; only when marked
    const Shown& now() const { return now_; }           ///< B
    const std::string& name() const { return name_; }   ///< name of A: "as built", "after edit W_O[5, 1]"
    /// The reason why A and B cannot be compared, one sentence; empty if they can.
    const std::string& obstacle() const { return obstacle_; }
    /// Returns true while A belongs to another layer and is being computed for the one on screen.
    bool is_pending() const;
    bool comparable() const { return marked() && obstacle_.empty(); }

    /// Null if A and B are not comparable or one of them lacks the tensor.
    const analysis::TensorDifference* of(TensorId id) const;
    /// B − A at an address; requires that of(cell.tensor) is not null. For logits and probabilities only one
    /// row exists, see RunPart.
    float change_at(const CellAddress& cell) const;
    /// Like B, except that the result tensors of the stage (not the factors) contain B − A. Requires
    /// comparable().
    const Shown& difference(StageGroup page) const;
    /// The end of the stage's color scale: the largest change in its result tensors, rounded up to a tenth
    /// (below a tenth to one significant digit).
    float limit(StageGroup page) const;

private:
    void reset();

    Shown baseline_, now_;
    std::string name_, obstacle_;
    std::int64_t batch_ = 0;
    std::optional<StageGroup> followed_page_;
    mutable std::array<std::optional<analysis::TensorDifference>, tensor_count> differences_;
    mutable std::optional<StageGroup> page_;
    mutable Shown difference_;
};

/// The tensors that the view of a stage shows as results.
std::span<const TensorId> results_of(StageGroup page);
/// The tensor whose change is reported per head: contributions if the view itself has no heads.
TensorId tensor_compared_by_head(const ViewState& view);
/// The current cell of the canvas, also for panels, which show B next to a canvas with B − A. Empty while
/// context.shown does not contain the number.
std::optional<CellAddress> current_cell_on_canvas(const DrawContext& context);

/// The end of a symmetric scale: rounded up to a tenth, below a tenth to one significant digit; at least
/// 1e-6.
float symmetric_end(float largest);

/// The side on screen if `asked` was requested: B if A is not comparable.
Compare side_to_show(const Comparison& comparison, Compare asked);
/// Returns true if the view can show B − A. Arcs, text and graph show fractions of attention and always show
/// B.
bool draws_difference(const ViewState& view);

/// The context for a factor of a product: in B − A it shows B.
DrawContext factor_context(const DrawContext& context);

/// "output, B − A" in a difference, otherwise the name itself.
std::string difference_name(const DrawContext& context, const std::string& name);
/// "2 cells changed" for an input that differs from A, otherwise `otherwise`.
std::string changed_text(const DrawContext& context, TensorId input, const std::string& otherwise);

/// The bar above the canvas while a baseline is marked: names the side on screen and switches between A, B
/// and B − A. context.showing is the side on screen.
Picture draw_compare_bar(const DrawContext& context);
inline constexpr float compare_bar_height = 44.0F;

} // namespace headscope::app
