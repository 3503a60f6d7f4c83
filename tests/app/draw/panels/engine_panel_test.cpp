#include "app/draw/panels/engine_panel.h"
#include "tests/app/support/fixture.h"
#include "tests/catch.h"
#include "tests/test_data.h"

#include <algorithm>

using namespace headscope;
using namespace headscope::app;

TEST_CASE("devices are named for people") {
    CHECK(engine_title("cpu") == "CPU");
    CHECK(engine_title("vulkan:2") == "Vulkan 2");
    CHECK(engine_title("vulkan") == "Vulkan");
}

TEST_CASE("the engine panel lists what can be chosen, and only that can be clicked") {
    const Shown shown = test::make_shown({});
    const ViewState view;
    const figure::TextMeasure measure = test::approximate_measure();
    const DrawContext context{
        .shown = shown, .view = view, .theme = theme(true), .measure = measure, .width = engine_panel_width};
    const auto has = [](const Picture& picture, const std::string& label) {
        return std::ranges::count(picture.hotspots, label, &Hotspot::label);
    };
    EngineState engines;
    const Picture unknown = draw_engine_panel(engines, nullptr, context);
    CHECK_THAT(test::all_text(unknown), Catch::Contains("Looking for"));
    CHECK(has(unknown, "engine auto") == 1);
    CHECK(has(unknown, "engine cpu") == 1);

    engines.devices =
        engine::DeviceList{{{.id = "cpu", .name = "processor", .detail = "2 threads"},
                            {.id = "vulkan:0", .name = "old card", .detail = "too old", .usable = false},
                            {.id = "vulkan:1", .name = "card", .detail = "8 GB", .is_hardware = true}},
                           {}};
    engines.fallback_reason = "the device is lost";
    engines.comparison = EngineComparison{.first = "cpu", .second = "vulkan:1", .stages = {}, .error = {}};
    engines.comparison->stages.push_back({.stage = TensorId::weights, .largest = 2.5e-7, .magnitude = 1});
    const Picture known = draw_engine_panel(engines, nullptr, context);
    CHECK(has(known, "engine vulkan:0") == 0);
    CHECK(has(known, "engine vulkan:1") == 1);
    const std::string text = test::all_text(known);
    for (const char* part :
         {"old card; too old", "Using the CPU instead", "weights", "2.5e-07", "of 1.0e+00"})
        CHECK_THAT(text, Catch::Contains(part));

    engines.devices = engine::DeviceList{{engine::cpu_device()}, "this machine has no Vulkan driver"};
    const Picture none = draw_engine_panel(engines, nullptr, context);
    CHECK_THAT(test::all_text(none), Catch::Contains("no Vulkan driver"));
    CHECK(has(none, "Run this problem on the CPU and on Vulkan") == 0);
    CHECK(has(none, "Check the numbers") == 0); // there is no checkpoint
}

TEST_CASE("the badge says what the CPU computes beside a graphics processor") {
    EngineState engines;
    engines.chosen = "vulkan:0";
    Trace trace;
    trace.device = "vulkan:0";
    CHECK(engine_title(trace) == "Vulkan 0");
    CHECK(left_to_cpu_sentence(trace, engines).empty());
    trace.left_to_cpu = StageSet().with(TensorId::gate).with(TensorId::concat);
    CHECK(engine_title(trace) == "Vulkan 0 + CPU");
    CHECK_THAT(left_to_cpu_sentence(trace, engines), Catch::Contains("gate") && Catch::Contains("concat"));
    trace.left_to_cpu = {};
    trace.device = "cpu";
    CHECK(engine_title(trace) == "CPU");
    CHECK_THAT(left_to_cpu_sentence(trace, engines), Catch::Contains("no kernel for the scores"));
    engines.fallback_reason = "the device is lost";
    CHECK(left_to_cpu_sentence(trace, engines).empty());
    engines = {};
    engines.chosen = "auto";
    CHECK(left_to_cpu_sentence(trace, engines).empty());
}

TEST_CASE("the engine panel says when a checkpoint was checked, and how far its numbers agreed") {
    const Shown shown = test::make_shown({});
    const ViewState view;
    const figure::TextMeasure measure = test::approximate_measure();
    const DrawContext context{
        .shown = shown, .view = view, .theme = theme(true), .measure = measure, .width = engine_panel_width};
    const auto model = std::make_shared<const checkpoint::TextModel>(),
               other = std::make_shared<const checkpoint::TextModel>();
    EngineState engines;
    const auto text_for = [&](const checkpoint::TextModelPtr& open) {
        return test::all_text(draw_engine_panel(engines, open, context));
    };
    CHECK_THAT(text_for(model), Catch::Contains("Not checked yet") && Catch::Contains("Check the numbers"));
    engines.checking = true;
    engines.check_fraction = 0.4F;
    engines.check = ModelCheck{.of = model, .tokens = 0, .time = {}, .rows = {}, .error = {}};
    CHECK_THAT(text_for(model), Catch::Contains("40 %") && !Catch::Contains("Check the numbers"));
    CHECK_THAT(text_for(other), Catch::Contains("Not checked yet") && Catch::Contains("Check the numbers"));
    engines.checking = false;
    engines.check = ModelCheck{.of = model,
                               .tokens = 16,
                               .time = "14:02",
                               .rows = {{"attentions", 0, 2e-7, 1e-5}, {"encoder attentions", 1, 3e-7, 1e-5}},
                               .error = {}};
    CHECK_THAT(text_for(model), Catch::Contains("14:02") && Catch::Contains("3.0e-07") &&
                                    Catch::Contains("limit 1.0e-05") && Catch::Contains("Check again"));
    CHECK_THAT(text_for(other), Catch::Contains("Not checked yet") && !Catch::Contains("14:02"));
    engines.check->rows.push_back({"hidden", 3, 0.5, 5e-5});
    CHECK_THAT(text_for(model), Catch::Contains("numbers are wrong") && Catch::Contains("5.0e-01"));
    engines.check->rows.clear();
    engines.check->error = "the text has no tokens";
    CHECK_THAT(text_for(model), Catch::Contains("the text has no tokens"));
    CHECK_THAT(text_for(checkpoint::open_text_model(test_data("/models/llava_tiny"))),
               Catch::Contains("parts for images are left out"));
    CHECK_THAT(text_for(checkpoint::open_text_model(test_data("/models/llama_tiny_tied"))),
               !Catch::Contains("left out"));
}
