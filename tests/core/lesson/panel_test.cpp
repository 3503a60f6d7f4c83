#include "core/base/assets.h"
#include "core/base/error.h"
#include "core/lesson/check.h"
#include "core/lesson/panel_figure.h"
#include "core/project/recipe.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>

using namespace headscope;
using namespace headscope::lesson;

namespace {

const Problem& four_words() {
    static const Problem problem = [] {
        project::Recipe recipe;
        recipe.preset = "random";
        recipe.sentence = "The cat sat down";
        return project::build_recipe(recipe).problem;
    }();
    return problem;
}

template<class Figure>
Figure figure_of(const LessonPanel& panel, const Knobs& set, const Problem& problem = four_words()) {
    return std::get<Figure>(compute_panel(panel, set, problem, nullptr, *engine::make_engine("cpu")));
}

std::string knob_fault(const LessonPanel& panel, const std::string& name, double value) {
    try {
        check_knob(panel, {}, name, value);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

double value_of(const LessonPanel& panel, const Knobs& set, const std::string& name) {
    const std::vector<Knob> knobs = knobs_of(panel, set);
    return std::ranges::find(knobs, name, &Knob::name)->value;
}

} // namespace

TEST_CASE("the cost panel counts a layer of width 512") {
    const LessonPanel panel{CostPanel{.D = 512, .H = 8, .T = 1024}};
    const auto figure = figure_of<CostFigure>(panel, {});
    CHECK(figure.dims.dk == 64);
    CHECK(figure.cost.parameters == 1'048'576);           // 4 x 512 x 512
    CHECK(figure.cost.projection_flops == 2'147'483'648); // 8 x 1024 x 512 x 512
    CHECK(figure.cost.attention_flops == 2'147'483'648);  // 4 x 1024 x 1024 x 512: T = 2 D
    CHECK(figure.cost.weights_bytes == 33'554'432);       // 8 x 1024 x 1024 x 4
    CHECK(figure.crossing == 1024);
    CHECK(figure.full_width.parameters == 8 * figure.cost.parameters);
    CHECK(figure.full_width.projection_flops == 8 * figure.cost.projection_flops);
    CHECK(figure.full_width.attention_flops == 8 * figure.cost.attention_flops);
    CHECK(figure.projections.back() == std::pair(131072.0, 8.0 * 131072 * 512 * 512));
    CHECK(figure.attention.front() == std::pair(1.0, 4.0 * 512));

    // H moves dk and nothing else of these; grouped queries do.
    const auto more = figure_of<CostFigure>(panel, {{"H", 32}});
    CHECK(more.dims.dk == 16);
    CHECK(more.cost.parameters == figure.cost.parameters);
    CHECK(more.cost.flops() == figure.cost.flops());
    CHECK(more.dims.Hkv == 32);
    const auto grouped = figure_of<CostFigure>(panel, {{"Hkv", 2}});
    CHECK(grouped.cost.parameters == 2 * 512 * 512 + 2 * 512 * 128);
    CHECK(grouped.crossing == 512 + 128);
    const auto longest = figure_of<CostFigure>(panel, {{"T", 131072}, {"D", 16384}, {"H", 128}});
    CHECK(longest.full_width.attention_flops == 128LL * 4 * 131072 * 131072 * 16384);
}

TEST_CASE("the cache panel gives the bytes of Llama 2 70B") {
    const LessonPanel panel{CachePanel{.layers = 80, .H = 64, .Hkv = 8, .dk = 128, .T = 4096, .bytes = 2}};
    const auto figure = figure_of<CacheFigure>(panel, {});
    REQUIRE(figure.rows.size() == 3);
    CHECK(figure.rows[0].variant.name == "MHA");
    CHECK(figure.rows[0].per_token == 2'621'440); // 2 x 80 x 64 x 128 x 2
    CHECK(figure.rows[1].variant.name == "GQA");
    CHECK(figure.rows[1].variant.Hkv == 8);
    CHECK(figure.rows[1].per_token == 327'680);
    CHECK(figure.rows[1].all == 1'342'177'280); // 4,096 tokens: 1.3 GB
    CHECK(figure.rows[2].variant.name == "MQA");
    CHECK(figure.rows[2].all == 4096LL * 40'960);
    CHECK(figure.rows[0].curve.back().second == 131072.0 * 2'621'440);
    CHECK(figure_of<CacheFigure>(panel, {{"Hkv", 64}}).rows.size() == 2);
    CHECK(figure_of<CacheFigure>(panel, {{"Hkv", 1}}).rows.size() == 2);
    CHECK(figure_of<CacheFigure>(panel, {{"H", 1}}).rows.size() == 1);
}

TEST_CASE("the cache panel gives the bytes of DeepSeek-V2, whose layers cache latent vectors") {
    const LessonPanel panel{
        CachePanel{.layers = 60, .H = 128, .Hkv = 8, .dk = 128, .T = 4096, .bytes = 2, .latent = 576}};
    const auto figure = figure_of<CacheFigure>(panel, {});
    REQUIRE(figure.rows.size() == 4);
    CHECK(figure.rows[0].per_token == 60 * 32'768 * 2);
    CHECK(figure.rows[3].variant.text() == "MLA, r + dr = 576");
    CHECK(figure.rows[3].per_token == 69'120); // 60 x 576 x 2
    CHECK(figure.rows[3].all == 4096LL * 69'120);
    CHECK(figure_of<CacheFigure>(panel, {{"latent", 0}}).rows.size() == 3);
    // The knob is that of panels with a latent vector alone.
    CHECK(value_of(panel, {{"latent", 80}}, "latent") == 80);
    CHECK(
        std::ranges::none_of(knobs_of({CachePanel{}}, {}), [](const Knob& k) { return k.name == "latent"; }));
}

TEST_CASE("knobs keep sizes that go together and say what they take") {
    const LessonPanel panel{CostPanel{.D = 512, .H = 8, .T = 1024}};
    CHECK(value_of(panel, {{"H", 16}}, "Hkv") == 16); // follows H
    CHECK(value_of(panel, {{"H", 4}, {"Hkv", 8}}, "Hkv") == 4);
    CHECK(value_of(panel, {{"D", 768}, {"H", 12}}, "H") == 12);
    CHECK(value_of(panel, {{"D", 512}, {"H", 12}}, "H") == 8); // 12 does not divide 512
    CHECK(value_of(panel, {{"T", 1e9}}, "T") == 131072);
    CHECK(knob_fault(panel, "T", 1000).empty());
    CHECK(knob_fault(panel, "T", 200000).find("from 1 to 131072") != std::string::npos);
    CHECK(knob_fault(panel, "T", 2.5).find("whole numbers") != std::string::npos);
    CHECK(knob_fault(panel, "H", 12).find("H = 12 does not fit") != std::string::npos);
    CHECK(knob_fault(panel, "Hkv", 3).find("it can be 1, 2, 4, 8") != std::string::npos);
    CHECK(knob_fault(panel, "W", 3).find("no knob") != std::string::npos);
}

TEST_CASE("three sharp heads blur to the entropy of three words on their way to one") {
    const Lesson lesson = parse_lesson(asset("lessons/one-head.md"), "").lesson;
    const LessonPanel* panel = nullptr;
    StepScene scene;
    for (const Step& step : lesson.steps)
        for (const LessonBlock& block : step.blocks)
            if (const auto* found = std::get_if<LessonPanel>(&block)) {
                panel = found;
                scene = combine_scenes(lesson.scene, step.scene);
            }
    REQUIRE(panel != nullptr);
    const project::Recipe recipe = recipe_of(scene);
    const Problem problem = project::with_edits(project::build_recipe(recipe).problem, recipe);
    const auto sharp = figure_of<MergeFigure>(*panel, {}, problem),
               blurred = figure_of<MergeFigure>(*panel, {{"merged", 1}}, problem);
    REQUIRE(sharp.heads.size() == 3);
    std::vector<std::string> read;
    for (const MergeFigure::Head& head : sharp.heads) {
        CHECK(head.entropy < 0.05);
        CHECK(head.weights[static_cast<std::size_t>(head.top)] > 0.99F);
        read.push_back(sharp.words[static_cast<std::size_t>(head.top)]);
    }
    CHECK(read == std::vector<std::string>{"animal", "was", "tired"});
    for (const MergeFigure::Head& head : blurred.heads) {
        CHECK(std::abs(head.entropy - std::log(3.0)) < 0.03);
        for (const MergeFigure::Head& other : sharp.heads)
            CHECK(std::abs(head.weights[static_cast<std::size_t>(other.top)] - 1.0F / 3) < 0.01F);
    }
    CHECK(std::ranges::is_sorted(sharp.entropy_by_fraction, {}, &std::pair<double, double>::second));
    CHECK(std::abs(sharp.entropy_by_fraction.back().second - blurred.entropy) < 1e-6);

    // The panel shows the same for every H that the learner chose.
    project::Recipe one = recipe;
    one.H = 1;
    const auto again =
        figure_of<MergeFigure>(*panel, {}, project::with_edits(project::build_recipe(one).problem, one));
    CHECK(again.heads[2].weights == sharp.heads[2].weights);
}

TEST_CASE("panels are read by line, and refuse what they cannot use") {
    const auto faults_of = [](const std::string& panel) {
        const std::string text = "---\nid: t\ntitle: T\nminutes: 1\ndifficulty: beginner\n---\n"
                                 "## S\n```panel\n" +
                                 panel +
                                 "\n```\nSome words stand in this step.\n"
                                 "```quiz\nquestion: Q\nchoices:\n- {text: a, why: b, right: true}\n"
                                 "- {text: c, why: d}\n- {text: e, why: f}\n```\n";
        const ParsedLesson parsed = parse_lesson(text, "t.md");
        std::vector<LessonError> faults = parsed.faults;
        if (faults.empty())
            faults = check_lesson(parsed.lesson, *engine::make_engine("cpu"), nullptr);
        std::string lines;
        for (const LessonError& fault : faults)
            lines += std::to_string(fault.line) + ": " + fault.sentence + "\n";
        return lines;
    };
    const auto finds = [&](const std::string& panel, const std::string& words) {
        INFO(faults_of(panel));
        CHECK(faults_of(panel).find(words) != std::string::npos);
    };
    for (const char* good :
         {"kind: cost", "kind: cache\nmodels:\n- {name: M, layers: 2, H: 4, Hkv: 2, dk: 8}",
          "kind: blur\nrow: cat\nheads: [0, 1]", "kind: loop"})
        CHECK(faults_of(good).empty());
    finds("kind: pie", "9: \"kind\" of the panel is \"pie\"");
    finds("H: 8", "9: the panel has no \"kind\"");
    finds("kind: cost\nT: 0", "10: \"T\" of the panel is 0; it should be at least 1");
    finds("kind: cost\nwidth: 3", "10: the panel has no entry \"width\"");
    finds("kind: loop\nT: 3", "10: the panel has no entry \"T\"");
    finds("kind: cost\nknobs: [T, W]", "10: the panel has no knob \"W\"");
    finds("kind: cost\nH: 7", "9: H = 7 does not fit the other sizes");
    finds("kind: blur", "9: the panel has no row");
    finds("kind: blur\nrow: cat\nheads: [first]",
          "\"first\" in \"heads\" of the panel is not a whole number");
    finds("kind: blur\nrow: dog", "9: there is no token \"dog\"");
    finds("kind: blur\nrow: cat\nheads: [0, 5]", "9: there is no head 5 to merge");
    finds("kind: blur\nrow: cat\nH: 3", "9: H = 3 does not divide");
}
