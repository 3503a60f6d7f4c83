#include "app/draw/atlas/atlas_parts.h"
#include "app/draw/kit/format.h"
#include "app/shell/files/exports.h"
#include "app/state/screens/screen.h"
#include "core/analysis/survey/survey_file.h"
#include "core/analysis/survey/surveyor.h"
#include "core/base/file.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/model/text_model.h"
#include "core/checkpoint/run/forward.h"
#include "tests/catch.h"
#include "tests/gui/support/desk.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>
#include <set>

namespace headscope::test {
namespace {

using analysis::HeadScore;

/// Pocket on the atlas, and its user.
struct AtlasDesk : Desk {
    AtlasDesk() {
        begin_recording();
        open(checkpoint::model_folder("pocket"),
             "When Mary and John went to the shop, John gave a book to Mary. When Mary and John went");
        press("Atlas");
        settle();
    }
    AtlasDesk(const AtlasDesk&) = delete;
    AtlasDesk& operator=(const AtlasDesk&) = delete;
    ~AtlasDesk() { end_recording(); }

    const Atlas& atlas() const { return *shown().atlas; }
    const AtlasView& chosen() const { return view().attention.atlas; }
    ResolvedAtlasView look() const { return resolve_atlas_view(atlas(), chosen(), view().attention.pattern); }
    float score(std::int64_t l, std::int64_t h, HeadScore of) const { return (*atlas().at(l, h))[of]; }
    void change(const AtlasChange& to) { act(ViewChange(AttentionChange(to))); }
};

} // namespace

TEST_CASE("the atlas has every score of every head, and the open head's card says why it has its name",
          "[gui][atlas]") {
    AtlasDesk desk;
    REQUIRE(desk.shown().atlas != nullptr);
    CHECK(desk.atlas().L == 4);
    CHECK(desk.atlas().H == 8);
    for (const analysis::HeadScoreInfo& info : analysis::head_scores()) {
        CAPTURE(info.id);
        const bool not_here = analysis::is_asked_for(info) || info.score == HeadScore::share;
        CHECK(desk.atlas().known.test(static_cast<std::size_t>(info.score)) != not_here);
    }
    // The manual's evidence for pocket: induction in layer 2.
    CHECK(desk.score(2, 0, HeadScore::probe_induction) > 0.9F);
    CHECK(screen_shows("Head atlas"));
    CHECK(screen_shows("Every score, all heads"));
    // The card shows both names of a head that has another name in the grid of heads.
    const ResolvedAtlasView look = desk.look();
    int mentioned = 0;
    for (std::int64_t l = 0; l < 4; ++l)
        for (std::int64_t h = 0; h < 8; ++h) {
            desk.act(OpenHead{l, h});
            const auto label = look.labels[static_cast<std::size_t>(l * 8 + h)];
            const std::string here = label ? std::string(analysis::info_of(*label).label.text.english) : "";
            const auto row = desk.program.state().head_grid->row(l);
            const std::string there(row->heads[static_cast<std::size_t>(h)].facts.metrics.label());
            INFO("L" << l << " H" << h << ": " << here << ", " << there);
            const std::string words = there.empty() ? "it has no label" : "its label is “" + there + "”";
            const bool says = screen_text().find("there " + words) != std::string::npos;
            CHECK(says == (here != there));
            mentioned += says;
        }
    CHECK(mentioned > 0);
    desk.act(OpenHead{2, 0});
    desk.press("tile L2 H0");
    CHECK(desk.view().attention.layer == 2);
    CHECK(desk.view().head == 0);
    CHECK(screen_shows("Why it has this label"));
    CHECK(screen_shows("Where it acts most"));
    CHECK(screen_shows(number(static_cast<double>(desk.score(2, 0, HeadScore::probe_induction)), 2)));

    // The number that the card quotes is a weight of the map; a click goes there.
    const auto strongest = desk.atlas().acts->cells.front();
    desk.press("Open head");
    CHECK(desk.view().attention.screen == Screen::stages);
    CHECK(desk.shown().value({TensorId::weights, {0, 0, strongest.i, strongest.j}}) ==
          Approx(strongest.value));
}

TEST_CASE("the card leads from a weight to what its score is made of", "[gui][atlas]") {
    AtlasDesk desk;
    desk.press("tile L2 H0");
    REQUIRE(desk.atlas().acts != nullptr);
    const analysis::PlacedWeight cell = desk.atlas().acts->cells.front();
    // An induction head attends to the key after an earlier token equal to the query's.
    CHECK(desk.atlas().acts->keys[static_cast<std::size_t>(cell.j - 1)] ==
          desk.atlas().acts->queries[static_cast<std::size_t>(cell.i)]);
    desk.press("why " + std::to_string(cell.i) + " " + std::to_string(cell.j));
    desk.settle();
    CHECK(desk.view().attention.screen == Screen::why);
    REQUIRE(desk.shown().why != nullptr);
    CHECK(desk.shown().why->question.query == cell.i);
    CHECK(desk.shown().why->question.key == cell.j);
    CHECK(desk.shown().why->question.head == 0);
    CHECK(desk.shown().value({TensorId::weights, {0, 0, cell.i, cell.j}}) == Approx(cell.value));
}

TEST_CASE("the distributions mark the open head, and no head while the mean of a layer is open",
          "[gui][atlas]") {
    AtlasDesk desk;
    const auto marks = [&] {
        return std::ranges::count_if(desk.program.canvas().scene.items, [](const figure::SceneItem& item) {
            const auto* mark = std::get_if<figure::PolygonItem>(&item);
            return mark != nullptr && mark->points.size() == 3 &&
                   mark->points[1].y - mark->points[0].y == Approx(7) &&
                   mark->points[2].x - mark->points[1].x == Approx(8);
        });
    };
    desk.act(OpenHead{1, 0});
    CHECK(marks() > 4);
    desk.act(SetReadingOptions{{.means = true}});
    CHECK(marks() > 4);
    const std::int64_t L = desk.atlas().L, H = desk.atlas().H;
    for (const auto& [l, h] : {std::pair{std::int64_t{0}, H}, {L - 1, H}, {L, std::int64_t{0}}}) {
        desk.act(OpenHead{l, h});
        desk.act(ShowScreen{Screen::atlas});
        INFO("L" << l << " H" << h);
        REQUIRE(desk.view().attention.layer == l);
        REQUIRE(desk.view().head == h);
        REQUIRE(desk.shown().atlas != nullptr);
        CHECK(marks() == 0);
        CHECK(screen_shows("A mean of heads has no scores of its own"));
        CHECK_FALSE(screen_shows("The head is being measured."));
    }
}

TEST_CASE("brush, search and labels choose the same heads on board, scatter and list", "[gui][atlas]") {
    AtlasDesk desk;
    CHECK_FALSE(desk.look().is_filtered);
    desk.change(BrushScores{{{HeadScore::probe_induction, 0.5F, 1.0F}}});
    std::int64_t expected = 0;
    for (std::int64_t l = 0; l < 4; ++l)
        for (std::int64_t h = 0; h < 8; ++h)
            expected += desk.score(l, h, HeadScore::probe_induction) >= 0.5F ? 1 : 0;
    CHECK(desk.look().chosen_count == expected);
    CHECK(screen_shows(std::to_string(expected) + " heads of 32 selected"));
    desk.change(SearchHeads{"L2"});
    CHECK(desk.look().chosen_count < expected);
    desk.press("List");
    CHECK(screen_shows("L2 H0"));
    desk.press("All heads");
    desk.driver.key(GLFW_KEY_A, GLFW_MOD_ALT);
    CHECK_FALSE(desk.look().is_filtered);
    CHECK(desk.chosen().search.empty());

    desk.press("Scatter");
    desk.press("label previous token");
    CHECK(desk.look().chosen_count >= 1);
    // A threshold changes what heads are called.
    const auto before = desk.look().chosen_count;
    desk.change(SetThreshold{HeadScore::previous, 0.999F});
    CHECK(desk.look().chosen_count < before);
}

TEST_CASE("a rectangle drawn over the scatter chooses the heads in it", "[gui][atlas]") {
    AtlasDesk desk;
    const auto found = desk.driver.find("scatter");
    REQUIRE(found);
    const figure::Rect plot = *found;
    desk.driver.drag(plot.x + plot.w * 0.5F, plot.y + 3, plot.right() - 2, plot.bottom() - 3);
    desk.settle();
    REQUIRE(desk.chosen().brush.size() == 2);
    for (std::int64_t l = 0; l < 4; ++l)
        for (std::int64_t h = 0; h < 8; ++h)
            CHECK(desk.look().chosen[static_cast<std::size_t>(l * 8 + h)] ==
                  (desk.score(l, h, HeadScore::probe_induction) >= desk.chosen().brush.front().low &&
                   desk.score(l, h, HeadScore::copying) >= desk.chosen().brush.back().low &&
                   desk.score(l, h, HeadScore::copying) <= desk.chosen().brush.back().high));
    CHECK(desk.look().chosen_count >= 6);
    // A click beside the points takes it back.
    desk.driver.click(plot.x + plot.w * 0.3F, plot.y + 4);
    desk.settle();
    CHECK(desk.chosen().brush.empty());
}

TEST_CASE("a search that cannot be read says why and keeps the keyboard", "[gui][atlas]") {
    AtlasDesk desk;
    desk.type_over("##find heads", "induct > 0.4");
    CHECK(desk.program.state().field.error.find("there is no score") != std::string::npos);
    for (int letter = 0; letter < 6; ++letter)
        desk.driver.key(GLFW_KEY_BACKSPACE);
    desk.driver.type("ion > 0.4");
    desk.driver.key(GLFW_KEY_ENTER);
    desk.settle();
    CHECK(desk.program.state().field.error.empty());
    CHECK(desk.chosen().search == "induction > 0.4");
}

TEST_CASE("the list of scores is worked with the keyboard and stays inside the window", "[gui][atlas]") {
    AtlasDesk desk;
    const HeadScore before = desk.look().colour;
    const std::int64_t row = desk.view().row;
    desk.press_key(GLFW_KEY_C, GLFW_MOD_ALT);
    REQUIRE(desk.chosen().menu == AtlasMenu::colour);
    std::size_t listed = 0;
    for (const ScreenItem& item : screen_items())
        if (item.window.starts_with("##Popup")) {
            ++listed;
            CHECK(item.reachable());
        }
    CHECK(listed > 10);
    desk.press_key(GLFW_KEY_DOWN);
    desk.press_key(GLFW_KEY_ENTER);
    CHECK(desk.look().colour != before);
    CHECK(desk.chosen().menu == AtlasMenu::none);
    CHECK(desk.view().row == row);
    // A click beside it closes it, and it opens again.
    desk.press("choose y");
    CHECK(desk.chosen().menu == AtlasMenu::y);
    desk.driver.click(4, 400);
    desk.settle();
    CHECK(desk.chosen().menu == AtlasMenu::none);
    desk.choose("choose y", "entropy");
    CHECK(desk.look().y == HeadScore::entropy);
}

TEST_CASE("a list of scores that is higher than its room scrolls to the current one", "[gui][atlas]") {
    Desk desk("first-lesson", "", 860, 480);
    desk.open(checkpoint::model_folder("pocket"), "When Mary and John went");
    desk.act(ShowScreen{Screen::atlas});
    desk.act(OpenAtlasMenu{AtlasMenu::colour});
    const auto& items = screen_items();
    const auto current =
        std::ranges::find_if(items, [](const ScreenItem& one) { return one.label.starts_with("✓"); });
    REQUIRE(current != items.end());
    CHECK(current->reachable());
    CHECK(current->clip.bottom() <= 480);
}

TEST_CASE("scores are chosen from a list; the effect is measured once somebody asks for it", "[gui][atlas]") {
    AtlasDesk desk;
    desk.choose("choose colour by", "ablation effect");
    CHECK(desk.chosen().menu == AtlasMenu::none);
    CHECK(desk.look().colour == HeadScore::effect);
    CHECK(desk.atlas().known.test(static_cast<std::size_t>(HeadScore::effect)));
    for (std::int64_t l = 0; l < 4; ++l)
        for (std::int64_t h = 0; h < 8; ++h)
            CHECK(desk.atlas().at(l, h)->has(HeadScore::effect));
    desk.choose("choose colour by", "fraction of output");
    for (std::int64_t l = 0; l < 4; ++l) {
        float sum = 0;
        for (std::int64_t h = 0; h < 8; ++h)
            sum += desk.score(l, h, HeadScore::share);
        CHECK(sum == Approx(1.0F));
    }
    CHECK(desk.atlas().needle == nullptr);
    desk.choose("choose colour by", "retrieval");
    REQUIRE(desk.atlas().needle != nullptr);
    CHECK(desk.atlas().needle->texts == 30);
    CHECK(desk.score(2, 7, HeadScore::retrieval) == static_cast<float>(desk.atlas().needle->scores[2][7]));
    desk.press("Alike");
    REQUIRE(desk.atlas().similarity != nullptr);
    CHECK(desk.atlas().similarity->places.size() == 32);
    CHECK(screen_shows("mapped to a plane by"));
}

TEST_CASE("pinned heads are compared, and the atlas follows an edit", "[gui][atlas]") {
    AtlasDesk desk;
    desk.press("tile L2 H0");
    desk.press("Pin");
    desk.press("tile L0 H4");
    desk.driver.key(GLFW_KEY_P, GLFW_MOD_ALT);
    REQUIRE(desk.chosen().pinned.size() == 2);
    desk.press("Compare 2");
    CHECK(screen_shows("Pinned heads"));
    // Each map names its rows and columns, and one legend says what the marks are.
    const Picture& page = desk.program.canvas();
    for (const char* const name : {"tile L2 H0", "tile L0 H4"}) {
        const auto tile = std::ranges::find(page.hotspots, std::string(name), &Hotspot::label);
        REQUIRE(tile != page.hotspots.end());
        const figure::Rect& map = tile->area;
        int beside = 0, above = 0;
        for (const TokenWord& word : page.token_words) {
            const float x = word.area.x + word.area.w / 2, y = word.area.y + word.area.h / 2;
            beside +=
                map.x - word.area.right() < 20 && word.area.right() <= map.x && y > map.y && y < map.bottom();
            above += map.y - word.area.bottom() < 20 && word.area.bottom() <= map.y && x > map.x &&
                     word.area.x < map.right();
        }
        INFO(name);
        CHECK(beside > 5);
        CHECK(above > 5);
    }
    CHECK(screen_shows("key token j"));
    CHECK(std::ranges::count_if(page.scene.items, [](const figure::SceneItem& item) {
              const auto* const text = std::get_if<figure::TextItem>(&item);
              return text != nullptr && text->text == "weight";
          }) == 1);
    desk.press("unpin L2 H0");
    CHECK(desk.chosen().pinned.size() == 1);
    desk.driver.key(GLFW_KEY_2, GLFW_MOD_CONTROL);
    desk.press("This text");

    // Without the head that attends to the previous token, the induction heads do not work.
    const float before = desk.score(2, 0, HeadScore::probe_induction);
    desk.press("tile L0 H4");
    desk.press("Ablate");
    desk.settle();
    CHECK(desk.score(2, 0, HeadScore::probe_induction) < before - 0.1F);
    CHECK(desk.score(0, 4, HeadScore::probe_previous) > 0.9F); // its own weights stay
}

TEST_CASE("a survey is shown on the atlas, with texts that a click makes the prompt", "[gui][atlas]") {
    using namespace analysis;
    const TemporaryFolder folder;
    const std::string texts = folder.file("texts.txt"), path = folder.file("survey.db");
    write_file_atomically(texts, "Mary went home. Mary slept.\nJohn had a book. John had a shop.\n");
    const auto pocket = checkpoint::open_text_model(checkpoint::model_folder("pocket"));
    const Corpus corpus = Corpus::open(texts, {}, Progress());
    const PieceCutter cutter(pocket, 64);
    const auto write = [&](const std::string& fingerprint) {
        SurveyPlan plan;
        plan.checkpoint = "pocket";
        plan.fingerprint = fingerprint;
        plan.layers = 4;
        plan.H = 8;
        plan.length = 64;
        plan.describe(corpus);
        SurveyState state(4, 8);
        std::vector<Piece> pieces;
        for (const Corpus::Text& text : corpus.read(0))
            std::ranges::move(cutter.cut(text), std::back_inserter(pieces));
        Progress progress;
        Surveyor(pocket, 1).add(pieces, cutter, state, progress);
        write_survey(path, plan, state, corpus, cutter);
    };
    write(fingerprint_of(surveyed_model(*pocket), Progress()));

    AtlasDesk desk;
    desk.press("tile L2 H0");
    // A survey replaces nothing: unsaved edits stay, and nobody is asked about them.
    desk.act(SetGain{1, 0.5F});
    desk.program.open_path(path, {});
    desk.settle();
    CHECK(desk.chosen().tab == AtlasTab::survey);
    REQUIRE(desk.atlas().survey != nullptr);
    CHECK(desk.atlas().survey->pieces == 2);
    CHECK_FALSE(desk.program.state().files.dialog_open());
    CHECK(desk.problem().gain(1) == 0.5F);
    SurveyFile file = SurveyFile::open(path);
    const auto means = file.means(HeadScore::entropy);
    for (std::int64_t l = 0; l < 4; ++l)
        for (std::int64_t h = 0; h < 8; ++h)
            CHECK(static_cast<double>(desk.score(l, h, HeadScore::entropy)) ==
                  Approx(*means[static_cast<std::size_t>(l * 8 + h)]));
    desk.change(ChooseScore{AtlasMenu::colour, HeadScore::induction_text});
    CHECK(screen_shows("Highest scores"));
    desk.press("text of line 2");
    CHECK(desk.program.state().model.prompt == "John had a book. John had a shop.");
    desk.press("This text");
    CHECK(desk.atlas().survey == nullptr);
    desk.press("Survey"); // it stays open
    CHECK(desk.atlas().survey != nullptr);

    // A survey of other weights is refused by name.
    write(std::string(64, '0'));
    AtlasDesk other;
    other.program.open_path(path, {});
    other.settle();
    CHECK(screen_shows("is a survey of pocket, but the open checkpoint pocket has different files"));
}

TEST_CASE("a file of weights has an atlas of what weights alone say", "[gui][atlas]") {
    begin_recording();
    Desk desk;
    desk.open(test_data("/attention/layers_f16.safetensors"));
    desk.press("Atlas");
    desk.settle();
    REQUIRE(desk.shown().atlas != nullptr);
    const Atlas& atlas = *desk.shown().atlas;
    CHECK(atlas.known.test(static_cast<std::size_t>(HeadScore::entropy)));
    CHECK_FALSE(atlas.offers(HeadScore::copying));
    CHECK_FALSE(atlas.works.at(analysis::ScoreSource::probe).unavailable_reason.empty());
    CHECK(screen_shows("Head atlas"));
    // The layers of the file are called 2, 10 and 11, and so they are found.
    desk.act(SearchHeads{"L10"});
    const ResolvedAtlasView look = resolve_atlas_view(*desk.shown().atlas, desk.view().attention.atlas, "");
    CHECK(look.chosen_count == 2);
    CHECK(look.chosen[2]);
    desk.press("Stages");
    CHECK(desk.shown().atlas == nullptr);
    desk.open(test_data("/attention/map_max_4.npy")); // 16 rows, 14 columns
    desk.press("Atlas");
    desk.settle();
    CHECK(screen_shows(" reads "));
    CHECK(screen_shows("2.03 nats"));
    end_recording();
}

TEST_CASE("the atlas says that the first token is left out, keeps its buttons, and shows it again",
          "[gui][atlas]") {
    AtlasDesk desk;
    CHECK_FALSE(screen_shows("Show them as they are"));
    desk.driver.key(GLFW_KEY_F);
    desk.settle();
    REQUIRE(desk.view().attention.reading.hide_first_token);
    CHECK(screen_shows("first token hidden, rows renormalized"));
    for (const char* button : {"Ablate", "Effects", "why?"})
        CHECK(screen_shows(button));
    desk.press("Ablate"); // nothing can be changed now: says why
    std::string said;     // over lines
    for (const ScreenText& text : screen_texts())
        said += text.visible ? text.text + " " : "";
    CHECK_THAT(said, Catch::Contains("filtered or merged; switch that off"));
    CHECK(desk.program.state().document->part()->edits.empty());
    desk.press("Show them as they are");
    CHECK_FALSE(desk.view().attention.reading.hide_first_token);
    CHECK_FALSE(screen_shows("first token hidden, rows renormalized"));
}

TEST_CASE("the field of the atlas chooses heads while one types, and Enter leaves the keyboard there",
          "[gui][atlas]") {
    AtlasDesk desk;
    REQUIRE(desk.click("##find heads"));
    desk.driver.wait(2);
    desk.driver.type("L2");
    desk.driver.wait(3);
    CHECK(desk.chosen().search == "L2");
    desk.driver.key(GLFW_KEY_ENTER);
    desk.driver.wait(4);
    desk.driver.type("H3");
    desk.driver.wait(3);
    CHECK(desk.chosen().search == "L2H3");
    desk.driver.key(GLFW_KEY_ESCAPE);
    desk.driver.wait(4);
    const bool dark = desk.view().dark;
    desk.driver.key(GLFW_KEY_L); // a command again
    desk.driver.wait(2);
    CHECK(desk.view().dark != dark);
}

} // namespace headscope::test
