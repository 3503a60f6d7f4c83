#include "app/draw/flow/flow_heads.h"
#include "app/draw/flow/flow_page.h"
#include "app/draw/kit/format.h"
#include "app/state/screens/flow.h"
#include "tests/app/support/fixture.h"
#include "tests/catch.h"

#include <cmath>

// The picture of the Flow and its story: the numbers are those of the trace, at every instant.

namespace headscope::test {

using namespace headscope::app;
namespace {

struct FlowOf {
    Shown shown;
    ViewState view;
    figure::TextMeasure measure = approximate_measure();

    explicit FlowOf(const Wish& wish = {}) : shown(make_shown(wish)) {
        view.attention.screen = Screen::flow;
        follow_flow(shown, view);
    }
    Picture draw(float width = 1512, float height = 848) const {
        return draw_flow_page({.shown = shown,
                               .view = view,
                               .theme = theme(false),
                               .measure = measure,
                               .width = width,
                               .height = height});
    }
    Picture at(float time) {
        view.flow.time = time;
        return draw();
    }
};

std::string items_of(const Picture& picture) {
    std::string all;
    for (const figure::SceneItem& item : picture.scene.items) {
        if (const auto* text = std::get_if<figure::TextItem>(&item))
            all += fmt::format("{} {:.2f} {:.2f}\n", text->text, text->at.x, text->at.y);
        if (const auto* rect = std::get_if<figure::RectItem>(&item))
            all += fmt::format("{:.2f} {:.2f} {:.2f} {:.2f} {}\n", rect->area.x, rect->area.y, rect->area.w,
                               rect->area.h, rect->fill);
        if (const auto* band = std::get_if<figure::BandItem>(&item))
            all += fmt::format("{:.2f} {:.2f} {}\n", band->edge.back().x, band->edge.back().y,
                               band->colors.back());
    }
    return all;
}

} // namespace

TEST_CASE("the story of four keys lasts 10.4 seconds, and none lasts more than 12", "[flow]") {
    const std::vector<float> four{0.03F, 0.86F, 0.08F, 0.03F};
    CHECK(flow_story(four).duration() == Approx(10.4F));
    CHECK(flow_story(four).start(FlowStep::softmax) == Approx(5.2F));
    for (const std::size_t keys : {1U, 5U, 12U, 30U, 64U}) {
        const std::vector<float> equal(keys, 1 / static_cast<float>(keys));
        const FlowStory story = flow_story(equal);
        CHECK(story.duration() <= longest_flow_story + 0.001F);
        CHECK(story.key_starts.front() == 0);
        CHECK(story.key_starts.back() == 1);
        CHECK(story.compared(keys - 1, story.end(FlowStep::compare)) == 1);
        CHECK(story.mixed(keys - 1, story.end(FlowStep::mix)) == Approx(1));
        CHECK(story.mixed(0, story.start(FlowStep::mix)) == 0);
    }
}

TEST_CASE("keys with little weight share the time of one key", "[flow]") {
    std::vector<float> weights(10, 0.01F);
    weights[3] = 0.91F;
    const FlowStory story = flow_story(weights);
    CHECK(story.key_starts[4] - story.key_starts[3] == Approx(0.5F));
    CHECK(story.key_starts[1] - story.key_starts[0] == Approx(0.5F / 9));
}

TEST_CASE("the slices of an output row add up to the row", "[flow]") {
    FlowOf flow;
    Picture picture;
    const DrawContext context{.shown = flow.shown,
                              .view = flow.view,
                              .theme = theme(false),
                              .measure = flow.measure,
                              .width = 1512,
                              .height = 848};
    const Dims& dims = flow.shown.dims();
    const FlowLayout layout = flow_layout({.width = 1512,
                                           .height = 848,
                                           .Tq = dims.Tq,
                                           .Tk = dims.Tk,
                                           .D = dims.D,
                                           .H = dims.H,
                                           .Hkv = dims.Hkv,
                                           .dk = dims.dk,
                                           .dv = dims.dv});
    const FlowPage page{picture, context, layout, 2, 0};
    for (std::int64_t h = 0; h < dims.H; ++h)
        for (std::int64_t i = 0; i < dims.Tq; ++i) {
            const figure::Rect row = layout.heads[static_cast<std::size_t>(h)].out.at(i);
            float top = row.y;
            for (std::int64_t j = 0; j < dims.Tk; ++j) {
                const FlowSlice slice = flow_output_slice(page, h, i, j);
                CHECK(slice.top == Approx(top).margin(0.001));
                CHECK(slice.bottom - slice.top == Approx(row.h * page.weight(h, i, j)).margin(0.001));
                top = slice.bottom;
            }
            CHECK(top == Approx(row.bottom()).margin(0.01));
        }
}

TEST_CASE("each sentence of the story has the numbers of the trace", "[flow]") {
    FlowOf flow;
    const Dims& dims = flow.shown.dims();
    const std::int64_t word = flow_word(flow.view.flow, dims.Tq);
    const FlowStory& story = flow.view.flow.story;
    const auto sentence = [&](float time) {
        const FlowSubtitle subtitle = flow_subtitle(flow.shown, flow.view, time);
        return subtitle.text + " " + subtitle.strong;
    };
    const auto value = [&](TensorId id, std::int64_t j) { return flow.shown.value({id, {0, 0, word, j}}); };
    std::int64_t best = 0;
    for (std::int64_t j = 0; j < dims.Tk; ++j) {
        // When key j has been met, the sentence has the highest score so far.
        if (value(TensorId::scores, j) > value(TensorId::scores, best))
            best = j;
        const float from = story.start(FlowStep::compare), all = story.end(FlowStep::compare) - from;
        const float met = from + all * story.key_starts[static_cast<std::size_t>(j) + 1] - 0.01F;
        INFO(sentence(met));
        CHECK(sentence(met).find(number(value(TensorId::scores, best), 2)) != std::string::npos);
        CHECK(sentence(met).find("“" + flow.shown.problem().key_label(best) + "”") != std::string::npos);
    }
    std::int64_t largest = 0;
    for (std::int64_t j = 1; j < dims.Tk; ++j)
        if (value(TensorId::weights, j) > value(TensorId::weights, largest))
            largest = j;
    const std::string percent = std::to_string(std::lround(100 * value(TensorId::weights, largest))) + " %";
    CHECK(sentence(story.start(FlowStep::softmax) + 0.1F).find(percent) != std::string::npos);
    CHECK(sentence(story.start(FlowStep::mix) + 0.1F).find(percent) != std::string::npos);
    for (int step = 0; step < flow_step_count; ++step) {
        const float time = story.starts[static_cast<std::size_t>(step)] + 0.2F;
        const FlowSubtitle subtitle = flow_subtitle(flow.shown, flow.view, time);
        INFO(subtitle.text);
        CHECK(all_text(flow.at(time)).find(subtitle.text) != std::string::npos);
    }
}

TEST_CASE("scrubbing back shows the same picture again", "[flow]") {
    FlowOf flow;
    std::vector<std::string> forward;
    constexpr float step = 0.37F;
    for (int n = 0; static_cast<float>(n) * step <= flow.view.flow.story.duration(); ++n)
        forward.push_back(items_of(flow.at(static_cast<float>(n) * step)));
    for (std::size_t n = forward.size(); n-- > 0;)
        CHECK(items_of(flow.at(static_cast<float>(n) * step)) == forward[n]);
    CHECK(items_of(flow.at(0)) == items_of(flow.at(flow.view.flow.story.duration())));
}

TEST_CASE("parts that grow and shrink during the story keep the color of their head", "[flow]") {
    FlowOf flow;
    constexpr int instants = 400;
    for (int i = 0; i <= instants; ++i) {
        const float time = flow.view.flow.story.duration() * static_cast<float>(i) / instants;
        INFO(time);
        for (const MatrixGrid& grid : flow.at(time).grids)
            CHECK(grid.map != "diverging");
    }
}

TEST_CASE("the Flow of every kind of problem can be drawn at every step", "[flow]") {
    for (const Wish& wish : many_wishes()) {
        FlowOf flow(wish);
        if (!why_no_flow(*flow.shown.document).empty()) {
            CHECK(all_text(flow.draw()).find("The Flow is drawn for up to") != std::string::npos);
            continue;
        }
        for (const float part : {0.0F, 0.05F, 0.2F, 0.45F, 0.6F, 0.7F, 0.85F, 0.95F}) {
            const Picture picture = flow.at(part * flow.view.flow.story.duration());
            CHECK(picture.scene.items.size() > 20);
            CHECK(all_text(picture).find("nan") == std::string::npos);
            for (const figure::SceneItem& item : picture.scene.items)
                if (const auto* band = std::get_if<figure::BandItem>(&item))
                    for (const figure::Point& point : band->edge)
                        REQUIRE((std::isfinite(point.x) && std::isfinite(point.y)));
        }
    }
}

TEST_CASE("a word of the Flow is put in focus, and a head switched off", "[flow]") {
    FlowOf flow;
    const Picture picture = flow.draw();
    apply(flow.view, std::get<ViewChange>(action_of(picture, "word 1")), flow.shown.dims());
    CHECK(flow.view.flow.word == 1);
    const auto command = std::get<Command>(action_of(picture, "switch head 1"));
    REQUIRE(std::get_if<SetGain>(&command) != nullptr);
    CHECK(std::get_if<SetGain>(&command)->head == 1);
    CHECK(std::get_if<SetGain>(&command)->gain == 0);
}

} // namespace headscope::test
