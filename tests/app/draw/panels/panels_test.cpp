#include "app/draw/kit/format.h"
#include "app/draw/panels/panels.h"
#include "tests/app/support/fixture.h"
#include "tests/catch.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test;

namespace {

Picture draw(Picture (*panel)(const DrawContext&), const Shown& shown, const ViewState& view,
             float width = 312) {
    const figure::TextMeasure measure = approximate_measure();
    return panel({shown, view, theme(false), measure, width, 800});
}

bool has_line(const Picture& picture, const std::string& line) {
    return ("\n" + all_text(picture)).find("\n" + line + "\n") != std::string::npos;
}

void check_labels_and_width(const Picture& picture, float width) {
    const figure::TextMeasure measure = approximate_measure();
    std::set<std::string> labels;
    for (const Hotspot& spot : picture.hotspots) {
        CHECK(labels.insert(spot.label).second);
        CHECK((spot.area.x >= 0 && spot.area.right() <= width));
    }
    for (const figure::SceneItem& item : picture.scene.items)
        if (const auto* text = std::get_if<figure::TextItem>(&item)) {
            const float length = measure(text->text, text->font, text->size);
            const float left = text->at.x - (text->align == figure::Align::right    ? length
                                             : text->align == figure::Align::center ? length / 2
                                                                                    : 0);
            INFO(text->text);
            CHECK((left >= 0 && left + length <= width + 0.5F));
        }
}

} // namespace

TEST_CASE("the list of tensors has every tensor with shape and range, and leads to its stage", "[panels]") {
    for (const Wish& wish : many_wishes()) {
        const Shown shown = make_shown(wish);
        const Picture picture = draw(draw_tensors, shown, ViewState{});
        check_labels_and_width(picture, 312);
        for (int id = 0; id < tensor_count; ++id) {
            const auto tensor_id = static_cast<TensorId>(id);
            const TensorInfo& info = tensor_info(tensor_id);
            const Tensor* tensor = shown.tensor(tensor_id);
            const bool listed =
                std::ranges::count(picture.hotspots, std::string(info.name), &Hotspot::label) == 1;
            INFO(info.name);
            CHECK(listed ==
                  (tensor != nullptr || tensor_id == TensorId::mask || tensor_id == TensorId::gain));
            if (tensor == nullptr || !is_stage(tensor_id))
                continue;
            CHECK(std::get<GoTo>(std::get<ViewChange>(action_of(picture, std::string(info.name)))).group ==
                  info.group);
        }
    }
    const Shown shown = make_shown({});
    const Picture picture = draw(draw_tensors, shown, ViewState{}, 480);
    const auto values = shown.trace->stage(TensorId::concat)->values();
    CHECK(has_line(picture, number(static_cast<double>(std::ranges::min(values)), 2) + " to " +
                                number(static_cast<double>(std::ranges::max(values)), 2)));
    CHECK(has_line(picture, "B × Tq × H·dv = (1, 4, 8)"));
    CHECK(has_line(picture, "128 B"));
    CHECK(std::get<GoTo>(std::get<ViewChange>(action_of(picture, "W_O"))).group == StageGroup::output);
    CHECK(std::get<GoTo>(std::get<ViewChange>(action_of(picture, "W_K"))).group == StageGroup::qkv);
    CHECK(std::get<GoTo>(std::get<ViewChange>(action_of(picture, "mask"))).group == StageGroup::masked);
}

TEST_CASE("minus infinity is no end of a range", "[panels]") {
    const Shown shown = make_shown({.mask = {CausalMask{}}});
    const Picture picture = draw(draw_tensors, shown, ViewState{}, 480);
    float low = INFINITY, high = -INFINITY;
    for (const float value : shown.trace->stage(TensorId::masked)->values())
        if (std::isfinite(value)) {
            low = std::min(low, value);
            high = std::max(high, value);
        }
    CHECK(has_line(picture, number(static_cast<double>(low), 2) + " to " +
                                number(static_cast<double>(high), 2) + ", and −∞"));
    CHECK(has_line(picture, "causal"));
}

TEST_CASE("the list of heads tells what each was built to do and does, and a click picks it", "[panels]") {
    const Shown shown = make_shown({.head_roles = {"verb → subject", "previous token"}});
    ViewState view;
    view.head = 1;
    const Picture picture = draw(draw_heads, shown, view);
    check_labels_and_width(picture, 312);
    CHECK(has_line(picture, "built to: verb → subject"));
    CHECK(has_line(picture, "does: previous token 0.85"));
    CHECK(has_line(picture, "0.50 nats"));
    CHECK(has_line(picture, "50 %"));
    for (std::int64_t h = 0; h < 2; ++h)
        CHECK(
            std::get<PickHead>(std::get<ViewChange>(action_of(picture, "Head " + std::to_string(h)))).head ==
            h);
    // The one in focus, and no other, is highlighted.
    int highlighted = 0;
    for (const figure::SceneItem& item : picture.scene.items)
        if (const auto* rect = std::get_if<figure::RectItem>(&item);
            rect != nullptr && rect->fill == theme(false).highlight) {
            ++highlighted;
            CHECK(rect->area == picture.hotspots[1].area);
        }
    CHECK(highlighted == 1);

    const Shown random = make_shown({});
    CHECK(all_text(draw(draw_heads, random, ViewState{})).find("built to") == std::string::npos);
    for (const Wish& wish : many_wishes())
        check_labels_and_width(draw(draw_heads, make_shown(wish), ViewState{}, 280), 280);
}
