#include "app/shell/control/requests/requests.h"
#include "app/state/files/choice_names.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"

#include <algorithm>
#include <array>

namespace headscope::app {

namespace {

void set_zoom(Program& program, const RequestValue& value) {
    constexpr float most = 2;
    const float zoom = value.single();
    if (!(zoom >= 1) || zoom > most)
        fail_input(tr("setting_requests.size", "\"size\" should be from 1 to 2"));
    program.act(SetZoom{zoom});
}

void set_speed(Program& program, const RequestValue& value) {
    constexpr float least = 0.25F, most = 8;
    const float speed = value.single();
    if (!(speed >= least) || speed > most)
        fail_input(tr("setting_requests.speed", "\"speed\" should be from 0.25 to 8"));
    program.act(SetSpeed{speed});
}

void set_language(Program& program, const RequestValue& value) {
    const std::vector<Language> all = languages();
    std::vector<std::string_view> codes;
    std::ranges::transform(all, std::back_inserter(codes), &Language::code);
    program.act(SetLanguage{std::string(codes[value.choice(codes)])});
}

void choose_device(Program& program, const RequestValue& value) {
    const std::string id = value.text();
    const auto& devices = program.state().engines.devices;
    const bool known = id == "auto" || id == "cpu" ||
                       (devices && std::ranges::any_of(devices->devices, [&](const engine::Device& one) {
                            return one.usable && one.id == id;
                        }));
    if (!known && devices)
        fail_input(tr("setting_requests.no_device", "there is no device \"{}\"; the devices are {}", id,
                      joined(devices->devices, &engine::Device::id)));
    if (!known)
        fail_input(tr("setting_requests.devices_unknown",
                      "the devices are not listed yet; send \"settings\" and \"settle\" first"));
    program.act(EngineAction{EngineAction::Kind::choose, id});
}

void mark_baseline(Program& program, const RequestValue& value) {
    constexpr std::array<std::string_view, 2> names{"now", "as built"};
    program.act(MarkBaseline{value.choice(names) == 1});
}

void show_side(Program& program, const RequestValue& value) {
    constexpr std::array<std::string_view, 3> names{"now", "baseline", "difference"};
    program.act(SetCompare{static_cast<Compare>(value.choice(names))});
}

std::string needs_baseline(const AppState& state) {
    return state.compare.marked() ? ""
                                  : tr("setting_requests.needs_baseline",
                                       "No baseline is marked; mark one with \"mark baseline\"");
}

} // namespace

std::vector<Request> setting_requests() {
    return {
        // clang-format off
        {"theme", "`light` or `dark`", "the theme",
         [](Program& program, const RequestValue& value) {
             constexpr std::array<std::string_view, 2> names{"light", "dark"};
             program.act(SetDark{value.choice(names) == 1});
         }},
        {"size", "a number from 1 to 2", "the size of everything in the window", set_zoom},
        {"motion", "`on` or `off`", "views appear with a motion, or at once", [](Program& program, const RequestValue& value) { program.act(SetMotion{value.on()}); }},
        {"ring", "`on` or `off`", "rings changed cells for a moment", [](Program& program, const RequestValue& value) { program.act(SetFlash{value.on()}); }},
        {"colour map", "`head`, `neutral`, `viridis`, `cividis` or `magma`", "the colors of cells",
         [](Program& program, const RequestValue& value) { program.act(SetColourMap{static_cast<ColourMap>(value.choice(colour_map_names))}); }},
        {"score colours", "`row`, `head` or `all`", "the color scale of scores: for each row, for each head, or the same for all heads",
         [](Program& program, const RequestValue& value) { program.act(SetScoreScale{static_cast<ScoreScale>(value.choice(score_scale_names))}); }},
        {"colour scale", "`same` or `own`", "the color scale of heads",
         [](Program& program, const RequestValue& value) {
             constexpr std::array<std::string_view, 2> names{"same", "own"};
             program.act(SetSameScale{value.choice(names) == 0});
         }},
        {"numbers", "`on` or `off`", "numbers in cells", [](Program& program, const RequestValue& value) { program.act(ShowNumbers{value.on()}); }},
        {"speed", "a number from 0.25 to 8", "the speed of playing", set_speed},
        {"language", "a code such as `de`", "the language, from the next start of the program on", set_language},
        {"opens with", "`start page` or `last file`", "what the program opens with",
         [](Program& program, const RequestValue& value) {
             constexpr std::array<std::string_view, 2> names{"start page", "last file"};
             program.act(OpenWithStart{value.choice(names) == 0});
         }},
        {"device", "a name of `--device`", "the device that computes", choose_device},
        {"mark baseline", "`now` or `as built`", "marks the baseline A: this document, or the same without edits", mark_baseline},
        {"drop baseline", "", "removes the baseline", [](Program& program, const RequestValue&) { program.act(DropBaseline{}); }, needs_baseline},
        {"side", "`now`, `baseline` or `difference`", "what is shown of a comparison with the baseline: B, A or B − A", show_side, needs_baseline},
        // clang-format on
    };
}

} // namespace headscope::app
