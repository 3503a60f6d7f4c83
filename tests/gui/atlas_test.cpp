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
#include "tests/gui/support/user.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <GLFW/glfw3.h>
#include <set>

namespace headscope::test {
namespace {

using analysis::HeadScore;

/// Pocket on the atlas, and its user.
struct AtlasUser : User {
    AtlasUser() {
        begin_recording();
        open(checkpoint::model_folder("pocket"),
             "When Mary and John went to the shop, John gave a book to Mary. When Mary and John went");
        press("Atlas");
        settle();
    }
    AtlasUser(const AtlasUser&) = delete;
    AtlasUser& operator=(const AtlasUser&) = delete;
    ~AtlasUser() { end_recording(); }

    const Atlas& atlas() const { return *shown().atlas; }
    const AtlasView& chosen() const { return view().attention.atlas; }
    ResolvedAtlasView look() const { return resolve_atlas_view(atlas(), chosen(), view().attention.pattern); }
    float score(std::int64_t l, std::int64_t h, HeadScore of) const { return (*atlas().at(l, h))[of]; }
    void change(const AtlasChange& to) { act(ViewChange(AttentionChange(to))); }
};

} // namespace

TEST_CASE("the atlas has every score of every head, and the open head's card says why it has its name",
          "[gui][atlas]") {
    AtlasUser user;
    REQUIRE(user.shown().atlas != nullptr);
    CHECK(user.atlas().L == 4);
    CHECK(user.atlas().H == 8);
    for (const analysis::HeadScoreInfo& info : analysis::head_scores()) {
        CAPTURE(info.id);
        const bool not_here = analysis::is_asked_for(info) || info.score == HeadScore::share ||
                              info.of == analysis::ScoreSource::comparison;
        CHECK(user.atlas().known.test(static_cast<std::size_t>(info.score)) != not_here);
    }
    // The manual's evidence for pocket: induction in layer 2.
    CHECK(user.score(2, 0, HeadScore::probe_induction) > 0.9F);
    CHECK(screen_shows("Head atlas"));
    CHECK(screen_shows("Every score, all heads"));
    // The card shows both names of a head that has another name in the grid of heads.
    const ResolvedAtlasView look = user.look();
    int mentioned = 0;
    for (std::int64_t l = 0; l < 4; ++l)
        for (std::int64_t h = 0; h < 8; ++h) {
            user.act(OpenHead{l, h});
            const auto label = look.labels[static_cast<std::size_t>(l * 8 + h)];
            const std::string here = label ? std::string(analysis::info_of(*label).label.text.english) : "";
            const auto row = user.program.state().head_grid->row(l);
            const std::string there(row->heads[static_cast<std::size_t>(h)].facts.metrics.label());
            INFO("L" << l << " H" << h << ": " << here << ", " << there);
            const std::string words = there.empty() ? "it has no label" : "its label is “" + there + "”";
            const bool says = screen_text().find("there " + words) != std::string::npos;
            CHECK(says == (here != there));
            mentioned += says;
        }
    CHECK(mentioned > 0);
    user.act(OpenHead{2, 0});
    user.press("tile L2 H0");
    CHECK(user.view().attention.layer == 2);
    CHECK(user.view().head == 0);
    CHECK(screen_shows("Why it has this label"));
    CHECK(screen_shows("Where it acts most"));
    CHECK(screen_shows(number(static_cast<double>(user.score(2, 0, HeadScore::probe_induction)), 2)));

    // The number that the card quotes is a weight of the map; a click goes there.
    const auto strongest = user.atlas().acts->cells.front();
    user.press("Open head");
    CHECK(user.view().attention.screen == Screen::stages);
    CHECK(user.shown().value({TensorId::weights, {0, 0, strongest.i, strongest.j}}) ==
          Approx(strongest.value));
}

TEST_CASE("the card leads from a weight to what its score is made of", "[gui][atlas]") {
    AtlasUser user;
    user.press("tile L2 H0");
    REQUIRE(user.atlas().acts != nullptr);
    const analysis::PlacedWeight cell = user.atlas().acts->cells.front();
    // An induction head attends to the key after an earlier token equal to the query's.
    CHECK(user.atlas().acts->keys[static_cast<std::size_t>(cell.j - 1)] ==
          user.atlas().acts->queries[static_cast<std::size_t>(cell.i)]);
    user.press("why " + std::to_string(cell.i) + " " + std::to_string(cell.j));
    user.settle();
    CHECK(user.view().attention.screen == Screen::why);
    REQUIRE(user.shown().why != nullptr);
    CHECK(user.shown().why->question.query == cell.i);
    CHECK(user.shown().why->question.key == cell.j);
    CHECK(user.shown().why->question.head == 0);
    CHECK(user.shown().value({TensorId::weights, {0, 0, cell.i, cell.j}}) == Approx(cell.value));
}

TEST_CASE("the distributions mark the open head, and no head while the mean of a layer is open",
          "[gui][atlas]") {
    AtlasUser user;
    const auto marks = [&] {
        return std::ranges::count_if(user.program.canvas().scene.items, [](const figure::SceneItem& item) {
            const auto* mark = std::get_if<figure::PolygonItem>(&item);
            return mark != nullptr && mark->points.size() == 3 &&
                   mark->points[1].y - mark->points[0].y == Approx(7) &&
                   mark->points[2].x - mark->points[1].x == Approx(8);
        });
    };
    user.act(OpenHead{1, 0});
    CHECK(marks() > 4);
    user.act(SetReadingOptions{{.means = true}});
    CHECK(marks() > 4);
    const std::int64_t L = user.atlas().L, H = user.atlas().H;
    for (const auto& [l, h] : {std::pair{std::int64_t{0}, H}, {L - 1, H}, {L, std::int64_t{0}}}) {
        user.act(OpenHead{l, h});
        user.act(ShowScreen{Screen::atlas});
        INFO("L" << l << " H" << h);
        REQUIRE(user.view().attention.layer == l);
        REQUIRE(user.view().head == h);
        REQUIRE(user.shown().atlas != nullptr);
        CHECK(marks() == 0);
        CHECK(screen_shows("A mean of heads has no scores of its own"));
        CHECK_FALSE(screen_shows("The head is being measured."));
    }
}

TEST_CASE("brush, search and labels choose the same heads on board, scatter and list", "[gui][atlas]") {
    AtlasUser user;
    CHECK_FALSE(user.look().is_filtered);
    user.change(BrushScores{{{HeadScore::probe_induction, 0.5F, 1.0F}}});
    std::int64_t expected = 0;
    for (std::int64_t l = 0; l < 4; ++l)
        for (std::int64_t h = 0; h < 8; ++h)
            expected += user.score(l, h, HeadScore::probe_induction) >= 0.5F ? 1 : 0;
    CHECK(user.look().chosen_count == expected);
    CHECK(screen_shows(std::to_string(expected) + " heads of 32 selected"));
    user.change(SearchHeads{"L2"});
    CHECK(user.look().chosen_count < expected);
    user.press("List");
    CHECK(screen_shows("L2 H0"));
    user.press("All heads");
    user.driver.key(GLFW_KEY_A, GLFW_MOD_ALT);
    CHECK_FALSE(user.look().is_filtered);
    CHECK(user.chosen().search.empty());

    user.press("Scatter");
    user.press("label previous token");
    CHECK(user.look().chosen_count >= 1);
    // A threshold changes what heads are called.
    const auto before = user.look().chosen_count;
    user.change(SetThreshold{HeadScore::previous, 0.999F});
    CHECK(user.look().chosen_count < before);
}

TEST_CASE("a rectangle drawn over the scatter chooses the heads in it", "[gui][atlas]") {
    AtlasUser user;
    const auto found = user.driver.find("scatter");
    REQUIRE(found);
    const figure::Rect plot = *found;
    user.driver.drag(plot.x + plot.w * 0.5F, plot.y + 3, plot.right() - 2, plot.bottom() - 3);
    user.settle();
    REQUIRE(user.chosen().brush.size() == 2);
    for (std::int64_t l = 0; l < 4; ++l)
        for (std::int64_t h = 0; h < 8; ++h)
            CHECK(user.look().chosen[static_cast<std::size_t>(l * 8 + h)] ==
                  (user.score(l, h, HeadScore::probe_induction) >= user.chosen().brush.front().low &&
                   user.score(l, h, HeadScore::copying) >= user.chosen().brush.back().low &&
                   user.score(l, h, HeadScore::copying) <= user.chosen().brush.back().high));
    CHECK(user.look().chosen_count >= 6);
    // A click beside the points takes it back.
    user.driver.click(plot.x + plot.w * 0.3F, plot.y + 4);
    user.settle();
    CHECK(user.chosen().brush.empty());
}

TEST_CASE("a search that cannot be read says why and keeps the keyboard", "[gui][atlas]") {
    AtlasUser user;
    user.type_over("##find heads", "induct > 0.4");
    CHECK(user.program.state().field.error.find("there is no score") != std::string::npos);
    for (int letter = 0; letter < 6; ++letter)
        user.driver.key(GLFW_KEY_BACKSPACE);
    user.driver.type("ion > 0.4");
    user.driver.key(GLFW_KEY_ENTER);
    user.settle();
    CHECK(user.program.state().field.error.empty());
    CHECK(user.chosen().search == "induction > 0.4");
}

TEST_CASE("the list of scores is worked with the keyboard and stays inside the window", "[gui][atlas]") {
    AtlasUser user;
    const HeadScore before = user.look().colour;
    const std::int64_t row = user.view().row;
    user.press_key(GLFW_KEY_C, GLFW_MOD_ALT);
    REQUIRE(user.chosen().menu == AtlasMenu::colour);
    std::size_t listed = 0;
    for (const ScreenItem& item : screen_items())
        if (item.window.starts_with("##Popup")) {
            ++listed;
            CHECK(item.reachable());
        }
    CHECK(listed > 10);
    user.press_key(GLFW_KEY_DOWN);
    user.press_key(GLFW_KEY_ENTER);
    CHECK(user.look().colour != before);
    CHECK(user.chosen().menu == AtlasMenu::none);
    CHECK(user.view().row == row);
    // A click beside it closes it, and it opens again.
    user.press("choose y");
    CHECK(user.chosen().menu == AtlasMenu::y);
    user.driver.click(4, 400);
    user.settle();
    CHECK(user.chosen().menu == AtlasMenu::none);
    user.choose("choose y", "entropy");
    CHECK(user.look().y == HeadScore::entropy);
}

TEST_CASE("a list of scores that is higher than its room scrolls to the current one", "[gui][atlas]") {
    User user("first-lesson", "", 860, 480);
    user.open(checkpoint::model_folder("pocket"), "When Mary and John went");
    user.act(ShowScreen{Screen::atlas});
    user.act(OpenAtlasMenu{AtlasMenu::colour});
    const auto& items = screen_items();
    const auto current =
        std::ranges::find_if(items, [](const ScreenItem& one) { return one.label.starts_with("✓"); });
    REQUIRE(current != items.end());
    CHECK(current->reachable());
    CHECK(current->clip.bottom() <= 480);
}

TEST_CASE("scores are chosen from a list; the effect is measured once somebody asks for it", "[gui][atlas]") {
    AtlasUser user;
    user.choose("choose colour by", "ablation effect");
    CHECK(user.chosen().menu == AtlasMenu::none);
    CHECK(user.look().colour == HeadScore::effect);
    CHECK(user.atlas().known.test(static_cast<std::size_t>(HeadScore::effect)));
    for (std::int64_t l = 0; l < 4; ++l)
        for (std::int64_t h = 0; h < 8; ++h)
            CHECK(user.atlas().at(l, h)->has(HeadScore::effect));
    user.choose("choose colour by", "fraction of output");
    for (std::int64_t l = 0; l < 4; ++l) {
        float sum = 0;
        for (std::int64_t h = 0; h < 8; ++h)
            sum += user.score(l, h, HeadScore::share);
        CHECK(sum == Approx(1.0F));
    }
    CHECK(user.atlas().needle == nullptr);
    user.choose("choose colour by", "retrieval");
    REQUIRE(user.atlas().needle != nullptr);
    CHECK(user.atlas().needle->texts == 30);
    CHECK(user.score(2, 7, HeadScore::retrieval) == static_cast<float>(user.atlas().needle->scores[2][7]));
    user.press("Alike");
    REQUIRE(user.atlas().similarity != nullptr);
    CHECK(user.atlas().similarity->places.size() == 32);
    CHECK(screen_shows("mapped to a plane by"));
}

TEST_CASE("pinned heads are compared, and the atlas follows an edit", "[gui][atlas]") {
    AtlasUser user;
    user.press("tile L2 H0");
    user.press("Pin");
    user.press("tile L0 H4");
    user.driver.key(GLFW_KEY_P, GLFW_MOD_ALT);
    REQUIRE(user.chosen().pinned.size() == 2);
    user.press("Compare 2");
    CHECK(screen_shows("Pinned heads"));
    // Each map names its rows and columns, and one legend says what the marks are.
    const Picture& page = user.program.canvas();
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
    user.press("unpin L2 H0");
    CHECK(user.chosen().pinned.size() == 1);
    user.driver.key(GLFW_KEY_3, GLFW_MOD_CONTROL);
    user.press("This text");

    // Without the head that attends to the previous token, the induction heads do not work.
    const float before = user.score(2, 0, HeadScore::probe_induction);
    user.press("tile L0 H4");
    user.press("Ablate");
    user.settle();
    CHECK(user.score(2, 0, HeadScore::probe_induction) < before - 0.1F);
    CHECK(user.score(0, 4, HeadScore::probe_previous) > 0.9F); // its own weights stay
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

    AtlasUser user;
    user.press("tile L2 H0");
    // A survey replaces nothing: unsaved edits stay, and nobody is asked about them.
    user.act(SetGain{1, 0.5F});
    user.program.open_path(path, {});
    user.settle();
    CHECK(user.chosen().tab == AtlasTab::survey);
    REQUIRE(user.atlas().survey != nullptr);
    CHECK(user.atlas().survey->pieces == 2);
    CHECK_FALSE(user.program.state().files.dialog_open());
    CHECK(user.problem().gain(1) == 0.5F);
    SurveyFile file = SurveyFile::open(path);
    const auto means = file.means(HeadScore::entropy);
    for (std::int64_t l = 0; l < 4; ++l)
        for (std::int64_t h = 0; h < 8; ++h)
            CHECK(static_cast<double>(user.score(l, h, HeadScore::entropy)) ==
                  Approx(*means[static_cast<std::size_t>(l * 8 + h)]));
    user.change(ChooseScore{AtlasMenu::colour, HeadScore::induction_text});
    CHECK(screen_shows("Highest scores"));
    user.press("text of line 2");
    CHECK(user.program.state().model.prompt == "John had a book. John had a shop.");
    user.press("This text");
    CHECK(user.atlas().survey == nullptr);
    user.press("Survey"); // it stays open
    CHECK(user.atlas().survey != nullptr);

    // A survey of other weights is refused by name.
    write(std::string(64, '0'));
    AtlasUser other;
    other.program.open_path(path, {});
    other.settle();
    CHECK(screen_shows("is a survey of pocket, but the open checkpoint pocket has different files"));
}

TEST_CASE("a file of weights has an atlas of what weights alone say", "[gui][atlas]") {
    begin_recording();
    User user;
    user.open(test_data("/attention/layers_f16.safetensors"));
    user.press("Atlas");
    user.settle();
    REQUIRE(user.shown().atlas != nullptr);
    const Atlas& atlas = *user.shown().atlas;
    CHECK(atlas.known.test(static_cast<std::size_t>(HeadScore::entropy)));
    CHECK_FALSE(atlas.offers(HeadScore::copying));
    CHECK_FALSE(atlas.works.at(analysis::ScoreSource::probe).unavailable_reason.empty());
    CHECK(screen_shows("Head atlas"));
    // The layers of the file are called 2, 10 and 11, and so they are found.
    user.act(SearchHeads{"L10"});
    const ResolvedAtlasView look = resolve_atlas_view(*user.shown().atlas, user.view().attention.atlas, "");
    CHECK(look.chosen_count == 2);
    CHECK(look.chosen[2]);
    user.press("Stages");
    CHECK(user.shown().atlas == nullptr);
    user.open(test_data("/attention/map_max_4.npy")); // 16 rows, 14 columns
    user.press("Atlas");
    user.settle();
    CHECK(screen_shows(" reads "));
    CHECK(screen_shows("2.03 nats"));
    end_recording();
}

TEST_CASE("the atlas says that the first token is left out, keeps its buttons, and shows it again",
          "[gui][atlas]") {
    AtlasUser user;
    CHECK_FALSE(screen_shows("Show them as they are"));
    user.driver.key(GLFW_KEY_F);
    user.settle();
    REQUIRE(user.view().attention.reading.hide_first_token);
    CHECK(screen_shows("first token hidden, rows renormalized"));
    for (const char* button : {"Ablate", "Effects", "why?"})
        CHECK(screen_shows(button));
    user.press("Ablate"); // nothing can be changed now: says why
    std::string said;     // over lines
    for (const ScreenText& text : screen_texts())
        said += text.visible ? text.text + " " : "";
    CHECK_THAT(said, Catch::Contains("filtered or merged; switch that off"));
    CHECK(user.program.state().document->part()->edits.empty());
    user.press("Show them as they are");
    CHECK_FALSE(user.view().attention.reading.hide_first_token);
    CHECK_FALSE(screen_shows("first token hidden, rows renormalized"));
}

TEST_CASE("the field of the atlas chooses heads while one types, and Enter leaves the keyboard there",
          "[gui][atlas]") {
    AtlasUser user;
    REQUIRE(user.click("##find heads"));
    user.driver.wait(2);
    user.driver.type("L2");
    user.driver.wait(3);
    CHECK(user.chosen().search == "L2");
    user.driver.key(GLFW_KEY_ENTER);
    user.driver.wait(4);
    user.driver.type("H3");
    user.driver.wait(3);
    CHECK(user.chosen().search == "L2H3");
    user.driver.key(GLFW_KEY_ESCAPE);
    user.driver.wait(4);
    const bool dark = user.view().dark;
    user.driver.key(GLFW_KEY_L); // a command again
    user.driver.wait(2);
    CHECK(user.view().dark != dark);
}

} // namespace headscope::test
