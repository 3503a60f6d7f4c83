#include "app/draw/kit/format.h"
#include "app/draw/panels/predictions_panel.h"
#include "app/session/workspace.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/checkpoint/generation/generator.h"
#include "core/checkpoint/graph/model_stages.h"
#include "tests/app/support/fixture.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

namespace headscope::test {

using namespace headscope::app;
namespace {

using Ids = std::vector<std::int64_t>;

/// A checkpoint that is open, without a window.
struct OpenCheckpoint {
    SessionState state;
    Workspace workspace{state, {}, {.device = "cpu", .wake = {}, .changed = [] {}, .drop_baseline = [] {}}};

    explicit OpenCheckpoint(const std::string& folder, const std::string& prompt = "3 1 4 1 5") {
        Progress progress;
        workspace.open(open_model(folder, {prompt}, 0, progress));
        settle();
    }
    void settle() {
        workspace.settle();
        workspace.take_results();
    }
    void act(const ModelAction& action) {
        workspace.session().act(action);
        settle();
    }
    /// Lets a second go by in frames, each with all that it asked for computed.
    void second(double& now) {
        for (int frame = 0; frame < 60; ++frame) {
            now += 1.0 / 60;
            workspace.session().advance_animations(now);
            settle();
        }
    }
    const Ids& ids() const { return state.document->part()->inputs->ids; }
    std::int64_t drawn() const {
        return state.model.next_distribution->candidates[state.model.next_distribution->taken].id;
    }
};

/// All texts of a picture, with lines as blanks.
std::string sentences(const Picture& picture) {
    std::string text = all_text(picture);
    std::ranges::replace(text, '\n', ' ');
    return text;
}

std::string folder_of(const std::string& name) {
    return test_data("/models/") + name;
}

/// Returns the tokens that the command line generates: with its cache, one token at a time.
Ids generated(const RunSpec& part, const Ids& prompt, std::int64_t tokens,
              const checkpoint::SamplingSettings& settings) {
    checkpoint::Generator generator(part.model->model, checkpoint::token_inputs(*part.model, prompt),
                                    part.edits);
    Progress progress;
    for (std::int64_t n = 0; n < tokens; ++n) {
        const checkpoint::Distribution next = generator.next(settings, 1, progress);
        generator.append(next.candidates[next.taken].id);
    }
    return generator.ids();
}

std::string ids_text(std::int64_t count) {
    std::string text;
    for (std::int64_t id = 0; id < count; ++id)
        text += std::to_string(id) + " ";
    return text;
}

void check_layout(const Picture& picture, float width) {
    const figure::TextMeasure measure = approximate_measure();
    std::vector<std::pair<figure::Rect, std::string>> boxes;
    for (const figure::SceneItem& item : picture.scene.items)
        if (const auto* text = std::get_if<figure::TextItem>(&item)) {
            const float w = measure(text->text, text->font, text->size);
            const float x = text->at.x - (text->align == figure::Align::right    ? w
                                          : text->align == figure::Align::center ? w / 2
                                                                                 : 0);
            boxes.push_back({{x, text->at.y - 0.72F * text->size, w, 0.9F * text->size}, text->text});
        }
    for (const TextField& field : picture.fields)
        boxes.push_back({field.area, "field " + field.label});
    for (std::size_t a = 0; a < boxes.size(); ++a) {
        const auto& [box, text] = boxes[a];
        INFO(text);
        CHECK((box.x >= 0 && box.right() <= width + 0.5F && box.bottom() <= picture.scene.height));
        for (std::size_t b = a + 1; b < boxes.size(); ++b) {
            const figure::Rect& other = boxes[b].first;
            INFO(boxes[b].second);
            CHECK((box.right() <= other.x + 0.5F || other.right() <= box.x + 0.5F ||
                   box.bottom() <= other.y + 0.5F || other.bottom() <= box.y + 0.5F));
        }
    }
}

} // namespace

TEST_CASE("Step writes the tokens that generate writes", "[writing]") {
    const std::string name = GENERATE("gpt2_tiny", "llama_tiny_untied");
    INFO(name);
    OpenCheckpoint open(folder_of(name));
    const Ids prompt = open.ids();
    REQUIRE(open.state.model.next_distribution);
    for (int step = 0; step < 4; ++step)
        open.act(GenerateToken{});
    CHECK(open.ids() == generated(*open.state.document->part(), prompt, 4, default_sampling));
    CHECK(open.state.document->part()->written == 4);
    CHECK(open.state.document->problem.dims.Tq == 9);
    CHECK(open.state.model.run->inputs().ids == open.ids());
    CHECK(open.state.view.row == 8);
    CHECK(open.state.model.prompt.starts_with("3 1 4 1 5 "));
    CHECK(open.state.model.prompt == open.state.document->recipe.sentence);

    SECTION("with other settings too, and greedily") {
        for (const double temperature : {0.0, 1.5}) {
            const Ids before = open.ids();
            const checkpoint::SamplingSettings settings{
                .temperature = temperature, .top_k = 5, .top_p = {}, .seed = 7};
            open.act(SetSampling{settings});
            CHECK(open.state.model.next_distribution->draw.has_value() == (temperature > 0));
            open.act(GenerateToken{});
            CHECK(open.ids() == generated(*open.state.document->part(), before, 1, settings));
        }
    }
    SECTION("after an edit with the edited model") {
        const Ids before = open.ids();
        open.act(SetSampling{{.temperature = 1, .top_k = {}, .top_p = {}, .seed = 3}});
        for (std::int64_t head = 0; head < 3; ++head)
            open.workspace.run(SetGain{head, 0});
        open.settle();
        for (int step = 0; step < 3; ++step)
            open.act(GenerateToken{});
        const RunSpec& part = *open.state.document->part();
        REQUIRE(part.edits.size() == 1);
        CHECK(open.ids() == generated(part, before, 3, open.state.model.sampling));
    }
    SECTION("Take back removes them one by one, and no more") {
        for (std::size_t left = 8; left >= 5; --left) {
            open.act(RemoveTokens{});
            CHECK(open.ids().size() == left);
        }
        CHECK(open.state.model.prompt == "3 1 4 1 5");
        CHECK(open.ids() == prompt);
        CHECK(open.state.view.row == -1);
        CHECK_THROWS_AS(open.act(RemoveTokens{}), Error);
    }
    SECTION("an earlier token is where the text is written on from") {
        const auto button = [&](std::int64_t at) {
            open.act(PredictAt{at});
            const figure::TextMeasure measure = approximate_measure();
            return draw_predictions({open.state.shown, open.state.view, theme(false), measure, 312, 848},
                                    open.state.model);
        };
        const std::string label = "Write on from this token";
        for (const std::int64_t at : {3, 8}) // in the prompt, and the last
            CHECK(std::ranges::count(button(at).hotspots, label, &Hotspot::label) == 0);
        const Ids before = open.ids();
        open.act(std::get<RemoveTokens>(std::get<ModelAction>(action_of(button(6), label))));
        CHECK(open.ids() == Ids(before.begin(), before.begin() + 7));
        open.workspace.move_in_history(-1);
        open.settle();
        CHECK(open.ids() == before);
        CHECK_THROWS_AS(open.act(RemoveTokens{5}), Error);
    }
    SECTION("a candidate that was not drawn begins a branch, and undo leaves it") {
        const Ids before = open.ids();
        const checkpoint::Distribution& next = *open.state.model.next_distribution;
        const std::int64_t other = next.candidates[next.taken == 0 ? 1 : 0].id;
        open.act(GenerateToken{other});
        Ids wanted = before;
        wanted.push_back(other);
        CHECK(open.ids() == wanted);
        open.workspace.move_in_history(-1);
        open.settle();
        CHECK(open.ids() == before);
        CHECK(open.state.document->part()->written == 4);
    }
    SECTION("what is taken back stays as a branch, and a click on it goes there") {
        const auto picture = [&] {
            const figure::TextMeasure measure = approximate_measure();
            return draw_predictions({open.state.shown, open.state.view, theme(false), measure, 312, 848},
                                    open.state.model);
        };
        const Ids written = open.ids();
        CHECK(open.state.model.branches.empty());
        open.act(RemoveTokens{2});
        open.act(RemoveTokens{});
        const checkpoint::Distribution& next = *open.state.model.next_distribution;
        open.act(GenerateToken{next.candidates[next.taken == 0 ? 1 : 0].id});
        const Ids other = open.ids();
        REQUIRE(open.state.model.branches.size() == 1);
        CHECK(open.state.model.branches[0]->inputs->ids == written);
        CHECK(shared_token_count(*open.state.model.branches[0], *open.state.document->part()) == 6);
        const Picture drawn = picture();
        CHECK(std::ranges::count(drawn.hotspots, "branch 0, token 2", &Hotspot::label) == 1);
        CHECK(std::ranges::count(drawn.hotspots, "branch 0, token 3", &Hotspot::label) == 0);
        check_layout(drawn, 312);
        open.act(std::get<SelectBranch>(std::get<ModelAction>(action_of(drawn, "branch 0, token 0"))));
        CHECK(open.ids() == written);
        CHECK(open.state.document->part()->written == 4);
        REQUIRE(open.state.model.branches.size() == 1);
        CHECK(open.state.model.branches[0]->inputs->ids == other);
        // A text that continues a branch is not listed as a branch.
        open.act(SelectBranch{0});
        open.act(GenerateToken{});
        REQUIRE(open.state.model.branches.size() == 1);
        CHECK(open.state.model.branches[0]->inputs->ids == written);
        open.act(TypePrompt{"9 9"});
        CHECK(open.state.model.branches.empty());
    }
    SECTION("what is typed replaces all of it") {
        open.act(TypePrompt{"9 9"});
        CHECK(open.ids() == Ids{9, 9});
        CHECK(open.state.document->part()->written == 0);
    }
}

TEST_CASE("a step waits for the run that is under way", "[writing]") {
    OpenCheckpoint open(folder_of("gpt2_tiny"));
    const Ids prompt{7, 8, 9};
    open.workspace.session().act(TypePrompt{"7 8 9"});
    open.workspace.session().act(GenerateToken{});
    CHECK(open.state.document->part()->written == 0);
    open.settle();
    CHECK(open.ids() == generated(*open.state.document->part(), prompt, 1, default_sampling));

    open.workspace.session().act(GenerateToken{});
    open.workspace.session().act(RemoveTokens{}); // takes back the pending token
    open.settle();
    CHECK(open.ids().size() == 4);
    CHECK(open.state.model.prompt == open.state.document->part()->prompt);
}

TEST_CASE("a text longer than a model was trained on is run, and no token is written after it", "[writing]") {
    Progress progress;
    RunSpec part = *open_model(checkpoint::model_folder("pocket"), {"Anna"}, 0, progress).part;
    const std::int64_t most = part.model->model->config().longest_text;
    REQUIRE_FALSE(part.model->model->stages().has({checkpoint::Stack::own, -1}, TensorId::position));
    const auto why_at = [&](std::int64_t length) {
        part.inputs = std::make_shared<const checkpoint::ModelInputs>(
            checkpoint::token_inputs(*part.model, Ids(static_cast<std::size_t>(length), 7)));
        return text_full_reason(part);
    };
    CHECK(why_at(most - 1).empty());
    CHECK(why_at(most).find("the most that the model was trained on") != std::string::npos);
    CHECK(why_at(471) ==
          "The text has 471 tokens, and the model was trained on at most 256: predictions beyond that "
          "are unreliable, and it writes no further.");
}

TEST_CASE("a text is written until it is full, and says so", "[writing]") {
    OpenCheckpoint open(folder_of("gpt2_tiny"), ids_text(62));
    CHECK(open.state.model.generation_blocked_reason.empty());
    double now = 0;
    open.act(SetGenerating{true});
    open.second(now);
    CHECK(open.ids().size() == 64);
    CHECK_FALSE(open.state.model.generating);
    CHECK(open.state.model.generation_blocked_reason ==
          "The text has 64 tokens, the most that the model has positions for.");
    CHECK_THROWS_AS(open.act(GenerateToken{}), Error);
    CHECK_THROWS_AS(open.act(SetGenerating{true}), Error);
    open.act(RemoveTokens{});
    CHECK(open.state.model.generation_blocked_reason.empty());

    open.workspace.session().act(GenerateToken{});
    open.workspace.session().act(GenerateToken{}); // there is no place for it when it comes
    open.settle();
    CHECK(open.ids().size() == 64);
    CHECK_FALSE(open.state.error.empty());
}

TEST_CASE("Run writes at most 8 tokens a second, until Stop or the end of the text", "[writing]") {
    OpenCheckpoint open(folder_of("gpt2_tiny"));
    double now = 0;
    open.act(SetGenerating{true});
    open.second(now);
    CHECK(open.state.model.generating);
    CHECK((open.ids().size() > 5 + 6 && open.ids().size() <= 5 + 9));
    open.act(SetGenerating{false});
    const Ids stopped = open.ids();
    open.second(now);
    CHECK(open.ids() == stopped);

    TemporaryFolder folder;
    const std::filesystem::path made = folder.file("checkpoint");
    std::filesystem::copy(folder_of("gpt2_tiny"), made);
    const std::int64_t last =
        generated(*open.state.document->part(), {3, 1, 4, 1, 5}, 2, default_sampling).back();
    write_file_atomically((made / "generation_config.json").string(),
                          "{\"eos_token_id\": " + std::to_string(last) + "}");
    OpenCheckpoint ends(made.string());
    ends.act(SetGenerating{true});
    ends.second(now);
    CHECK_FALSE(ends.state.model.generating);
    CHECK(ends.ids().size() <= 7);
    CHECK(ends.ids().back() == last);
    CHECK(ends.state.model.stop_reason == "Stopped: “#" + std::to_string(last) + "” ends a text.");
}

TEST_CASE("a masked model is not written on", "[writing]") {
    OpenCheckpoint open(folder_of("bert_tiny"));
    CHECK_FALSE(open.state.model.next_distribution);
    open.act(GenerateToken{});
    CHECK(open.state.document->part()->written == 0);
}

TEST_CASE("the panel speaks of one position, at one temperature that it names", "[writing]") {
    OpenCheckpoint open(folder_of("gpt2_tiny"));
    CHECK(open.state.model.sampling.temperature == 1); // until a slider is touched
    const figure::TextMeasure measure = approximate_measure();
    const auto text_at = [&](std::int64_t position) {
        open.act(PredictAt{position});
        return sentences(draw_predictions(
            {open.state.shown, open.state.view, theme(false), measure, 312, 848}, open.state.model));
    };
    const std::int64_t last = std::ssize(open.ids()) - 1;
    const auto says = [](const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    };
    const std::string end = text_at(last);
    CHECK(says(end, "token " + std::to_string(last) + ", at temperature 1."));
    CHECK(says(end, "The draw"));
    CHECK_FALSE(says(end, "ticks")); // the numbers are the model's own
    REQUIRE(open.state.model.predictions);
    CHECK(
        says(end, percent_text(static_cast<double>(open.state.model.predictions->likeliest.front().after))));
    const std::string earlier = text_at(1);
    CHECK(says(earlier, "token 1, at temperature 1."));
    CHECK_FALSE(says(earlier, "token " + std::to_string(last) + ","));
    CHECK_FALSE(says(earlier, "The draw"));
    CHECK(says(earlier, "After the last token"));
    open.act(SetSampling{{.temperature = 0.5, .top_k = 6, .top_p = 0.9, .seed = 1}});
    CHECK(says(text_at(last), "token " + std::to_string(last) + ", at temperature 0.5."));
    CHECK(says(text_at(1), "token 1, at temperature 1."));
    CHECK_FALSE(says(text_at(1), "at temperature 0.5"));
}

TEST_CASE("the panel of the next token says all of it, and nothing overlaps", "[writing]") {
    OpenCheckpoint open(folder_of("gpt2_tiny"));
    const figure::TextMeasure measure = approximate_measure();
    for (int step = 0; step < 2; ++step)
        open.act(GenerateToken{});
    for (const double temperature : {0.8, 0.0, 2.0})
        for (const float width : {280.0F, 312.0F, 480.0F}) {
            open.act(SetSampling{{.temperature = temperature, .top_k = 6, .top_p = 0.9, .seed = 1}});
            const Picture picture = draw_predictions(
                {open.state.shown, open.state.view, theme(false), measure, width, 848}, open.state.model);
            check_layout(picture, width);
            const checkpoint::Distribution& next = *open.state.model.next_distribution;
            const Action take = action_of(picture, "take token " + std::to_string(open.drawn()));
            CHECK(std::get<GenerateToken>(std::get<ModelAction>(take)).id == open.drawn());
            const std::string text = sentences(picture);
            CHECK(std::ranges::count(picture.hotspots, std::string("Step"), &Hotspot::label) == 1);
            CHECK((text.find("Gray: cut off") != std::string::npos) == (next.draw && next.kept < 8));
            CHECK(text.find("at temperature " + shortest_number(static_cast<float>(temperature))) !=
                  std::string::npos);
            // The numbers are those at this temperature; a tick is shown only if it differs.
            if (next.draw)
                CHECK(text.find(percent_text(next.candidates.front().tempered)) != std::string::npos);
            CHECK(text.find("ticks: the model's own, at temperature 1.") != std::string::npos);
            CHECK((text.find("Greedy") != std::string::npos) == !next.draw);
            CHECK((text.find(std::to_string(next.kept) + " of 200 tokens kept.") != std::string::npos));
            // 2 layers, K and V of 4 heads of width 8, in 4 bytes.
            CHECK(text.find(std::to_string(open.ids().size()) + " rows × 512 B") != std::string::npos);
        }
    const Picture picture = draw_predictions(
        {open.state.shown, open.state.view, theme(false), measure, 312, 848}, open.state.model);
    const auto field = std::ranges::find(picture.fields, "top-k", &TextField::label);
    REQUIRE(field != picture.fields.end());
    const auto set = [&](const std::string& typed) {
        return std::get<SetSampling>(std::get<ModelAction>(field->action(typed))).settings;
    };
    CHECK(set("3").top_k == 3);
    CHECK_FALSE(set("all").top_k);
    CHECK_THROWS_AS(set("2.5"), Error);
    CHECK_THROWS_AS(set("-1"), Error);
}

} // namespace headscope::test
