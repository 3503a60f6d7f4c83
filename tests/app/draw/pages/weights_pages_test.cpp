#include "app/draw/kit/format.h"
#include "app/draw/kit/free_space.h"
#include "app/draw/matrix/matrix.h"
#include "tests/app/support/weights_fixture.h"
#include "tests/catch.h"

#include <numbers>
#include <set>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;

namespace {

constexpr WeightsView all_views[] = {WeightsView::heatmap, WeightsView::arcs, WeightsView::text,
                                     WeightsView::graph};

template<class Item>
std::vector<Item> items(const Picture& picture) {
    std::vector<Item> out;
    for (const figure::SceneItem& item : picture.scene.items)
        if (const auto* found = std::get_if<Item>(&item))
            out.push_back(*found);
    return out;
}

std::vector<std::string> texts(const Picture& picture) {
    std::vector<std::string> out;
    for (const figure::TextItem& item : items<figure::TextItem>(picture))
        out.push_back(item.text);
    return out;
}

bool says(const Picture& picture, const std::string& part) {
    const auto all = texts(picture);
    return std::ranges::any_of(all,
                               [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

bool has_text(const Picture& picture, const std::string& whole) {
    const auto all = texts(picture);
    return std::ranges::find(all, whole) != all.end();
}

/// The four corners of a line of text, turned as it is, from capitals' top to just under the baseline.
std::array<figure::Point, 4> corners(const figure::TextItem& text) {
    const float width = rough_measure(text.text, text.font, text.size);
    const float left = text.align == figure::Align::left     ? 0
                       : text.align == figure::Align::center ? -width / 2
                                                             : -width;
    const float top = -0.74F * text.size, bottom = 0.1F * text.size;
    const float turn = text.angle * std::numbers::pi_v<float> / 180;
    const auto at = [&](float x, float y) {
        return figure::Point{text.at.x + x * std::cos(turn) - y * std::sin(turn),
                             text.at.y + x * std::sin(turn) + y * std::cos(turn)};
    };
    return {at(left, top), at(left + width, top), at(left + width, bottom), at(left, bottom)};
}

/// Two convex shapes do not overlap if a side of one of them separates them.
bool overlap(const std::array<figure::Point, 4>& a, const std::array<figure::Point, 4>& b) {
    const auto apart = [](const std::array<figure::Point, 4>& p, const std::array<figure::Point, 4>& q) {
        for (std::size_t n = 0; n < 4; ++n) {
            const figure::Point normal{p[(n + 1) % 4].y - p[n].y, p[n].x - p[(n + 1) % 4].x};
            const auto along = [&](figure::Point v) { return v.x * normal.x + v.y * normal.y; };
            const auto [p0, p1] = std::ranges::minmax(p, {}, along);
            const auto [q0, q1] = std::ranges::minmax(q, {}, along);
            if (along(p1) <= along(q0) + 0.01F || along(q1) <= along(p0) + 0.01F)
                return true;
        }
        return false;
    };
    return !apart(a, b) && !apart(b, a);
}

void check_sound(const Picture& picture, float least_width) {
    const auto written = items<figure::TextItem>(picture);
    for (std::size_t a = 0; a < written.size(); ++a)
        for (std::size_t b = 0; b < a; ++b)
            if (overlap(corners(written[a]), corners(written[b]))) {
                FAIL_CHECK("\"" << written[a].text << "\" covers \"" << written[b].text << "\" at "
                                << written[b].at.x << ", " << written[b].at.y);
            }
    const float right = picture.scene.width, bottom = picture.scene.height;
    CHECK(right >= least_width);
    const auto inside = [&](figure::Point p, const std::string& what) {
        if (!(p.x >= 0 && p.y >= 0 && p.x <= right && p.y <= bottom))
            FAIL_CHECK(what << " at " << p.x << ", " << p.y << " is outside " << right << " x " << bottom);
    };
    for (const figure::TextItem& text : written)
        for (const figure::Point corner : corners(text))
            inside(corner, text.text);
    for (const figure::RectItem& box : items<figure::RectItem>(picture)) {
        inside({box.area.x, box.area.y}, "a box");
        inside({box.area.right(), box.area.bottom()}, "a box");
    }
    for (const figure::CurveItem& curve : items<figure::CurveItem>(picture))
        for (float t = 0; t <= 1; t += 0.125F) {
            const float u = 1 - t;
            inside({u * u * u * curve.from.x + 3 * u * u * t * curve.control_from.x +
                        3 * u * t * t * curve.control_to.x + t * t * t * curve.to.x,
                    u * u * u * curve.from.y + 3 * u * u * t * curve.control_from.y +
                        3 * u * t * t * curve.control_to.y + t * t * t * curve.to.y},
                   "a curve");
        }
    for (const MatrixGrid& grid : picture.grids) {
        inside({grid.area.x, grid.area.y}, "a grid");
        inside({grid.area.right(), grid.area.bottom()}, "a grid");
    }
    std::set<std::string> labels;
    for (const Hotspot& spot : picture.hotspots) {
        inside({spot.area.x, spot.area.y}, spot.label);
        inside({spot.area.right(), spot.area.bottom()}, spot.label);
        INFO(spot.label);
        CHECK(labels.insert(spot.label).second);
    }
}

CellAddress selected_by(const Picture& picture, const std::string& label) {
    const auto spot = std::ranges::find(picture.hotspots, label, &Hotspot::label);
    REQUIRE(spot != picture.hotspots.end());
    const auto change = std::get<Select>(std::get<ViewChange>(spot->action));
    REQUIRE(change.cell.has_value());
    return *change.cell;
}

} // namespace

TEST_CASE("pages of weights keep texts apart and stay inside their picture at any size", "[weights]") {
    for (const std::size_t T : {1U, 2U, 4U, 9U, 14U, 15U, 24U, 64U})
        for (const std::int64_t H : {1, 2, 4, 9, 16})
            for (const bool small : {false, true})
                for (const WeightsView as : all_views)
                    for (const HeadsView heads : {HeadsView::each, HeadsView::difference, HeadsView::mean}) {
                        // The longest pages repeat what shorter ones show, once per head.
                        if ((heads == HeadsView::difference && H == 1) || (T == 64 && H > 9))
                            continue;
                        WeightsFixture fixture;
                        fixture.H = H;
                        fixture.queries = WeightsFixture::sentence(T);
                        fixture.causal = T % 2 == 1;
                        if (H == 2)
                            fixture.roles = {"the subject of a verb, or whatever stands for it",
                                             "previous token"};
                        const Shown shown = fixture.make();
                        ViewState view = weights_view(as);
                        view.heads_view = heads;
                        view.dark = small;
                        if (H > 1)
                            view.head = 1, view.compared_head = 0;
                        const float width = small ? 836 : 960, height = small ? 568 : 848;
                        INFO("T " << T << ", H " << H << ", view " << static_cast<int>(as) << ", heads "
                                  << static_cast<int>(heads) << ", width " << width);
                        check_sound(draw_page(shown, view, width, height), width);
                    }
}

TEST_CASE("cross-attention is drawn between two sentences of different lengths", "[weights]") {
    for (const auto& [queries, keys] : {std::pair<std::size_t, std::size_t>{4, 7}, {7, 1}, {2, 40}, {40, 3}})
        for (const WeightsView as : all_views)
            for (const bool small : {false, true}) {
                WeightsFixture fixture;
                fixture.queries = WeightsFixture::sentence(queries);
                fixture.keys = WeightsFixture::sentence(keys);
                fixture.keys.front() = "Hund";
                const Shown shown = fixture.make();
                const float width = small ? 836 : 960;
                INFO(queries << " queries, " << keys << " keys, view " << static_cast<int>(as));
                const Picture picture = draw_page(shown, weights_view(as), width, small ? 568 : 848);
                check_sound(picture, width);
                if (as != WeightsView::heatmap)
                    CHECK(has_text(picture, "Hund"));
            }
}

TEST_CASE("numbers on pages of weights are the trace's, rounded", "[weights]") {
    WeightsFixture fixture;
    fixture.H = 3;
    const Shown shown = fixture.make();
    for (const WeightsView as : all_views)
        for (const HeadsView heads : {HeadsView::each, HeadsView::difference, HeadsView::mean}) {
            ViewState view = weights_view(as);
            view.heads_view = heads;
            view.row = 3;
            const Picture picture = draw_page(shown, view);
            INFO("view " << static_cast<int>(as) << ", heads " << static_cast<int>(heads));
            for (std::int64_t j = 0; j < 4; ++j) {
                const float a = shown.value({TensorId::weights, {0, 0, 3, j}});
                const float b = shown.value({TensorId::weights, {0, 1, 3, j}});
                const float c = shown.value({TensorId::weights, {0, 2, 3, j}});
                const std::string expected = heads == HeadsView::each         ? number(a, 2)
                                             : heads == HeadsView::difference ? signed_number(a - b, 2)
                                                                              : number((a + b + c) / 3, 2);
                INFO("key " << j << ": " << expected);
                CHECK(has_text(picture, expected));
            }
        }
}

TEST_CASE("every grid of a weight speaks of the cell whose number it shows", "[weights]") {
    const Shown shown = WeightsFixture{}.make();
    for (const WeightsView as : all_views) {
        const Picture picture = draw_page(shown, weights_view(as));
        const auto written = items<figure::TextItem>(picture);
        int numbers = 0;
        for (const MatrixGrid& grid : picture.grids) {
            const auto cell = grid.at(grid.area.x + grid.area.w / 2, grid.area.y + grid.area.h / 2);
            REQUIRE(cell.has_value());
            CHECK(cell->tensor == TensorId::weights);
            for (const figure::TextItem& text : written)
                if (grid.area.contains(text.at.x, text.at.y - 4) && text.text.starts_with("0.")) {
                    CHECK(text.text == number(shown.value(*cell), 2));
                    ++numbers;
                }
        }
        // On a graph, numbers are next to the labels, outside the nodes.
        CHECK(numbers >= (as == WeightsView::graph ? 0 : 8));
    }
}

TEST_CASE("a click on a query word selects what it reads most", "[weights]") {
    WeightsFixture fixture;
    const Shown shown = fixture.make();
    for (const WeightsView as : {WeightsView::arcs, WeightsView::text, WeightsView::graph})
        for (std::int64_t head = 0; head < 2; ++head) {
            ViewState view = weights_view(as);
            view.head = head;
            const Picture picture = draw_page(shown, view);
            for (std::int64_t i = 0; i < 4; ++i) {
                const CellAddress cell =
                    selected_by(picture, "query " + std::to_string(i) + " " +
                                             fixture.queries[static_cast<std::size_t>(i)]);
                CHECK(cell.tensor == TensorId::weights);
                CHECK(cell.at[1] == head);
                CHECK(cell.at[2] == i);
                for (std::int64_t j = 0; j < 4; ++j)
                    CHECK(shown.value(cell) >= shown.value({TensorId::weights, {0, head, i, j}}));
                ViewState after = view;
                after.selected = cell;
                CHECK(says(draw_page(shown, after), "“" + fixture.queries[static_cast<std::size_t>(i)] +
                                                        "”") == (as != WeightsView::text));
            }
        }
}

TEST_CASE("hovering a word's weight does not lie under the place that selects the word", "[weights]") {
    // Otherwise the hovered weight, which counts for more than the selected one, would keep its old row.
    const Shown shown = WeightsFixture{}.make();
    for (const WeightsView as : {WeightsView::arcs, WeightsView::text, WeightsView::graph}) {
        const Picture picture = draw_page(shown, weights_view(as));
        for (const Hotspot& spot : picture.hotspots)
            for (const MatrixGrid& grid : picture.grids) {
                INFO(spot.label);
                CHECK_FALSE(grid.area.contains(spot.area.x + spot.area.w / 2, spot.area.y + spot.area.h / 2));
            }
    }
}

TEST_CASE("masked weights have no number, and a row without keys says so", "[weights]") {
    WeightsFixture fixture;
    fixture.masked_query = 2;
    fixture.causal = true;
    const Shown shown = fixture.make();
    for (const WeightsView as : all_views)
        for (const HeadsView heads : {HeadsView::each, HeadsView::difference, HeadsView::mean}) {
            ViewState view = weights_view(as);
            view.heads_view = heads;
            view.row = 2;
            const Picture nothing = draw_page(shown, view);
            INFO("view " << static_cast<int>(as) << ", heads " << static_cast<int>(heads));
            CHECK(says(nothing, "“sat” may attend to nothing"));
            CHECK_FALSE(has_text(nothing, "0.00"));
            check_sound(nothing, 960);
            view.row = 1;
            const Picture causal = draw_page(shown, view);
            CHECK_FALSE(says(causal, "may attend to nothing"));
            int shown_numbers = 0;
            for (const MatrixGrid& grid : causal.grids)
                for (const figure::TextItem& text : items<figure::TextItem>(causal)) {
                    const bool mean = grid.tensor == TensorId::weights_mean;
                    const std::int64_t i = grid.origin[mean ? 1 : 2], j = grid.origin[mean ? 2 : 3];
                    const bool numeric = !text.text.empty() && text.text.find('.') != std::string::npos;
                    if (numeric && grid.area.contains(text.at.x - 2, text.at.y - 4)) {
                        CHECK(j <= i);
                        ++shown_numbers;
                    }
                }
            CHECK((shown_numbers > 0 || as == WeightsView::graph));
        }
}

TEST_CASE("a difference and a mean say what they are", "[weights]") {
    WeightsFixture fixture;
    fixture.H = 3;
    const Shown shown = fixture.make();
    for (const WeightsView as : {WeightsView::arcs, WeightsView::text, WeightsView::graph}) {
        ViewState view = weights_view(as);
        view.heads_view = HeadsView::difference;
        view.head = 2;
        view.compared_head = 1;
        const Picture difference = draw_page(shown, view);
        CHECK(has_text(difference, "Head 2 − head 1"));
        CHECK(says(difference, "head 2 reads it more"));
        for (const MatrixGrid& grid : difference.grids)
            CHECK_FALSE(grid.shows_own_values);
        view.heads_view = HeadsView::mean;
        const Picture mean = draw_page(shown, view);
        CHECK(has_text(mean, "Mean over 3 heads"));
        for (const MatrixGrid& grid : mean.grids)
            CHECK(grid.tensor == TensorId::weights_mean);
    }
}

TEST_CASE("long words are cut and told in full on hover", "[weights]") {
    WeightsFixture fixture;
    fixture.queries = {"Donaudampfschifffahrt", "is", "long"};
    const Shown shown = fixture.make();
    for (const WeightsView as : all_views) {
        const Picture picture = draw_page(shown, weights_view(as));
        CHECK_FALSE(has_text(picture, "Donaudampfschifffahrt"));
        CHECK(has_text(picture, shortened("Donaudampfschifffahrt", 10)));
        CHECK(std::ranges::count(picture.tips, "Donaudampfschifffahrt", &Tip::text) >= 1);
    }
}

TEST_CASE("what a row reads shows the heads and keys that fit and says how many", "[weights]") {
    WeightsFixture fixture;
    fixture.H = 6;
    fixture.queries = WeightsFixture::sentence(20);
    const Shown shown = fixture.make();
    ViewState view = weights_view(WeightsView::heatmap);
    view.head = 4;
    const DrawContext context{shown, view, theme(false), rough_measure, 960, 848};
    Picture picture;
    picture.scene.width = 960;
    picture.scene.height = 848;
    const float drawn = draw_what_row_reads(picture, context, 500, 160);
    CHECK(drawn > 0);
    CHECK(drawn <= 160);
    CHECK(says(picture, "2 of 6 heads"));
    CHECK(says(picture, "of 20 keys"));
    CHECK(has_text(picture, "Head 4"));
    CHECK(has_text(picture, "Head 0"));
    CHECK_FALSE(has_text(picture, "Head 1"));
    // Every weight that is left out is smaller than all weights shown.
    float least = 1, largest_left_out = 0;
    std::set<std::int64_t> keys;
    std::int64_t before = -1;
    for (const MatrixGrid& grid : picture.grids)
        if (grid.origin[1] == 4) {
            CHECK(grid.origin[3] > before);
            before = grid.origin[3];
            keys.insert(grid.origin[3]);
            least = std::min(least, shown.value({TensorId::weights, grid.origin}));
        }
    for (std::int64_t j = 0; j < 20; ++j)
        if (!keys.contains(j))
            largest_left_out = std::max(largest_left_out, shown.value({TensorId::weights, {0, 4, 2, j}}));
    CHECK(keys.size() >= 4);
    CHECK(least >= largest_left_out);
    Picture none;
    CHECK(draw_what_row_reads(none, context, 500, 60) == 0);
    CHECK(none.scene.items.empty());
}

TEST_CASE("without tokens the numbers of rows and columns stand for them", "[weights]") {
    WeightsFixture fixture;
    Shown shown = fixture.make();
    auto document = std::make_shared<Document>(*shown.document);
    document->problem.tokens.clear();
    shown.document = document;
    for (const WeightsView as : {WeightsView::arcs, WeightsView::text, WeightsView::graph}) {
        const Picture picture = draw_page(shown, weights_view(as));
        CHECK(selected_by(picture, "query 3").at[2] == 3);
        check_sound(picture, 960);
    }
}

TEST_CASE("a title too long beside the switches has its row alone, and the page begins lower", "[weights]") {
    const Shown shown = WeightsFixture{}.make();
    ViewState view;
    view.group = StageGroup::weights;
    const DrawContext context{shown, view, theme(false), rough_measure, 480, 400};
    const std::string title = "Aufmerksamkeitsgewichte", formula = "weights = softmax(masked)";
    Picture picture;
    const float top = draw_weights_head(picture, context, title, formula);
    CHECK(has_text(picture, title));
    CHECK(has_text(picture, formula));
    for (const figure::TextItem& text : items<figure::TextItem>(picture))
        for (const Hotspot& spot : picture.hotspots)
            if (text.text == title || text.text == formula)
                CHECK_FALSE(overlap(text_area(text, rough_measure), spot.area));
    for (const Hotspot& spot : picture.hotspots)
        CHECK(spot.area.bottom() < top);
    Picture brief;
    CHECK(draw_weights_head(brief, context, "Weights", "") < top);
}
