#include "app/commands/actions.h"

#include "app/state/model_document.h"
#include "app/state/prompts/prompt_list.h"
#include "app/state/screens/long_map.h"
#include "core/base/message.h"
#include "tests/catch.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

namespace headscope::test {

using namespace headscope::app;
namespace {

/// A situation with the state that it refers to.
struct Place {
    std::string name;
    ViewState view{};
    FilesState files{};
    DocumentPtr document = make_document({.sentence = "the cat sleeps"}, 1);
    Dims shown = document->problem.dims;
    bool checkpoint = false, weights_file = false, weights_alone = false, lesson = false,
         has_tab_focus = false, manual = false, presenting = false;
    bool stepping = false;
    LongMap map{};
    bool on_map = false;
    Problem long_text{};
    std::shared_ptr<const PromptListState> prompts{};

    ActionContext now() const {
        return {.view = view,
                .files = files,
                .problem = on_map ? long_text : document->problem,
                .checkpoint = checkpoint,
                .two_texts = checkpoint,
                .weights_file = weights_file,
                .other_weights = weights_file,
                .weights_alone = weights_alone,
                .typed_words = !checkpoint,
                .lesson = lesson,
                .writes = checkpoint,
                .map = on_map ? &map : nullptr,
                .prompts = prompts.get(),
                .shown = &shown,
                .shows_numbers = true,
                .own_heads = 9,
                .focused_cell =
                    [] {
                        return CellAddress{TensorId::weights, {0, 0, 0, 0}};
                    },
                .token = 1,
                .presenting = presenting,
                .manual_open = manual,
                .manual_back = manual,
                .manual_forth = manual,
                .has_tab_focus = has_tab_focus,
                .stepping = stepping};
    }
};

analysis::ReadingOptions every_reading() {
    analysis::ReadingOptions all;
    for (const analysis::ReadingInfo& reading : analysis::readings())
        all.*reading.option = true;
    return all;
}

std::vector<Place> places() {
    std::vector<Place> all;
    for (int group = 0; group < group_count; ++group)
        for (const bool checkpoint : {false, true}) {
            Place place{.name = (checkpoint ? "checkpoint, " : "own, ") + std::to_string(group)};
            place.view.group = static_cast<StageGroup>(group);
            place.checkpoint = checkpoint;
            place.lesson = !checkpoint;
            place.files.unsaved = true;
            if (checkpoint)
                place.view.attention.possible = every_reading();
            all.push_back(place);
            place.name += ", number";
            place.view.selected = CellAddress{TensorId::x, {0, 0, 0}};
            all.push_back(place);
            place.name += ", walking";
            place.has_tab_focus = true;
            all.push_back(place);
        }
    Place predicting{.name = "checkpoint, Predict"};
    predicting.checkpoint = true;
    predicting.view.tab = LeftTab::predictions;
    all.push_back(predicting);
    predicting.name = "manual";
    predicting.manual = true;
    all.push_back(predicting);
    Place slider{.name = "a framed slider"};
    slider.has_tab_focus = slider.stepping = true;
    all.push_back(slider);
    Place atlas{.name = "checkpoint, atlas"};
    atlas.checkpoint = true;
    atlas.view.attention.screen = Screen::atlas;
    all.push_back(atlas);
    Place prompts{.name = "a list of prompts"};
    prompts.checkpoint = true;
    prompts.view.attention.screen = Screen::effects;
    PromptList three;
    three.prompts.resize(3);
    PromptListState listed;
    listed.list = std::make_shared<const PromptList>(std::move(three));
    listed.open = 1;
    sort_rows(listed);
    prompts.prompts = std::make_shared<const PromptListState>(listed);
    all.push_back(prompts);
    Place flow{.name = "the Flow"};
    flow.view.flow.on_screen = true;
    flow.view.attention.screen = Screen::flow;
    all.push_back(flow);
    for (const bool lesson : {false, true}) {
        Place shown{.name = "presented"};
        shown.presenting = true;
        shown.lesson = lesson;
        shown.view.sentences = std::make_shared<const std::vector<std::string>>(3, "The cat sat down");
        shown.view.sentence = 1;
        shown.view.selected = CellAddress{TensorId::x, {0, 0, 0}};
        all.push_back(shown);
    }
    Place map{.name = "the map of a long text"};
    map.map.spots = std::make_shared<const std::vector<analysis::MapSpot>>(1);
    map.map.row = MapRow{};
    map.on_map = true;
    map.long_text.dims.Tq = map.long_text.dims.Tk = 3000;
    all.push_back(map);
    map.name = "the map of a file";
    map.weights_file = map.weights_alone = true;
    map.view.attention.possible = every_reading();
    map.view.attention.possible.norm_weighted = false;
    all.push_back(map);
    for (const bool checkpoint : {false, true})
        for (const bool has_tab_focus : {false, true}) {
            Place place{.name = checkpoint ? "mean of a checkpoint" : "weights of a file"};
            place.checkpoint = checkpoint;
            place.weights_file = !checkpoint;
            place.weights_alone = true;
            place.has_tab_focus = has_tab_focus;
            place.view.attention.possible = every_reading();
            place.view.attention.possible.norm_weighted = false;
            place.view.selected = CellAddress{TensorId::weights, {0, 0, 0, 0}};
            all.push_back(place);
        }
    return all;
}

bool possible(const ActionInfo& row, const ActionContext& now) {
    return row.make_actions && row.applies(now) && why_not(row, now).empty();
}

bool pressed_with(const ActionInfo& row, const Chord& chord) {
    return std::ranges::find(row.keys, chord) != row.keys.end();
}

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    REQUIRE(file);
    return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

TEST_CASE("every action says in plain words what it does", "[actions]") {
    std::set<std::string> ids;
    for (const ActionInfo& row : actions()) {
        INFO(row.id);
        CHECK(ids.insert(row.id).second);
        CHECK(&action(row.id) == &row);
        CHECK(row.title.size() > 2);
        CHECK(std::isupper(static_cast<unsigned char>(row.title.front())) != 0);
        CHECK(row.tip.size() > 6);
        CHECK(std::isupper(static_cast<unsigned char>(row.tip.front())) != 0);
        CHECK(row.tip.back() != '.');
        CHECK(row.title != row.tip);
        CHECK_FALSE(row.group.empty());
        CHECK((row.make_actions || !row.gesture.empty()));
        CHECK((!row.keys.empty() || !row.gesture.empty() || row.group.english == "Files" ||
               row.group.english == "Selection"));
    }
    CHECK(ids.size() > 80);
    CHECK_THROWS_AS(action("no such thing"), std::out_of_range);
}

TEST_CASE("a key means one action at most, wherever the program stands", "[actions]") {
    for (const Place& place : places()) {
        const ActionContext now = place.now();
        // A framed slider takes the arrow keys from everything else.
        const auto meant = [&](const ActionInfo& row, const Chord& chord) {
            return possible(row, now) && pressed_with(row, chord) &&
                   (!now.stepping || row.steps ||
                    std::ranges::none_of(actions(), [&](const ActionInfo& other) {
                        return other.steps && pressed_with(other, chord);
                    }));
        };
        for (const ActionInfo& row : actions())
            for (const Chord& chord : row.keys) {
                INFO(place.name << ": " << row.id << ", " << chord_text(chord));
                CHECK(std::ranges::count_if(
                          actions(), [&](const ActionInfo& other) { return meant(other, chord); }) <= 1);
                if (meant(row, chord))
                    CHECK(key_meaning(chord, now).action == &row);
            }
    }
}

TEST_CASE("every action can be done somewhere", "[actions]") {
    const std::vector<Place> all = places();
    for (const ActionInfo& row : actions()) {
        INFO(row.id);
        CHECK(std::ranges::any_of(all, [&](const Place& place) { return row.applies(place.now()); }));
        if (row.make_actions)
            CHECK(std::ranges::any_of(all, [&](const Place& place) { return possible(row, place.now()); }));
    }
}

TEST_CASE("Shift counts only where an action asks for it", "[actions]") {
    const std::vector<Place> all = places();
    const auto means = [&](const char* place, const Chord& chord) {
        const auto at = std::ranges::find(all, place, &Place::name);
        REQUIRE(at != all.end());
        const ActionInfo* found = key_meaning(chord, at->now()).action;
        return found == nullptr ? std::string() : found->id;
    };
    CHECK(means("own, 0", {letter('M')}) == "mean");
    CHECK(means("own, 0", shift(letter('M'))) == "mean");
    CHECK(means("checkpoint, 0", {letter('M')}) == "mean");
    CHECK(means("checkpoint, 0", shift(letter('M'))) == "means");
    CHECK(means("own, 0", shift(letter('B'))) == "mark baseline");
    CHECK(means("weights of a file", shift(letter('B'))) == "board");
    CHECK(means("own, 0", {Key::plus, true, true}) == "larger");
    CHECK(means("own, 0", {letter('A')}) == "arcs");
    CHECK(means("own, 0", shift(letter('A'))) == "ablate");
    CHECK(means("own, 0, number", shift(letter('A'))) == "ablate");
    CHECK(means("own, 0", ctrl('N')) == "new");
    CHECK(means("own, 0", ctrl_shift('N')).empty());
    CHECK(means("own, 0", {letter('N'), true, false, true}).empty());
    CHECK(means("own, 0, number", {Key::right}) == "number to the right");
    CHECK(means("own, 0, number, walking", {Key::right}) == "next stage");
    CHECK(means("own, 0, number", {digit(3)}).empty());
}

TEST_CASE("a digit is the number of a head, and no key alone changes what is not selected", "[actions]") {
    for (const Place& place : places()) {
        const ActionContext now = place.now();
        for (const Key key : all_keys()) {
            const KeyMeaning meaning = key_meaning({key}, now);
            INFO(place.name << ", " << chord_text({key}));
            if (key >= digit(0) && key <= digit(9) && meaning.action != nullptr)
                CHECK(meaning.action->id == "head " + chord_text({key}));
            if (meaning.action == nullptr || now.number_selected())
                continue;
            for (const Action& action : meaning.action->make_actions(now))
                CHECK_FALSE(std::holds_alternative<Command>(action));
        }
    }
}

TEST_CASE("what lies over the canvas takes keys away", "[actions]") {
    const Place place = places().front();
    const auto means = [&](Overlay over, const Chord& chord) {
        ActionContext now = place.now();
        now.over = over;
        return key_meaning(chord, now).action != nullptr;
    };
    const std::pair<Chord, Overlay> last[] = {
        {{letter('A')}, Overlay::nothing},  {{Key::tab}, Overlay::nothing},       {ctrl('Z'), Overlay::list},
        {ctrl('C'), Overlay::list},         {{Key::left_bracket}, Overlay::list}, {{Key::F1}, Overlay::field},
        {{Key::escape}, Overlay::field},    {ctrl('O'), Overlay::field},          {alt('F'), Overlay::field},
        {ctrl(Key::plus), Overlay::dialog}, {ctrl(digit(0)), Overlay::dialog}};
    for (const auto& [chord, under] : last)
        for (const Overlay over : {Overlay::nothing, Overlay::list, Overlay::field, Overlay::dialog}) {
            INFO(chord_text(chord));
            CHECK(means(over, chord) == (over <= under));
        }
}

TEST_CASE("a key with Ctrl, and a letter, say why they do nothing", "[actions]") {
    Place place{.name = "saved"};
    place.files.path = "/somewhere/a.headscope";
    CHECK(key_meaning(ctrl('S'), place.now()).unavailable_reason == "Nothing has changed since it was saved");
    place.files.unsaved = true;
    CHECK(key_meaning(ctrl('S'), place.now()).action == &action("save"));
    place.weights_file = place.weights_alone = true;
    CHECK(key_meaning(ctrl_shift('S'), place.now())
              .unavailable_reason.find("how they were computed is not known") != std::string::npos);
    ActionContext empty = place.now();
    empty.shown = nullptr;
    empty.shows_numbers = false;
    CHECK(key_meaning(ctrl('E'), empty).unavailable_reason == "Nothing is computed yet");
    CHECK(key_meaning({digit(9)}, empty).unavailable_reason.empty());
}

TEST_CASE("the list of keys holds every key of the page and no other", "[actions]") {
    for (const Place& place : places()) {
        const ActionContext now = place.now();
        const std::vector<KeyLine> lines = key_lines(now);
        std::string all;
        for (const KeyLine& line : lines) {
            INFO(place.name << ": " << line.what);
            CHECK_FALSE(line.keys.empty());
            CHECK(line.what.size() > 3);
            all += "  " + line.keys + "  ";
        }
        for (const ActionInfo& row : actions())
            for (const Chord& chord : row.keys) {
                INFO(place.name << ": " << row.id << ", " << chord_text(chord));
                const Chord bare{chord.key};
                const bool run = chord.key >= digit(0) && chord.key <= digit(9);
                const std::string name = run && !chord.ctrl ? "0 … 9" : chord_text(chord);
                const bool listed = all.find("  " + name + "  ") != std::string::npos ||
                                    // A modifier of several keys is written once.
                                    (chord.shift && all.find("  Shift →") != std::string::npos &&
                                     all.find(" " + chord_text(bare)) != std::string::npos) ||
                                    all.find("−  " + name) != std::string::npos;
                if (row.applies(now))
                    CHECK(listed);
            }
    }
    const auto line = [&](std::size_t place, const std::string& keys) {
        for (const KeyLine& one : key_lines(places()[place].now()))
            if (one.keys == keys)
                return one.what;
        return std::string();
    };
    CHECK(line(0, "→  ←") == "next stage, previous stage");
    CHECK(line(0, "0 … 9") == "put head 0 … 9 in focus");
    CHECK(line(0, "Shift A") == "ablate the head in focus, and restore it");
    CHECK(line(0, "Shift → ← ↓ ↑") == "select a block of numbers");
    CHECK(line(0, "0 … 9  −  Enter") == "type it; Enter: apply, go down; Esc: cancel");
    CHECK(line(0, "Ctrl Z") == "undo");
    CHECK(line(0, "F  S").empty());
    CHECK(line(3, "F  S") == "hide the first token, the special tokens");
    CHECK(line(places().size() - 1, "Shift → ← ↓ ↑") == "the next weight of the open head");
}

TEST_CASE("keys are written as keyboards name them", "[actions]") {
    CHECK(key_hint("save") == "Ctrl S");
    CHECK(key_hint("save as") == "Ctrl Shift S");
    CHECK(key_hint("next page") == "Page down");
    CHECK(key_hint("save script").empty());
    CHECK(with_key("Keyboard", "help") == "Keyboard (F1)");
    CHECK(chord_text(alt('F')) == "Alt F");
    CHECK(chord_text(ctrl(Key::minus)) == "Ctrl −");
}

TEST_CASE("keys are written as keyboards of the person's language name them", "[actions]") {
    const auto in_german = [](const Chord& chord) {
        use_language("de");
        const std::string text = chord_text(chord);
        use_language("en");
        return text;
    };
    CHECK(in_german(ctrl_shift('S')) == "Strg Umschalt S");
    CHECK(in_german(ctrl(Key::home)) == "Strg Pos1");
    CHECK(in_german({Key::end}) == "Ende");
    CHECK(in_german({Key::space}) == "Leertaste");
    CHECK(in_german({Key::page_down}) == "Bild ab");
    CHECK(in_german({Key::erase}) == "Entf");
    CHECK(in_german({Key::backspace}) == "Rücktaste");
    CHECK(in_german(shift(Key::F10)) == "Umschalt F10");
    CHECK(in_german({Key::comma}) == ",");
    // No sentence of the German window names them otherwise.
    std::istringstream catalogue(text_of(test_data("/../../assets/languages/de.po")));
    const std::regex english(R"(\b(Ctrl|Shift|Backspace|Page (up|down|Up|Down)|Delete|Home)\b)");
    for (std::string line; std::getline(catalogue, line);)
        if (line.starts_with("msgstr"))
            CHECK(!std::regex_search(line, english));
}

TEST_CASE("the read-me and the manual name no key that does nothing", "[actions]") {
    const std::string root = test_data("/../../");
    std::set<std::string> known;
    for (const ActionInfo& row : actions())
        for (const Chord& chord : row.keys)
            known.insert(chord_text(chord));
    int named = 0;
    for (const char* page :
         {"README.md", "assets/manual/attention-files.md", "assets/manual/automation.md",
          "assets/manual/checkpoints-window.md", "assets/manual/finding.md", "assets/manual/lessons.md",
          "assets/manual/presenting.md", "assets/manual/settings.md", "assets/manual/recording.md"}) {
        const std::string text = text_of(root + page);
        const std::regex keys("(Ctrl|Alt|Shift) (Shift )?([A-Z+0]|−)(?![A-Za-z])|F[0-9]+(?![0-9A-Za-z])");
        for (auto at = std::sregex_iterator(text.begin(), text.end(), keys); at != std::sregex_iterator();
             ++at) {
            if (at->str() == "F16" || at->str() == "F32" || at->str() == "F64")
                continue; // number formats
            INFO(page << ": " << at->str());
            CHECK(known.contains(at->str()));
            ++named;
        }
    }
    CHECK(named > 20);
}

TEST_CASE("the manual's page of keys is the table", "[actions]") {
    std::string page =
        "# The keyboard\n\nThis page is for readers who work without the mouse or want to be faster. "
        "Afterwards you know every key.\nIn the window, press F1 twice for the keys of the "
        "current screen.\n";
    const std::vector<Place> all = places();
    const auto lines_of = [&](const std::string& name) {
        const auto place = std::ranges::find(all, name, &Place::name);
        REQUIRE(place != all.end());
        std::vector<std::string> lines;
        for (const KeyLine& line : key_lines(place->now()))
            lines.push_back("| " + line.keys + " | " + line.what + " |\n");
        return lines;
    };
    const auto add = [&](const std::string& title, const std::vector<std::string>& lines) {
        page += "\n## " + title + "\n\n| keys | |\n| --- | --- |\n";
        for (const std::string& line : lines)
            page += line;
    };
    const std::vector<std::string> checkpoint = lines_of("checkpoint, 0");
    std::vector<std::string> atlas = lines_of("checkpoint, atlas");
    std::erase_if(atlas, [&](const std::string& line) {
        return std::ranges::find(checkpoint, line) != checkpoint.end();
    });
    std::vector<std::string> prompts = lines_of("a list of prompts");
    std::erase_if(prompts, [&](const std::string& line) {
        return std::ranges::find(checkpoint, line) != checkpoint.end();
    });
    const std::vector<std::string> own = lines_of("own, 0");
    std::vector<std::string> flow = lines_of("the Flow");
    std::erase_if(flow, [&](const std::string& line) { return std::ranges::find(own, line) != own.end(); });
    add("A sentence or a problem", own);
    add("The Flow, in addition", flow);
    add("A checkpoint", checkpoint);
    add("The atlas, in addition", atlas);
    add("A list of prompts, in addition", prompts);
    add("The map of a long text", lines_of("the map of a long text"));
    add("The map of a long file of weights", lines_of("the map of a file"));
    add("Attention weights of a file", lines_of("weights of a file"));
    add("A presentation", lines_of("presented"));
    CHECK(text_of(test_data("/../../assets/manual/keyboard.md")) == page);
}

TEST_CASE("on the map of a file the filters have their keys, but for those that are the map's own",
          "[actions]") {
    const std::vector<Place> all = places();
    const auto means = [&](const char* place, const Chord& chord) {
        const auto at = std::ranges::find(all, place, &Place::name);
        const ActionInfo* found = key_meaning(chord, at->now()).action;
        return found == nullptr ? std::string() : found->id;
    };
    for (const analysis::ReadingInfo& reading : analysis::readings()) {
        const Chord key = action(reading.id).keys.front();
        INFO(reading.id);
        if (reading.option == &analysis::ReadingOptions::norm_weighted)
            continue; // no file has what it asks for
        const bool own = key == Chord{letter('P')};
        CHECK(means("the map of a file", key) == (own ? "map pooling" : std::string(reading.id)));
        CHECK(means("the map of a long text", key) == (own ? "map pooling" : ""));
    }
    CHECK(means("the map of a file", shift(letter('C'))) == "map colours");
}

} // namespace headscope::test
