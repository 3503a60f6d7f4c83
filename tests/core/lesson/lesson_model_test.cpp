#include "core/base/assets.h"
#include "core/base/error.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/engine/engine.h"
#include "core/lesson/additional_passes.h"
#include "core/lesson/check.h"
#include "core/lesson/panel_figure.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>

// Scenes with a model: what live values, gates and panels read of a checkpoint's run.

using namespace headscope;
using namespace headscope::lesson;
using Catch::Contains;

namespace {

/// pocket over a text, with gains, as a scene asks for it.
struct Pocket {
    checkpoint::TextModelPtr model = checkpoint::open_text_model(checkpoint::model_folder("pocket"));
    LessonModel run;

    explicit Pocket(const std::string& text, const std::vector<HeadGain>& gains = {},
                    const std::string& corrupted = {})
        : run(made(text, gains, corrupted)) {}
    LessonModel made(const std::string& text, const std::vector<HeadGain>& gains,
                     const std::string& corrupted) const {
        StepScene scene;
        scene.gains = gains;
        Progress progress;
        return run_lesson_model(model, checkpoint::prompt_inputs(*model, text),
                                edits_of(scene, model->model->config()), corrupted, progress);
    }
    LessonState state(std::int64_t layer) const {
        const checkpoint::LayerRun& open = layer_of(run, layer);
        return {.problem = *open.problem, .trace = open.trace, .model = &run, .layer = layer};
    }
    double number(const std::string& text, std::int64_t layer = 2) const {
        return Expression::parse(text).number(state(layer));
    }
    std::string word(const std::string& text) const {
        return std::get<std::string>(Expression::parse(text).value(state(2)));
    }
};

constexpr const char* book_text = "When Mary and John went to the shop, John gave a book to";
constexpr const char* other_giver = "When Mary and John went to the shop, Mary gave a book to";
const HeadGain off_2_7{2, 7, 0}, off_0_4{0, 4, 0};

std::string model_lesson(const std::string& front, const std::string& step) {
    return "---\nid: a\ntitle: A\nminutes: 1\ndifficulty: beginner\n" + front +
           "\n---\n\n## One\n```step\nstage: weights\n```\nSome words that make up a step. " + step +
           "\n```quiz\nquestion: Q\nchoices:\n- {text: a, why: b, right: true}\n- {text: c, why: d}\n"
           "- {text: e, why: f}\n```\n";
}

std::vector<std::string> model_faults(const std::string& text) {
    const ParsedLesson parsed = parse_lesson(text, "test");
    std::vector<LessonError> faults = parsed.faults;
    if (faults.empty())
        faults = check_lesson(parsed.lesson, *engine::make_engine("cpu"), nullptr);
    std::vector<std::string> sentences;
    for (const LessonError& fault : faults)
        sentences.push_back(fault.sentence);
    return sentences;
}

} // namespace

TEST_CASE("live values of a model are those that PyTorch gives", "[lesson][model]") {
    const Pocket pocket(book_text);
    CHECK(pocket.number("probability(Mary)") == Approx(0.802).margin(5e-4));
    CHECK(pocket.number("probability(1)") == Approx(0.802).margin(5e-4));
    CHECK(pocket.number("probability(2)") == Approx(0.173).margin(5e-4));
    CHECK(pocket.word("likeliest(1)") == "Mary");
    CHECK(pocket.word("likeliest(3)") == "Sara");
    CHECK(pocket.number("logit(Mary)") == Approx(18.35408).margin(1e-3));
    CHECK(pocket.number("logit(Mary) - logit(John)") == Approx(1.53553).margin(1e-3));
    CHECK(pocket.number("attribution(7, Mary, John)") == Approx(4.0126).margin(1e-3));
    CHECK(pocket.number("L3.attribution(mlp, Mary)") == Approx(2.45467).margin(1e-3));
    CHECK(pocket.number("attribution(embedding, Mary)") == Approx(0.046).margin(1e-3));
    CHECK(pocket.number("kl()") == 0);
    CHECK(pocket.number("sum(probabilities[to@14, :])") == Approx(1));
    CHECK(pocket.number("count(logits[0, :])") == 1536);
    CHECK(pocket.number("max(logits[to@14, :])") == Approx(18.35408).margin(1e-3));
    CHECK(pocket.number("logit(Mary, 3)") == Approx(pocket.number("logit(Mary, and)")));
    CHECK(pocket.number("logit(Mary, 3)") != Approx(18.35408).margin(1e-3));
    CHECK(pocket.number("layer", 1) == 1);
}

TEST_CASE("losses and patches are those of the manual, which a forward pass in NumPy gives too",
          "[lesson][model]") {
    const Pocket pocket(book_text, {}, other_giver);
    CHECK(pocket.number("lost(7, Mary, John)") == Approx(3.918).margin(1e-3));
    CHECK(pocket.number("L2.lost(7, Mary, John)", 0) == Approx(3.918).margin(1e-3));
    CHECK(pocket.number("lost(7, Mary)") == // without John: only the logit
          Approx(pocket.number("logit(Mary)") - Pocket(book_text, {off_2_7}).number("logit(Mary)"))
              .margin(1e-3));
    CHECK(pocket.number("corrupted(logit(Mary) - logit(John))") == Approx(-1.632).margin(1e-3));
    CHECK(pocket.word("corrupted(likeliest(1))") == "John");
    CHECK(pocket.number("corrupted(L2.attribution(7, Mary, John))", 0) == Approx(3.930).margin(1e-3));
    CHECK(pocket.number("L0.recovered(head, 6, Mary, John)") == Approx(0.622).margin(1e-3));
    CHECK(pocket.number("L1.recovered(head, 5, Mary, John)") == Approx(0.335).margin(1e-3));
    CHECK(pocket.number("recovered(head, 7, Mary, John)") == Approx(0.002).margin(1e-3));
    CHECK(pocket.number("L3.recovered(v, 7, Mary, John)") == Approx(0.331).margin(1e-3));
    CHECK(pocket.number("L3.recovered(pattern, 7, Mary, John)") == Approx(-0.011).margin(1e-3));
    CHECK(pocket.number("recovered(residual, 14, Mary, John)") == Approx(0.329).margin(1e-3));
    CHECK(pocket.number("recovered(residual, book, Mary, John)") ==
          pocket.number("recovered(residual, 13, Mary, John)"));
    CHECK(pocket.number("path(\"0.6\", \"1.5\", values, Mary, John)") == Approx(0.223).margin(1e-3));
    CHECK(pocket.number("L3.path(\"0.6\", \"1.5\", keys, Mary, John)", 0) == Approx(0.039).margin(1e-3));
    CHECK(pocket.number("path(\"0.6\", \"1.5\", queries, Mary, John)") == Approx(0).margin(1e-3));
    CHECK(pocket.number("layer + patch_row + patch_column") == 0);
    CHECK(pocket.word("screen") == "stages");
    // With an ablated head, both prompts run without it.
    const Pocket without(book_text, {off_2_7}, other_giver);
    CHECK(without.number("lost(7, Mary, John)") == 0);
    CHECK(without.number("corrupted(gain(7))") == 0);

    const auto fault = [](const Pocket& of, const std::string& text) {
        try {
            of.number(text);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK_THAT(fault(pocket, "lost(8, Mary)"), Contains("lost names a head that does not exist"));
    CHECK_THAT(fault(pocket, "recovered(shape, 6, Mary, John)"), Contains("such as head or residual"));
    CHECK_THAT(fault(pocket, "recovered(head, 8, Mary, John)"), Contains("a position that does not exist"));
    CHECK_THAT(fault(pocket, "recovered(head, 6, Mary, Mary)"), Contains("both prompts give the same"));
    CHECK_THAT(fault(pocket, "path(\"0.6\", \"1.5\", scores, Mary, John)"),
               Contains("queries, keys or values"));
    CHECK_THAT(fault(pocket, "path(\"0.6\", \"0.7\", keys, Mary, John)"), Contains("earlier"));
    CHECK_THAT(fault(pocket, "path(0.6, 1.5, keys, Mary, John)"), Contains("in quotation marks"));
    CHECK_THAT(fault(pocket, "corrupted(corrupted(T))"), Contains("there is no second prompt"));
    CHECK_THAT(fault(Pocket(book_text), "recovered(head, 6, Mary, John)"),
               Contains("there is no second prompt"));
    CHECK_THAT(fault(Pocket(book_text, {}, "When Mary"), "recovered(head, 6, Mary, John)"),
               Contains("they differ from token"));
}

TEST_CASE("what a lesson reads of further passes is computed ahead", "[lesson][model]") {
    const Pocket pocket(book_text, {}, other_giver);
    const std::string step =
        "{{L2.lost(7, Mary, John)}}\n\n| a |\n| - |\n| {{recovered(head, 6, Mary, John)}} "
        "|\n\n- {{recovered(head, 6, Zanzibar, John)}}\n";
    const ParsedLesson parsed = parse_lesson(model_lesson("model: pocket", step), "test");
    REQUIRE(parsed.faults.empty());
    precompute_passes(parsed.lesson, pocket.run, Progress());
    Progress cancelled;
    cancelled.cancel();
    CHECK_THROWS_AS(precompute_passes(parsed.lesson, pocket.run, cancelled), Error);
    CHECK(Expression::parse("1 + max(recovered(head, 6, Mary, John), lost(1, Mary))").functions() ==
          std::vector<std::string>{"max", "recovered", "lost"});
}

TEST_CASE("before is the value without gains and edits", "[lesson][model]") {
    const Pocket whole(book_text), cut(book_text, {off_0_4});
    const std::string weight = "L2.weights[7][to@14, Mary]";
    CHECK(cut.number("before(" + weight + ")") == Approx(whole.number(weight)));
    CHECK(cut.number(weight) != Approx(whole.number(weight)));
    CHECK(cut.number("before(probability(Mary))") == Approx(cut.number("before(Mary)")));
    CHECK(whole.number("before(1 + layer)") == 3);
    CHECK(cut.number("retyped") == 0);
}

TEST_CASE("cells and functions of any layer are read with its name before them", "[lesson][model]") {
    const Pocket pocket(book_text, {off_0_4});
    CHECK(pocket.number("L2.weights[7][to@14, Mary]", 0) == Approx(pocket.number("weights[7][to@14, Mary]")));
    CHECK(pocket.number("L0.weights[4][book, a]") > 0.99);
    CHECK(pocket.number("L0.previous(4)") == Approx(12.0 / 14).margin(0.01)); // two rows read two back
    CHECK(pocket.number("previous(4)") < 0.5);
    CHECK(pocket.number("L0.gain(4)") == 0);
    CHECK(pocket.number("gain(4)") == 1);
    // The residual stream: the output of a layer is its input plus the outputs of its two branches.
    for (const char* l : {"L0", "L1", "L2", "L3"}) {
        const std::string layer(l);
        CHECK(pocket.number(layer + ".resid_in[to@14, 5] + " + layer + ".attn_out[to@14, 5] + " + layer +
                            ".mlp_out[to@14, 5]") ==
              Approx(pocket.number(layer + ".resid_out[to@14, 5]")).margin(1e-5));
    }
    CHECK(pocket.number("difference(L0.resid_out[:, :], L1.resid_in[:, :])") == 0);
    CHECK(pocket.number("count(L1.mlp_act[to@14, :])") == 384);
    CHECK(pocket.number("norm(final_norm[to@14, :])") > 1);
}

TEST_CASE("gains of a scene switch heads of any layer off", "[lesson][model]") {
    const Pocket pocket(book_text, {off_2_7});
    CHECK(pocket.number("probability(Mary)") == Approx(0.080647).margin(1e-4));
    CHECK(pocket.number("probability(John)") == Approx(0.873918).margin(1e-4));
    CHECK(pocket.number("before(Mary)") == Approx(0.802).margin(5e-4));
    CHECK(pocket.number("attribution(7, Mary, John)") == 0);
    CHECK(pocket.number("kl()") > 0.5);
    // The last head gain of a head counts, and a head gain of 1 is not an edit.
    CHECK(Pocket(book_text, {off_2_7, HeadGain{2, 7, 1}}).run.edits.empty());
    StepScene scene;
    scene.gains = {HeadGain{4, 0, 0}};
    CHECK_THROWS_WITH(edits_of(scene, pocket.model->model->config()),
                      Contains("there is no head 4.0; layers are numbered 0 to 3"));
}

TEST_CASE("what a model does not have is said in a sentence", "[lesson][model]") {
    const Pocket pocket("The cat sat down and");
    const auto fault = [&](const std::string& text) {
        try {
            pocket.number(text);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK_THAT(fault("probability(Zanzibar)"),
               Contains("\"Zanzibar\" is") && Contains("tokens of pocket; give one"));
    CHECK(fault("probability(0)") ==
          "probability takes a word, or 1 for the likeliest token, 2 for the next");
    CHECK_THAT(fault("L4.weights[0][0, 0]"), Contains("there is no layer 4; layers are numbered 0 to 3"));
    CHECK_THAT(fault("attribution(8, sat)"), Contains("names a head that does not exist"));
    CHECK_THAT(fault("attribution(norm, sat)"), Contains("the number of a head, mlp or embedding"));
    CHECK_THAT(fault("L0.H"), Contains("neither a tensor nor a function of a layer"));
    const Problem problem = project::build_recipe({.preset = "cat-sleeps", .sentence = "Cat sleeps"}).problem;
    const Trace trace = static_cast<engine::Engine&>(*engine::make_engine("cpu")).run(problem);
    const LessonState plain{.problem = problem, .trace = trace};
    CHECK_THROWS_WITH(Expression::parse("probability(1)").value(plain), Contains("no model is on screen"));
    CHECK_THROWS_WITH(Expression::parse("L0.weights[0][0, 0]").value(plain),
                      Contains("and no model is on screen; open one"));
    CHECK_THROWS_WITH(Expression::parse("resid_in[0, 0]").value(plain),
                      Contains("and no model is on screen; open one"));
}

TEST_CASE("a lesson on a model is checked like any other", "[lesson][model]") {
    const std::string front = "model: pocket\nsentence: " + std::string(book_text);
    CHECK(model_faults(model_lesson(front, "{{probability(Mary) = 0.80}}")) == std::vector<std::string>{});
    CHECK(
        model_faults(model_lesson(front, "{{probability(Mary) = 0.81}}")) ==
        std::vector<std::string>{"the lesson says 0.81 for probability(Mary), and the engine computes 0.80"});
    CHECK(model_faults(model_lesson(front, "{{L2.weights[7][to@14, Mary] = 0.50}}")).size() == 1);
    const std::string no_layer = "there is no layer 4; layers are numbered 0 to 3";
    CHECK(model_faults(model_lesson(front + "\nlayer: 4", "")) ==
          std::vector<std::string>{no_layer, no_layer}); // the step and the quiz
    CHECK_THAT(model_faults(model_lesson(front + "\nH: 2", "")).front(),
               Contains("cannot be combined with \"model\""));
    CHECK_THAT(model_faults(model_lesson("layer: 1", "")).front(), Contains("add model: pocket"));
    CHECK_THAT(model_faults(model_lesson("gain: {\"1.0\": 0}", "")).front(),
               Contains("a preset is one layer"));
    CHECK_THAT(model_faults(model_lesson("model: no-such-folder", "")).front(), Contains("no-such-folder"));
    const std::string patching = front + "\nscreen: patching\n";
    const std::string second = patching + "corrupted: " + other_giver + "\n";
    CHECK(model_faults(model_lesson(second + "token: Mary\npatched: head\npatch: '3.7'", "")).empty());
    CHECK(model_faults(model_lesson(second + "patch: '4.14'", "")).empty());
    CHECK_THAT(model_faults(model_lesson(second + "patched: head\npatch: '4.7'", "")).front(),
               Contains("has no cell 4.7"));
    CHECK_THAT(model_faults(model_lesson(second + "token: Zanzibar", "")).front(), Contains("Zanzibar"));
    CHECK_THAT(model_faults(model_lesson(patching, "")).front(), Contains("there is no second prompt"));
    CHECK_THAT(model_faults(model_lesson(patching + "corrupted: When Mary", "")).front(),
               Contains("patching needs equal numbers"));
    CHECK_THAT(model_faults(model_lesson("screen: effects", "")).front(), Contains("add model: pocket"));
}

TEST_CASE("a preset takes the place of a model, and a model that of a preset", "[lesson][model]") {
    StepScene model, preset;
    model.model = "pocket";
    model.sentence = "The cat sat down";
    preset.preset = "random";
    preset.H = 2;
    preset.gains = {HeadGain{{}, 0, 0}};
    const StepScene first = combine_scenes(preset, model), second = combine_scenes(model, preset);
    CHECK(first.model == "pocket");
    CHECK((!first.preset && !first.H && first.gains.empty()));
    CHECK(second.preset == "random");
    CHECK((!second.model && !second.sentence));
}

TEST_CASE("panels of a model show its numbers", "[lesson][model]") {
    const Pocket pocket(book_text);
    const Problem& problem = *layer_of(pocket.run, 2).problem;
    const auto engine = engine::make_engine("cpu");
    const auto figure = [&](const LessonPanel& panel, const Knobs& set) {
        return compute_panel(panel, set, problem, &pocket.run, *engine);
    };

    const LessonPanel sampling{SamplingPanel{}};
    const auto plain = std::get<SamplingFigure>(figure(sampling, {}));
    CHECK(plain.candidate_count == 1536);
    REQUIRE(plain.rows.size() == 8);
    CHECK(plain.rows[0].word == "Mary");
    CHECK(plain.rows[0].sampling_probability == Approx(plain.rows[0].probability));
    const auto cut = std::get<SamplingFigure>(figure(sampling, {{"top_k", 2}}));
    CHECK(cut.candidate_count == 2);
    CHECK(cut.rows[0].sampling_probability + cut.rows[1].sampling_probability == Approx(1));
    CHECK(cut.rows[2].sampling_probability == 0);
    CHECK(std::get<SamplingFigure>(figure(sampling, {{"top_p", 0.9}})).candidate_count == 2); // 0.802 + 0.173
    CHECK(std::get<SamplingFigure>(figure(sampling, {{"top_p", 0.8}})).candidate_count == 1);
    // exp(l / 2): the ratio of two tokens becomes its root.
    const auto warm = std::get<SamplingFigure>(figure(sampling, {{"temperature", 2}}));
    CHECK(warm.rows[0].sampling_probability / warm.rows[1].sampling_probability ==
          Approx(std::sqrt(plain.rows[0].sampling_probability / plain.rows[1].sampling_probability)));

    const LessonPanel heads{HeadsPanel{{"effect", "attribution", "reads", "without"}, "Mary", "John", 3}};
    const auto table = std::get<HeadsFigure>(figure(heads, {}));
    REQUIRE(table.rows.size() == 3);
    CHECK(table.rows[0].head == analysis::HeadPlace{2, 7});
    CHECK(table.rows[0].cells[0].number == Approx(-2.38291 - 1.53553).margin(1e-3));
    CHECK(table.rows[0].cells[1].number == Approx(4.0126).margin(1e-3));
    CHECK(table.rows[0].cells[2].word == "Mary");
    CHECK(table.rows[0].cells[3].number == Approx(0.080647).margin(1e-4));
    CHECK(table.probability == Approx(0.802).margin(5e-4));
    CHECK_THROWS_WITH(figure({HeadsPanel{{"effect"}, "", "", 3}}, {}), Contains("add word: Mary"));
    CHECK_THROWS_WITH(figure({HeadsPanel{{"colour"}, "", "", 3}}, {}), Contains("no column \"colour\""));
    CHECK_THROWS_WITH(compute_panel(heads, {}, problem, nullptr, *engine), Contains("no model is on screen"));
}

TEST_CASE("the panel of heads finds those that read what followed", "[lesson][model]") {
    const Pocket pocket("kite bell rope drum coat kite bell");
    const LessonPanel panel{HeadsPanel{{"induction", "reads"}, "", "", 32}};
    const auto table = std::get<HeadsFigure>(
        compute_panel(panel, {}, *layer_of(pocket.run, 2).problem, &pocket.run, *engine::make_engine("cpu")));
    const auto of = [&](analysis::HeadPlace head) {
        return std::ranges::find(table.rows, head, &HeadsFigure::Row::head)->cells.front().number;
    };
    // Rows 6 and 7 ask: [6, 2] and [7, 3] in PyTorch.
    CHECK(of({2, 7}) == Approx((0.995609 + 0.982396) / 2).margin(1e-4));
    CHECK(of({2, 4}) == Approx((0.973518 + 0.854284) / 2).margin(1e-4));
    CHECK(of({0, 4}) == Approx(0).margin(1e-3));
}

TEST_CASE("positions turn pairs by angles that fall from pair to pair", "[lesson][model]") {
    const auto at = [](std::int64_t query, std::int64_t key, std::int64_t pair) {
        PositionsPanel panel;
        panel.query = query;
        panel.key = key;
        panel.pair = pair;
        return positions_figure(panel);
    };
    const PositionsFigure fast = at(9, 6, 0);
    CHECK(fast.distance == 3);
    CHECK(fast.angle == Approx(57.29578));
    CHECK(fast.rotation == Approx(3 * 57.29578));
    CHECK(fast.pair == Approx(std::cos(3.0)));
    CHECK(fast.bias == Approx(-3 * 0.5)); // H = 8: the first slope is 2^-1
    CHECK(at(30, 27, 5).all == Approx(fast.all));
    CHECK(at(6, 9, 0).rotation == Approx(-3 * 57.29578));
    CHECK(at(9, 6, 6).angle == Approx(57.29578 * std::pow(10000.0, -0.5)));
    // Two rows of sines, Vaswani et al. 2017, have a product of that form.
    double sines = 0;
    for (int p = 0; p < 12; ++p) {
        const double angle = std::pow(10000.0, -2.0 * p / 24);
        sines += std::sin(9 * angle) * std::sin(6 * angle) + std::cos(9 * angle) * std::cos(6 * angle);
    }
    CHECK(fast.all == Approx(sines / 12));
}
