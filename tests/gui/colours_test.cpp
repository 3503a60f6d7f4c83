#include "app/shell/gl/offscreen.h"
#include "app/shell/program.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <cmath>

// Compares colors on screen with the numbers that they represent, pixel by pixel.

namespace headscope::test {

using namespace headscope::app;
namespace {

figure::Color pixel(const Image& image, float x, float y) {
    const auto at =
        (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(x)) *
        4;
    return figure::rgb(
        static_cast<std::uint32_t>(image.rgba[at] << 16 | image.rgba[at + 1] << 8 | image.rgba[at + 2]));
}

/// Returns true if an outline passes over the point or within 1.5 pixels of it.
bool under_outline(const figure::Scene& scene, float x, float y) {
    constexpr float near = 1.5F;
    return std::ranges::any_of(scene.items, [&](const figure::SceneItem& item) {
        const auto* frame = std::get_if<figure::RectItem>(&item);
        if (frame == nullptr || frame->stroke >> 24 == 0 || frame->fill >> 24 != 0)
            return false;
        const figure::Rect& a = frame->area;
        const float in = frame->stroke_width + near;
        const figure::Rect outer{a.x - near, a.y - near, a.w + 2 * near, a.h + 2 * near};
        const figure::Rect inner{a.x + in, a.y + in, a.w - 2 * in, a.h - 2 * in};
        return outer.contains(x, y) && !inner.contains(x, y);
    });
}

const Ramp& ramp_of(const MatrixGrid& grid, const Theme& theme, const Dims& dims) {
    if (grid.map == "diverging")
        return theme.diverging;
    if (grid.map == "neutral")
        return theme.neutral;
    REQUIRE(grid.map == "head");
    return theme.head(grid.origin[1], dims.H).ramp;
}

struct Count {
    int exact = 0, masked = 0, covered = 0;
};

/// Every cell of every heatmap of the weights, against a trace made without the window.
Count check_weights(const std::string& preset, const std::string& sentence, project::MaskChoice mask,
                    bool dark, float scale) {
    Program::Options options;
    options.recipe.preset = preset;
    options.recipe.sentence = sentence;
    options.recipe.mask = mask;
    options.device = "cpu";
    Program program(options);
    program.state().view.numbers = false;
    program.state().view.dark = dark;
    program.settle();
    const Image image = render_offscreen(program, 1600, 1000, scale);
    const Problem& problem = program.state().document->problem;
    const Trace trace = computed(problem);
    const Tensor& weights = *trace.stage(TensorId::weights);
    const MaskRows allowed(problem.mask, problem.dims);
    const Theme& colours = theme(dark);
    Count count;
    for (const MatrixGrid& grid : program.canvas().grids) {
        if (!grid.heatmap)
            continue;
        REQUIRE(grid.tensor == TensorId::weights);
        CHECK(grid.low == 0);
        CHECK(grid.high == 1);
        const Ramp& ramp = ramp_of(grid, colours, problem.dims);
        const bool texture = grid.gap == 0;
        for (std::int64_t i = 0; i < grid.rows; ++i)
            for (std::int64_t j = 0; j < grid.cols; ++j) {
                const figure::Rect cell = grid.cell(i, j);
                const bool may = allowed.allows(0, grid.origin[1], i, j);
                // A masked cell is hatched: a quarter of the way in is its background.
                const float part = may || texture ? 0.5F : 0.25F;
                const float x = cell.x + cell.w * part, y = cell.y + cell.h * part;
                REQUIRE(x < 1600);
                REQUIRE(y < 1000);
                if (under_outline(program.canvas().scene, x, y)) {
                    ++count.covered;
                    continue;
                }
                const Index at = grid.index(i, j);
                const float value = weights.at(at[0], at[1], at[2], at[3]);
                const figure::Color seen = pixel(image, x * scale, y * scale);
                const figure::Color wanted =
                    may       ? ramp_color(ramp, (value - grid.low) / (grid.high - grid.low))
                    : texture ? colours.line
                              : colours.panel;
                INFO(preset << (dark ? " dark" : " light") << " head " << grid.origin[1] << " row " << i
                            << " column " << j << " value " << value << " at " << x << ", " << y);
                if (seen != wanted)
                    CHECK(seen == wanted);
                ++(may ? count.exact : count.masked);
            }
    }
    return count;
}

} // namespace

TEST_CASE("scores are coloured by how far they are below the largest of their row", "[gui][colours]") {
    const bool dark = GENERATE(false, true);
    const ScoreScale scale = GENERATE(ScoreScale::row, ScoreScale::head, ScoreScale::all);
    // Cells of their own, and a map that is one image.
    const std::string sentence =
        GENERATE("The cat sat down", "the dog and the cat saw a bird in the old garden "
                                     "while the farmer fed the horse and the cow near "
                                     "the house by the river and the sun was warm");
    const StageGroup stage = GENERATE(StageGroup::scores, StageGroup::masked);
    Program::Options options;
    options.recipe.sentence = sentence;
    options.recipe.mask = project::MaskChoice::causal;
    options.device = "cpu";
    Program program(options);
    program.state().view.numbers = false;
    program.state().view.dark = dark;
    program.state().view.reduced_motion = true; // the page has arrived
    program.act(GoTo{stage});
    program.act(SetScoreScale{scale});
    program.settle();
    const Image image = render_offscreen(program, 1600, 1000, 1);
    const Problem& problem = program.state().document->problem;
    const Trace trace = computed(problem);
    int seen = 0;
    for (const MatrixGrid& grid : program.canvas().grids) {
        if (!grid.heatmap)
            continue;
        CHECK(grid.relative_to_row_max == (scale == ScoreScale::row));
        const Tensor& scores = *trace.stage(grid.tensor);
        const auto value = [&](std::int64_t h, std::int64_t i, std::int64_t j) {
            return scores.at(0, h, i, j);
        };
        const std::int64_t h = grid.origin[1], T = problem.dims.Tq;
        float low = INFINITY, high = -INFINITY;
        for (std::int64_t g = scale == ScoreScale::head ? h : 0; g < (scale == ScoreScale::head ? h + 1 : 2);
             ++g)
            for (std::int64_t i = 0; i < T; ++i)
                for (std::int64_t j = 0; j < T; ++j)
                    if (std::isfinite(value(g, i, j))) {
                        low = std::min(low, value(g, i, j));
                        high = std::max(high, value(g, i, j));
                    }
        const Ramp& ramp = ramp_of(grid, theme(dark), problem.dims);
        for (std::int64_t i = 0; i < grid.rows; ++i) {
            float top = -INFINITY;
            for (std::int64_t j = 0; j < T; ++j)
                top = std::max(top, value(h, i, j));
            for (std::int64_t j = 0; j < grid.cols; ++j) {
                const figure::Rect cell = grid.cell(i, j);
                const float x = cell.x + cell.w / 2, y = cell.y + cell.h / 2, score = value(h, i, j);
                if (!std::isfinite(score) || x >= 1600 || y >= 1000 ||
                    under_outline(program.canvas().scene, x, y))
                    continue;
                const float place =
                    scale == ScoreScale::row ? (score - top + 8) / 8 : (score - low) / (high - low);
                INFO("head " << h << " row " << i << " column " << j << " score " << score);
                if (pixel(image, x, y) != ramp_color(ramp, std::clamp(place, 0.0F, 1.0F)))
                    CHECK(pixel(image, x, y) == ramp_color(ramp, std::clamp(place, 0.0F, 1.0F)));
                ++seen;
            }
        }
    }
    CHECK(seen >= 12);
}

TEST_CASE("the key of the colour scale goes through the three scales of scores", "[gui][colours]") {
    User user;
    user.act(GoTo{StageGroup::scores});
    const bool same = user.view().same_scale;
    for (const ScoreScale next : {ScoreScale::head, ScoreScale::all, ScoreScale::row}) {
        user.press_key(GLFW_KEY_O);
        CHECK(user.view().attention.score_scale == next);
    }
    CHECK(user.view().same_scale == same); // that of weights
    CHECK(screen_shows("by row, score − row’s largest"));
    user.act(ShowHeads{HeadsView::difference});
    CHECK_FALSE(screen_shows("row’s largest"));
}

TEST_CASE("cells have exactly the colours of their weights", "[gui][colours]") {
    const bool dark = GENERATE(false, true);
    SECTION("the first lesson") {
        const Count count = check_weights("first-lesson", "", project::MaskChoice::none, dark, 1);
        CHECK(count.exact + count.covered == 2 * 4 * 4);
        CHECK(count.exact == 2 * 4 * 4);
    }
    SECTION("at one and a half times the size") {
        CHECK(check_weights("first-lesson", "", project::MaskChoice::none, dark, 1.5F).exact == 2 * 4 * 4);
    }
    SECTION("eight heads, as textures") {
        const Count count = check_weights("eight-experts", "", project::MaskChoice::none, dark, 1);
        CHECK(count.covered * 4 < count.exact);
        CHECK(count.exact > 8 * 12 * 12 / 2);
    }
    SECTION("a causal mask") {
        const Count count = check_weights("first-lesson", "", project::MaskChoice::causal, dark, 1);
        CHECK(count.exact == 2 * 10);
        CHECK(count.masked == 2 * 6);
    }
    SECTION("a causal mask over eight heads") {
        const Count count = check_weights("eight-experts", "", project::MaskChoice::causal, dark, 1);
        CHECK(count.exact > 200);
        CHECK(count.masked > 200);
    }
}

} // namespace headscope::test
