#include "app/draw/palette/palette.h"

#include "app/draw/palette/fuzzy.h"
#include "tests/app/support/fixture.h"
#include "tests/catch.h"

#include <algorithm>
#include <set>

namespace headscope::test {

using namespace headscope::app;
namespace {

/// The matched letters of a text, the others as dots; empty: no match.
std::string marked(std::string_view typed, std::string_view text, std::string_view also = {}) {
    const auto found = fuzzy_match(typed, text, also);
    if (!found)
        return {};
    std::string out(text.size(), '.');
    for (const auto& [begin, end] : found->marks)
        out.replace(begin, end - begin, text.substr(begin, end - begin));
    return out;
}

int score(std::string_view typed, std::string_view text, std::string_view also = {}) {
    const auto found = fuzzy_match(typed, text, also);
    return found ? found->score : -1;
}

/// A program with a problem of two heads on screen, as the palette sees it.
struct PaletteWorld {
    Shown shown = make_shown({});
    ViewState view{};
    FilesState files{};
    CourseState course{};
    Dims dims = shown.dims();
    ActionContext now{.view = view,
                      .files = files,
                      .problem = shown.problem(),
                      .shown = &dims,
                      .shows_numbers = true,
                      .own_heads = 2};

    PaletteWorld() {
        lesson::Lesson first;
        first.id = "what-attention-does";
        first.title = "What attention does";
        first.number = 1;
        course.lessons.push_back(std::make_shared<const lesson::Lesson>(first));
        files.recent = {"maps/lh_f32.npy"};
        files.packaged = {"pocket"};
    }
    std::vector<PaletteEntry> entries() const {
        return palette_entries({now, shown, *shown.document, course});
    }
    /// Titles, each after the heading of the group that it begins.
    std::vector<std::string> titles(std::string_view typed, std::vector<std::string> recent = {}) const {
        const std::vector<PaletteEntry> all = entries();
        std::vector<std::string> out;
        for (const PaletteRow& row : palette_rows(all, typed, recent)) {
            if (!row.heading.empty())
                out.push_back(row.heading + ":");
            out.push_back(row.entry->title);
        }
        return out;
    }
    /// Returns the actions that the entry sends.
    Actions sent(const std::string& id) const {
        for (const PaletteEntry& entry : entries())
            if (entry.id == id)
                return entry.make_actions(now);
        FAIL("no entry " << id);
        return {};
    }
};

template<class Change>
Change view_change(const Actions& actions, std::size_t i = 0) {
    return std::get<Change>(std::get<ViewChange>(actions.at(i)));
}

} // namespace

TEST_CASE("letters are found in order, first where words begin", "[palette]") {
    CHECK(marked("hm", "Heatmap") == "H...m..");
    CHECK(marked("he", "Mean of the heads") == "............he...");
    CHECK(marked("wag", "Weights as a graph") == "W..........a.g....");
    CHECK(marked("L5H3", "L5 H3") == "L5.H3");
    CHECK(marked("graph weights", "Weights as a graph") == "Weights......graph");
    CHECK(marked("köp", "Was Köpfe tun") == "....Köp......");
    CHECK(marked("KÖP", "Was Köpfe tun") == "....Köp......");
    CHECK(marked("eh", "he").empty());
    CHECK(marked("undoo", "Undo").empty());
    CHECK(marked("", "Undo") == "....");
    CHECK(marked("tmw", "Next query row and a zoom far away").empty()); // too far apart
}

TEST_CASE("the start of a text goes before that of a word, and that before the middle", "[palette]") {
    CHECK(score("he", "Heatmap") > score("he", "Mean of the heads"));
    CHECK(score("he", "Mean of the heads") > score("he", "Others"));
    CHECK(score("sc", "scores") > score("sc", "stage connect"));
    CHECK(score("L1H1", "L1 H1") > score("L1H1", "L11 H1"));
    // Further words count less than a title, and only from their start.
    CHECK(score("ablate", "Ablate the head") > score("ablate", "Switch the head off", "ablate"));
    CHECK(score("ablate", "Switch the head off", "ablate") > 0);
    CHECK(score("late", "Switch off", "ablate") == -1);
    CHECK(marked("ablate head", "Switch the head off", "ablate") == "...........head....");
}

TEST_CASE("the palette lists every command of the page once, and places to go to", "[palette]") {
    const PaletteWorld world;
    std::set<std::string> ids;
    for (const PaletteEntry& entry : world.entries()) {
        INFO(entry.id);
        CHECK(ids.insert(entry.id).second);
        CHECK_FALSE(entry.title.empty());
        CHECK_FALSE(entry.label.empty());
        if (entry.disabled_reason.empty())
            CHECK_FALSE(entry.make_actions(world.now).empty());
    }
    for (const ActionInfo& info : actions()) {
        const bool head = info.id.starts_with("head ") && std::isdigit(info.id.back()) != 0;
        INFO(info.id);
        CHECK(ids.contains("command " + info.id) ==
              (info.make_actions && info.applies(world.now) && info.id != "palette" && !head));
    }
    CHECK(ids.contains("stage scores"));
    CHECK(ids.contains("head 1"));
    CHECK_FALSE(ids.contains("head 2"));
    CHECK(ids.contains("token 3"));
    CHECK(ids.contains("lesson what-attention-does"));
    CHECK(ids.contains("file maps/lh_f32.npy"));
    CHECK(ids.contains("file pocket"));
}

TEST_CASE("entries send what their names say", "[palette]") {
    const PaletteWorld world;
    CHECK(view_change<GoTo>(world.sent("stage scores")).group == StageGroup::scores);
    CHECK(view_change<PickHead>(world.sent("head 1")).head == 1);
    const auto token = view_change<Select>(world.sent("token 2"));
    REQUIRE(token.cell);
    CHECK(token.cell->tensor == TensorId::weights);
    CHECK(token.cell->at[2] == 2);
    const Actions lesson = world.sent("lesson what-attention-does");
    CHECK(std::get<OpenLesson>(std::get<LessonAction>(lesson.at(0))).id == "what-attention-does");
    const Actions file = world.sent("file pocket");
    CHECK(std::get<OpenPath>(std::get<FileCommand>(file.at(0))).path == "pocket");
    CHECK(view_change<ShowWeightsAs>(world.sent("command arcs"), 1).view == WeightsView::arcs);
}

TEST_CASE("the palette finds presets", "[palette]") {
    const PaletteWorld world;
    CHECK(world.titles("translation").at(1) == "Translation");
    CHECK(std::get<SetPreset>(std::get<Command>(world.sent("preset translation").at(0))).id == "translation");
}

TEST_CASE("a command that cannot be done now says why", "[palette]") {
    const PaletteWorld world;
    for (const PaletteEntry& entry : world.entries())
        if (entry.id.starts_with("command ")) {
            INFO(entry.id);
            CHECK(entry.disabled_reason == why_not(action(entry.id.substr(8)), world.now));
        }
    const std::vector<PaletteEntry> entries = world.entries();
    const std::vector<PaletteRow> rows = palette_rows(entries, "set to 0", {});
    REQUIRE_FALSE(rows.empty());
    CHECK(rows.front().entry->disabled_reason == "Select a number of X, W_Q to W_O or a bias first");
}

TEST_CASE("what was done lately stands first, and what answers best", "[palette]") {
    const PaletteWorld world;
    const std::vector<std::string> nothing = world.titles("");
    REQUIRE(nothing.size() > 60);
    CHECK(nothing[0] == "Commands:");
    CHECK(std::ranges::find(nothing, "scores") != nothing.end());
    CHECK(std::ranges::find(nothing, "H1") == nothing.end()); // heads and tokens only when asked for
    const std::vector<std::string> lately =
        world.titles("", {"command undo", "token 1", "command gone", "command theme"});
    CHECK(std::vector(lately.begin(), lately.begin() + 4) ==
          std::vector<std::string>{"Recent:", "Undo", "cat", "Commands:"});
    CHECK(world.titles("heatmap").at(1) == "Weights as a heatmap");
    CHECK(world.titles("full scr").at(1) == "Full screen");
    CHECK(world.titles("ablate").at(1) == "Ablate the head");
    CHECK(world.titles("attention does").at(1) == "1  What attention does");
    CHECK(world.titles("lh_f").at(1) == "lh_f32.npy");
    CHECK(world.titles("scores").at(0) == "Go to:"); // the better match brings its group first
    CHECK(world.titles("scores").at(1) == "scores");
    CHECK(world.titles("H1").at(1) == "H1");
    CHECK(world.titles("qqqq").empty());
}

TEST_CASE("what is called as was typed goes first, and what cannot be done last", "[palette]") {
    const PaletteWorld world;
    const auto place = [](const std::vector<std::string>& titles, const std::string& title) {
        return std::ranges::find(titles, title) - titles.begin();
    };
    const std::vector<std::string> cat = world.titles("cat");
    CHECK(cat.at(1) == "cat"); // the token, before the preset that would replace the sentence
    CHECK(place(cat, "Cat sleeps") < std::ssize(cat));
    CHECK(place(cat, "cat") < place(cat, "Cat sleeps"));
    // The sentence would be lost by a preset that begins with the letters; a stage that does goes first.
    const std::vector<std::string> letters = world.titles("c");
    CHECK(place(letters, "concat") < place(letters, "Cat sleeps"));
    const std::vector<PaletteEntry> entries = world.entries();
    bool last = false; // "Control to the right" and its like
    for (const PaletteRow& row : palette_rows(entries, "framed", {})) {
        INFO(row.entry->title);
        last = last || row.heading == "Not now";
        CHECK(last == !row.entry->disabled_reason.empty());
    }
    CHECK(last);
}

TEST_CASE("other words and keys find an action, a stage and a setting", "[palette]") {
    const PaletteWorld world;
    const std::vector<PaletteEntry> entries = world.entries();
    const auto found = [&](const char* typed) {
        std::vector<std::string> ids;
        for (const PaletteRow& row : palette_rows(entries, typed, {}))
            if (row.entry->kind != EntryKind::manual_heading && row.entry->disabled_reason.empty())
                ids.push_back(row.entry->id);
        return ids;
    };
    const auto first = [&](const char* typed) {
        const std::vector<std::string> ids = found(typed);
        return ids.empty() ? std::string() : ids.front();
    };
    const std::vector<std::string> exports = found("export");
    for (const char* id : {"command picture", "command save numbers", "command save script"})
        CHECK(std::ranges::find(exports, id) < exports.begin() + 5);
    CHECK(first("German") == "setting language de");
    CHECK(first("Deutsch") == "setting language de");
    CHECK(first("cividis") == "setting colours cividis");
    CHECK(first("edit W_O") == "edit W_O");
    CHECK(first("softmax") == "stage weights");
    CHECK(first("temperature") == "setting temperature");
    for (const char* typed : {"Ctrl E", "ctrl+e", "CTRLE"})
        CHECK(first(typed) == "command picture");
    CHECK(first("ctrl shift e") == "command save numbers");

    CHECK(view_change<SetColourMap>(world.sent("setting colours cividis")).map == ColourMap::cividis);
    const Actions edit = world.sent("edit W_V");
    CHECK(view_change<GoTo>(edit).group == StageGroup::qkv);
    CHECK(view_change<ShowProjection>(edit, 1).projection == Projection::v);
    CHECK(view_change<Select>(edit, 2).cell == CellAddress{TensorId::W_V, {}});
}

TEST_CASE("@ and # narrow the list", "[palette]") {
    const PaletteWorld world;
    CHECK(world.titles("@") == std::vector<std::string>{"Go to:", "H0", "H1"});
    CHECK(world.titles("@1") == std::vector<std::string>{"Go to:", "H1"});
    CHECK(world.titles("#") == std::vector<std::string>{"Go to:", "The", "cat", "sat", "down"});
    CHECK(world.titles("#cat") == std::vector<std::string>{"Go to:", "cat"});
    CHECK(no_match_message("#dog") == "No token is found for “dog”.");
    CHECK(no_match_message("dog") == "Nothing is found for “dog”.");
}

TEST_CASE("the palette remembers three entries, the newest first", "[palette]") {
    Palette palette;
    for (const char* id : {"a", "b", "c", "b", "d"}) {
        open_palette(palette);
        CHECK((palette.open && palette.typed.empty() && palette.highlighted == 0));
        palette.typed = "typed";
        palette.highlighted = 5;
        close_and_remember(palette, id);
        CHECK_FALSE(palette.open);
    }
    CHECK(palette.recent == std::vector<std::string>{"d", "b", "c"});
}

TEST_CASE("a row shows its kind, its keys and which letters were matched", "[palette]") {
    const PaletteWorld world;
    const std::vector<PaletteEntry> entries = world.entries();
    const std::vector<PaletteRow> rows = palette_rows(entries, "save as", {});
    REQUIRE(rows.front().entry->id == "command save as");
    Picture picture;
    picture.scene = draw_palette_row(rows.front(), true, 656, theme(false), approximate_measure());
    const std::string text = all_text(picture);
    for (const char* part : {"file\n", "Ctrl\n", "Shift\n", "Save", "as"})
        CHECK(text.find(part) != std::string::npos);
    std::string bold;
    for (const figure::SceneItem& item : picture.scene.items)
        if (const auto* one = std::get_if<figure::TextItem>(&item))
            if (one->font == figure::Font::ui_semibold)
                bold += one->text;
    CHECK(bold == "Saveas");
}

} // namespace headscope::test
