#include "app/draw/effects/signed_cells.h"
#include "app/draw/kit/controls.h"
#include "app/draw/matrix/matrix.h"
#include "app/draw/pages/weight_parts.h"
#include "core/base/overloaded.h"
#include "core/checkpoint/files/packaged_models.h"
#include "tests/catch.h"
#include "tests/gui/support/user.h"
#include "tests/test_data.h"

#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>

// Draws every meaning in the manual's table of colors twice: as it is, and as its opposite. Without their
// colors the two pictures still have to differ.

namespace headscope::test {

using namespace headscope::app;
namespace {

std::string place(const figure::Point& at) {
    return std::to_string(std::lround(at.x)) + "," + std::to_string(std::lround(at.y)) + " ";
}
std::string place(const figure::Rect& area) {
    return place(figure::Point{area.x, area.y}) + place(figure::Point{area.right(), area.bottom()});
}

/// Returns a picture without its colors: shapes, texts, and the edges in images.
std::string without_colours(const figure::Scene& scene) {
    std::string out;
    const auto filled = [](figure::Color colour) { return figure::is_visible(colour) ? "1" : "0"; };
    for (const figure::SceneItem& item : scene.items)
        std::visit(
            Overloaded{
                [&](const figure::RectItem& i) {
                    out += "rect " + place(i.area) + filled(i.fill) + filled(i.stroke) + " " +
                           std::to_string(figure::is_visible(i.stroke) ? i.stroke_width : 0) +
                           std::to_string(i.radius) + "\n";
                },
                [&](const figure::LineItem& i) { out += "line " + place(i.from) + place(i.to) + "\n"; },
                [&](const figure::CurveItem& i) { out += "curve " + place(i.from) + place(i.to) + "\n"; },
                [&](const figure::PolygonItem& i) {
                    out += "polygon ";
                    for (const figure::Point& at : i.points)
                        out += place(at);
                    out += "\n";
                },
                [&](const figure::BandItem& i) {
                    out += "band ";
                    for (const figure::Point& at : i.edge)
                        out += place(at);
                    out += "\n";
                },
                [&](const figure::TextItem& i) { out += "text " + place(i.at) + i.text + "\n"; },
                [&](const figure::GridItem& i) {
                    out += "image ";
                    for (std::size_t n = 1; n < i.pixels->size(); ++n)
                        out += (*i.pixels)[n] == (*i.pixels)[n - 1] ? '0' : '1';
                    out += "\n";
                },
                [](const figure::ClipItem&) {}},
            item);
    return out;
}

/// Lines that begin with this.
std::string only(const std::string& picture, const std::string& kind) {
    std::istringstream lines(picture);
    std::string out;
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with(kind))
            out += line + "\n";
    return out;
}

/// A place to draw into, on a small problem.
struct Drawing {
    User user{"first-lesson"};
    figure::TextMeasure measure = [](std::string_view text, figure::Font, float size) {
        return 0.6F * size * static_cast<float>(text.size());
    };
    Picture picture;
    DrawContext context{user.shown(), user.view(), theme(false), measure, 600, 400};
    std::string drawn() const { return without_colours(picture.scene); }
};

std::string canvas_of(const User& user) {
    return without_colours(user.program.canvas().scene);
}

/// One cell of a matrix, `side` wide, without its number.
std::string cell(float side, float value, bool forbidden = false) {
    Drawing drawing;
    MatrixSpec spec{.tensor = TensorId::weights,
                    .row_axis = 2,
                    .col_axis = 3,
                    .rows = 1,
                    .cols = 2,
                    .cell_w = side,
                    .cell_h = side,
                    .fill = CellFill::diverging};
    spec.value = [value](std::int64_t, std::int64_t col) { return col == 0 ? 0.0F : value; };
    spec.forbidden = [forbidden](std::int64_t, std::int64_t col) { return forbidden && col == 1; };
    draw_matrix(drawing.picture, drawing.context, spec);
    return drawing.drawn();
}

std::string masked_in(bool a) {
    Drawing drawing;
    draw_masked_on_one_side(drawing.picture, drawing.context, {0, 0, 30, 30}, a ? 1.0F : -1.0F);
    return drawing.drawn();
}

/// The lines of head 0 − head 1, or of head 1 − head 0.
std::string links(bool swapped) {
    User user("first-lesson");
    user.act(ShowWeightsAs{WeightsView::arcs});
    user.act(ShowHeads{HeadsView::difference});
    user.act(PickHead{swapped ? 1 : 0});
    user.act(CompareWith{swapped ? 0 : 1});
    return only(canvas_of(user), "curve");
}

std::string edited(bool is) {
    User user("first-lesson");
    user.act(SetFlash{false});
    user.act(GoTo{StageGroup::output});
    const float before = user.problem().weights.W_O->at(5, 1);
    user.act(EditCell{{TensorId::W_O, {5, 1, 0, 0}}, is ? before + 1e-5F : before});
    return only(canvas_of(user), "polygon");
}

std::string ablated(bool is) {
    User user("first-lesson");
    user.act(GoTo{StageGroup::split});
    if (is)
        user.act(SetGain{1, 0});
    return only(canvas_of(user), "rect");
}

/// Two heads' parts of one bar, or the bar of their sum.
std::string parts(bool several) {
    Drawing drawing;
    MatrixSpec spec{.tensor = TensorId::output,
                    .row_axis = 1,
                    .col_axis = 2,
                    .rows = 1,
                    .cols = 1,
                    .cell_w = 60,
                    .cell_h = 30};
    spec.head_contribution = [several](std::int64_t, std::int64_t, std::int64_t head) {
        return several ? 0.4F : head == 0 ? 0.8F : 0.0F;
    };
    draw_matrix(drawing.picture, drawing.context, spec);
    return drawing.drawn();
}

/// The columns of q, which two heads own; or with one head alone.
std::string columns_of(bool two) {
    Drawing drawing;
    const MatrixGrid grid{.tensor = TensorId::q,
                          .row_axis = 1,
                          .col_axis = 2,
                          .rows = 1,
                          .cols = 8,
                          .area = {40, 40, 320, 30},
                          .pitch_x = 40,
                          .pitch_y = 30,
                          .map = ""};
    draw_head_bars(drawing.picture, drawing.context, grid, two ? 4 : 8, false);
    return only(drawing.drawn(), "text");
}

struct AtlasUser : User {
    AtlasUser() {
        open(checkpoint::model_folder("pocket"), "When Mary and John went to the shop, John gave a book");
        act(ShowScreen{Screen::atlas});
        settle();
    }
    /// Returns the items around the middle of a control, relative to it.
    std::string around(const std::string& label, float reach) const {
        const auto& spots = program.canvas().hotspots;
        const auto spot = std::ranges::find(spots, label, &Hotspot::label);
        REQUIRE(spot != spots.end());
        const figure::Point middle{spot->area.x + spot->area.w / 2, spot->area.y + spot->area.h / 2};
        figure::Scene near;
        for (const figure::SceneItem& item : program.canvas().scene.items) {
            const auto inside = [&](float x, float y) {
                return std::abs(x - middle.x) < reach && std::abs(y - middle.y) < reach;
            };
            if (const auto* rect = std::get_if<figure::RectItem>(&item);
                rect != nullptr && inside(rect->area.x, rect->area.y) &&
                inside(rect->area.right(), rect->area.bottom()))
                near.items.push_back(item);
            if (const auto* shape = std::get_if<figure::PolygonItem>(&item);
                shape != nullptr && inside(shape->points.front().x, shape->points.front().y))
                near.items.push_back(item);
        }
        figure::Scene moved;
        moved.append(near, -middle.x, -middle.y);
        return without_colours(moved);
    }
};

std::string layer(bool second) {
    const AtlasUser user;
    return user.around(second ? "point L1 H3" : "point L0 H3", 9);
}

std::string chosen(bool is) {
    AtlasUser user;
    const auto& label = user.view().attention.atlas;
    REQUIRE(label.brush.empty());
    // A brush that holds the head L1 H3, or none.
    const float score = (*user.shown().atlas->at(1, 3))[analysis::HeadScore::entropy];
    if (is)
        user.act(BrushScores{{{analysis::HeadScore::entropy, score - 0.01F, score + 0.01F}}});
    return user.around("tile L1 H3", 60);
}

std::string answered(bool right) {
    User user("first-lesson");
    user.act(OpenLesson{"first-lesson"});
    const CourseState& course = user.program.state().course;
    user.act(GoToPage{1 + course.steps()});
    const auto& choices = course.question()->choices;
    int answer = 0;
    while (choices[static_cast<std::size_t>(answer)].correct != right)
        ++answer;
    user.act(AnswerQuestion{0, answer});
    std::string verdicts;
    for (const ScreenText& text : screen_texts())
        if (text.text == "right" || text.text == "your answer" || text.text == "right, your answer")
            verdicts += text.text + "\n";
    return verdicts;
}

std::string switched(bool on) {
    Drawing drawing;
    draw_text_button(drawing.picture, drawing.context, 0, 0, "Embedding alone", on, TogglePlay{});
    return drawing.drawn();
}

/// Returns the signs of this kind that can be read anywhere in the window.
std::string signs(const std::string& sign) {
    std::string out;
    for (const ScreenText& text : screen_texts())
        if (text.visible && text.text.find(sign) != std::string::npos)
            out += text.text + "\n";
    return out;
}

std::string row_sum(bool off) {
    Drawing drawing;
    MatrixSpec spec{.tensor = TensorId::weights, .row_axis = 2, .col_axis = 3, .rows = 1, .cols = 2};
    spec.value = [off](std::int64_t, std::int64_t col) { return off ? 0.0F : static_cast<float>(col); };
    const MatrixGrid grid = draw_matrix(drawing.picture, drawing.context, spec);
    drawing.picture.scene.items.clear();
    draw_row_sums(drawing.picture, drawing.context, grid, spec);
    const std::string drawn = drawing.drawn();
    return drawn.find("⚠") == std::string::npos ? "no sign" : "sign";
}

std::string device(bool fallen) {
    User user("first-lesson");
    user.act(EngineAction{EngineAction::Kind::choose, fallen ? "vulkan:77" : "cpu"});
    return signs("⚠ engine");
}

std::string stored(bool failed) {
    Program::Options options;
    if (failed)
        options.no_state_folder_reason = "Your edits are not autosaved: there is no folder.";
    User user(options);
    user.act(EditCell{{TensorId::W_O, {5, 1, 0, 0}}, 0.25F});
    return signs("⚠ not saved");
}

std::string signed_bar(double value) {
    Drawing drawing;
    draw_signed_bar(drawing.picture, drawing.context.theme, {0, 0, 100, 20}, value, 1);
    return drawing.drawn();
}

std::string signed_cell(double value) {
    Drawing drawing;
    draw_signed_cell(drawing.picture, drawing.context, {0, 0, 12, 12}, value, 1, false);
    return drawing.drawn();
}

using Drawn = std::function<std::string(bool)>;

const std::map<std::string, Drawn>& meanings() {
    static const std::map<std::string, Drawn> all{
        {"a number below 0 in a cell",
         [](bool is) {
             const float value = is ? -0.6F : 0.6F;
             const std::string small = cell(8, value), large = cell(16, value),
                               beside = signed_cell(static_cast<double>(value));
             return small + large + beside;
         }},
        {"a bar of a number below 0", [](bool is) { return signed_bar(is ? -0.5 : 0.5); }},
        {"a weight that the second of two heads reads more", links},
        {"an edited number", edited},
        {"a masked cell", [](bool is) { return cell(20, 0.0F, is); }},
        {"a cell that is masked in A only or in B only", masked_in},
        {"a head whose gain is 0", ablated},
        {"the parts of several heads in one bar", parts},
        {"the columns of a head", columns_of},
        {"the layer of a head on the atlas", layer},
        {"a head that a label or a brush has chosen", chosen},
        {"a right or wrong answer", answered},
        {"a switch that is on", switched},
        {"a row whose weights do not add up to 1", row_sum},
        {"a device that fell out", device},
        {"changes that could not be stored", stored}};
    return all;
}

/// The first column of the manual's table.
std::vector<std::string> listed() {
    std::ifstream file(test_data("/../../assets/manual/colours.md"));
    REQUIRE(file);
    std::vector<std::string> rows;
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("| ") && !line.starts_with("| what") && !line.starts_with("| ---"))
            rows.push_back(line.substr(2, line.find(" |", 2) - 2));
    return rows;
}

} // namespace

TEST_CASE("no meaning stands in a colour alone", "[gui][colours][signs]") {
    const std::vector<std::string> rows = listed();
    CHECK(rows.size() == meanings().size());
    for (const std::string& meaning : rows) {
        INFO(meaning);
        const auto drawn = meanings().find(meaning);
        REQUIRE(drawn != meanings().end());
        CHECK(drawn->second(true) != drawn->second(false));
    }
}

TEST_CASE("a dash marks numbers below 0 in cells of every size that has room for it",
          "[gui][colours][signs]") {
    for (const float side : {6.0F, 9.0F, 13.0F, 20.0F}) {
        INFO(side << " pixels");
        CHECK(cell(side, -0.6F) != cell(side, 0.6F));
        if (side >= texture_below) // for smaller cells the comparison includes the edges of colors
            CHECK(cell(side, -0.001F) == cell(side, 0.001F));
    }
    CHECK(signed_cell(-0.7) != signed_cell(0.7));
}

} // namespace headscope::test
