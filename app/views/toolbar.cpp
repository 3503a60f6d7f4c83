#include "app/draw/kit/controls.h"
#include "app/state/screens/screen.h"
#include "app/views/files/file_views.h"
#include "app/views/imgui_keys.h"
#include "app/views/presentation/presented_bars.h"
#include "app/views/scrolled.h"
#include "app/views/text_frame.h"
#include "app/views/views.h"
#include "core/base/message.h"
#include "core/text/preset.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

namespace headscope::app {

namespace {

struct Field {
    Message caption; ///< its English text is also the id of the field
    std::string value;
    std::function<std::vector<Choice>()> choices; ///< made while the list is open
};

constexpr float fields_gap = 8;
constexpr float smallest_sentence = 240, smallest_of_two = 190;
constexpr float usual_sentence = 392, long_sentence = 620;

bool shows_two_sentences(const AppState& state) {
    const project::Recipe& recipe = state.document->recipe;
    return recipe.base == nullptr && !recipe.kv_sentence.empty();
}

Field preset_field(const AppState& state) {
    const auto choices = [&recipe = state.document->recipe] {
        std::vector<Choice> all;
        for (const text::PresetInfo& info : text::presets())
            all.push_back({tr(info.title), SetPreset{std::string(info.id)},
                           recipe.base == nullptr && info.id == recipe.preset, tr(info.description)});
        return all;
    };
    return {translatable("common.preset", "preset"), project::translated_title(state.document->title),
            choices};
}

/// Empty for tokens from a file and for presets without a second sentence.
std::optional<Field> attention_field(const AppState& state) {
    const project::Recipe& recipe = state.document->recipe;
    const text::PresetInfo* preset = text::find_preset(recipe.preset);
    if (recipe.base != nullptr || preset == nullptr || preset->kv_sentence.empty())
        return std::nullopt;
    const bool cross = !recipe.kv_sentence.empty();
    const auto choices = [&recipe, preset, cross] {
        const std::string second = cross ? recipe.kv_sentence : std::string(preset->kv_sentence);
        return std::vector<Choice>{
            {tr("toolbar.self_one_sentence", "self: one sentence"), SetKvSentence{}, !cross,
             tr("toolbar.queries_keys_values_made", "Queries, keys and values are made from the same words")},
            {tr("toolbar.cross_second_sentence", "cross: a second sentence"), SetKvSentence{second}, cross,
             tr("toolbar.queries_made_first_sentence",
                "Queries are made from the first sentence, keys and values from a second one")}};
    };
    return Field{translatable("common.attention", "attention"),
                 cross ? tr("toolbar.cross", "cross") : tr("toolbar.self", "self"), choices};
}

std::string mask_name(project::MaskChoice mask) {
    switch (mask) {
    case project::MaskChoice::none:
        return tr("toolbar.none_mask", "none");
    case project::MaskChoice::causal:
        return tr("common.causal", "causal");
    case project::MaskChoice::causal_window:
        return tr("toolbar.causal_window_3", "causal window 3");
    case project::MaskChoice::symmetric_window:
        return tr("toolbar.neighbours", "neighbors");
    }
    return {};
}

std::vector<Choice> mask_choices(const AppState& state, bool painted) {
    const project::MaskChoice now = state.document->recipe.mask;
    const bool cross = state.document->problem.cross();
    const auto choice = [&](project::MaskChoice mask, const std::string& tip) {
        return Choice{mask_name(mask), SetMask{mask}, !painted && now == mask, tip};
    };
    std::vector<Choice> all{
        choice(project::MaskChoice::none,
               tr("toolbar.every_token_may_read", "Every token may read every token")),
        choice(project::MaskChoice::causal,
               cross ? tr("toolbar.last_word_reads_every",
                          "The last word reads every key, each word before it one key less")
                     : tr("toolbar.token_reads_itself_came", "A token reads itself and what came before")),
        choice(project::MaskChoice::causal_window,
               cross ? tr("toolbar.three_keys_last_word", "Three keys: for the last word the last three, "
                                                          "for each word before it one position earlier")
                     : tr("toolbar.token_itself_two_before", "The token itself and the two before it")),
        choice(project::MaskChoice::symmetric_window,
               cross
                   ? tr("toolbar.three_keys_around_words",
                        "Three keys around the word's own position, counted from the ends of both sentences")
                   : tr("toolbar.one_token_either_side", "One token to either side"))};
    if (painted) {
        all.push_back({tr("toolbar.painted", "painted"), GoTo{StageGroup::masked}, true,
                       tr("toolbar.painted_hand", "As painted by hand")});
        all.push_back({tr("toolbar.reset_painted_mask", "reset the painted mask"), ResetMask{}, false,
                       tr("toolbar.mask_before_painting", "The mask as it was before painting")});
    }
    return all;
}

Field mask_field(const AppState& state) {
    const project::Recipe& recipe = state.document->recipe;
    const bool painted = project::painted_mask_fits(recipe, state.document->problem.dims);
    const bool custom = !recipe.extra_mask.empty() || (recipe.base != nullptr && !recipe.base->mask.empty());
    std::string value = painted ? tr("toolbar.painted", "painted") : mask_name(recipe.mask);
    if (!painted && custom)
        value = recipe.mask == project::MaskChoice::none ? tr("toolbar.custom", "custom")
                                                         : tr("toolbar.custom_2", "{} + custom", value);
    return {translatable("common.mask", "mask"), std::move(value),
            [&state, painted] { return mask_choices(state, painted); }};
}

std::vector<Choice> heads_choices(const AppState& state) {
    const Dims& dims = state.document->problem.dims;
    std::vector<Choice> all;
    const std::int64_t width = dims.H * dims.dk;
    const Problem* const file = state.document->recipe.base.get();
    const std::int64_t group = file == nullptr ? 1 : file->dims.H / file->dims.Hkv;
    for (std::int64_t H = 1; H <= std::min<std::int64_t>(width, 64); ++H) {
        const bool even = width % H == 0 && (dims.H * dims.dv) % H == 0 && H % group == 0;
        if (!even || (width > 64 && (H & (H - 1)) != 0 && H != dims.H))
            continue;
        all.push_back({tr_n("common.head_4", "{} head", "{} heads", H, H), SetHeads{H}, H == dims.H,
                       tr("toolbar.same_w_columns_dealt",
                          "The same W columns, split into {} heads of width {}", H, width / H)});
    }
    return all;
}

Field heads_field(const AppState& state) {
    return {untranslated("H"), std::to_string(state.document->problem.dims.H),
            [&state] { return heads_choices(state); }};
}

std::vector<Choice> variant_choices(const AppState& state) {
    const Dims& dims = state.document->problem.dims;
    std::vector<Choice> all;
    for (std::int64_t Hkv = dims.H; Hkv >= 1; --Hkv) {
        if (dims.H % Hkv != 0)
            continue;
        std::string label = Hkv == dims.H ? tr("toolbar.mha_key_value_heads", "MHA: {} key/value heads", Hkv)
                            : Hkv == 1    ? tr("toolbar.mqa_one_key_value", "MQA: one key/value head")
                                          : tr("toolbar.gqa_key_value_heads", "GQA: {} key/value heads", Hkv);
        all.push_back(
            {std::move(label), SetKvHeads{Hkv}, Hkv == dims.Hkv,
             Hkv == dims.H
                 ? tr("toolbar.every_query_head_own", "Every query head has its own keys and values")
                 : tr("toolbar.k_v_weights_each", "W_K and W_V are averaged in each group")});
        if (Hkv == 1)
            break;
    }
    return all;
}

Field variant_field(const AppState& state) {
    const Dims& dims = state.document->problem.dims;
    return {translatable("toolbar.variant", "variant"),
            dims.Hkv == dims.H ? "MHA"
            : dims.Hkv == 1    ? "MQA"
                               : "GQA " + std::to_string(dims.Hkv),
            [&state] { return variant_choices(state); }};
}

/// A text field for one of the two sentences.
struct SentenceField {
    const char* id;
    std::string hint;
    std::string caption; ///< the projections that it feeds; empty: all of them
    std::string tip;     ///< reason why it is read-only; empty: it can be edited
    const std::string& text;
    const std::string& valid; ///< the text in the document
    bool take_keyboard;       ///< in this frame
    bool second;
    float size = FrameLook{}.size;
};

/// Returns the new text if it changed in this frame.
std::optional<std::string> sentence_field(const AppState& state, const SentenceField& field,
                                          const figure::Rect& area, const ViewTools& tools) {
    const Theme& theme = tools.theme;
    // Not every error concerns the sentence.
    const bool wrong = !state.error.empty() && field.text != field.valid;
    FrameLook look{.size = field.size, .stroke = theme.line2, .invalid = wrong, .id = field.id};
    if (!field.caption.empty())
        look.before = 10 + tools.measure(field.caption, figure::Font::mono, 12) + 8;
    const TextFrame frame(area, look, field.text, tools);
    if (!field.caption.empty()) {
        figure::Scene scene;
        add_text(scene, {area.x + 10, figure::baseline_for(area.y + area.h / 2, 12)}, field.caption,
                 figure::Font::mono, 12, theme.muted);
        paint_here(scene, tools);
    }
    const bool fixed = !field.tip.empty();
    ImGui::BeginDisabled(fixed);
    if (field.take_keyboard)
        focus_next_item();
    // Tab moves the focus ring; ImGui's own tabbing would jump into this field and stay there.
    ImGui::PushAllowKeyboardFocus(false);
    std::string text = field.text;
    const TypedText typed = text_input(field.id, fixed ? field.tip : field.hint, text, 0, Caret::stays, true,
                                       text::ControlCharacters::spaces, tools);
    ImGui::PopAllowKeyboardFocus();
    ImGui::EndDisabled();
    if (tools.focus.register_item(physical(area, tools)) && !fixed)
        tools.send(TypeSentence{field.second});
    if (fixed && ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled))
        show_tip(field.tip, tools);
    if (wrong && ImGui::IsItemHovered())
        show_tip(state.error, tools);
    if (typed.removed && *typed.removed != field.valid)
        undo_retypes(field.second ? Action(SetKvSentence{*typed.removed})
                                  : Action(SetSentence{*typed.removed}),
                     tools);
    return typed.changed ? std::optional(text) : std::nullopt;
}

} // namespace

std::string fixed_sentence_reason(const AppState& state) {
    const project::Recipe& recipe = state.document->recipe;
    const text::PresetInfo* const preset = text::find_preset(recipe.preset);
    return recipe.base != nullptr ? tr("toolbar.tokens_come_file", "These tokens come from a file.")
           : preset != nullptr && preset->fixed_sentence
               ? tr("toolbar.sentence_part_preset", "The sentence is part of this preset.")
               : "";
}

void view_sentence_fields(const AppState& state, const figure::Rect& area, float size,
                          const ViewTools& tools) {
    const project::Recipe& recipe = state.document->recipe;
    const std::string tip = fixed_sentence_reason(state);
    const bool two = shows_two_sentences(state);
    const float width = two ? (area.w - fields_gap) / 2 : area.w;
    if (const auto typed =
            sentence_field(state,
                           {"##sentence", tr("common.type_sentence", "Type a sentence"), two ? "q" : "", tip,
                            state.sentence, recipe.sentence, state.requests.sentence, false, size},
                           {area.x, area.y, width, area.h}, tools))
        tools.send(SetSentence{*typed});
    if (!two)
        return;
    if (const auto typed = sentence_field(
            state,
            {"##kv_sentence", tr("toolbar.type_second_sentence", "Type a second sentence"), "k v", tip,
             state.kv_sentence, recipe.kv_sentence, state.requests.kv_sentence, true, size},
            {area.x + width + fields_gap, area.y, width, area.h}, tools))
        tools.send(SetKvSentence{typed});
}

namespace {

/// The Flow and the stages. Other screens of a problem have no place on the switch.
std::vector<Segment> flow_segments(const AppState& state) {
    const Screen on = screen_of(state.shown, state.view);
    return {{.label = tr("common.flow", "Flow"),
             .action = ShowScreen{Screen::flow},
             .on = on == Screen::flow,
             .tip = with_key(tr("screens.whole_attention_one", "The whole attention as one picture"),
                             "flow screen")},
            {.label = tr("common.stages", "Stages"),
             .action = ShowScreen{Screen::stages},
             .on = on == Screen::stages,
             .tip = with_key(tr("screens.walk_through_models_numbers", "The model's numbers, stage by stage"),
                             "stages screen")}};
}

void icon_buttons(const AppState& state, Picture& picture, const ViewTools& tools, float right) {
    const Theme& theme = tools.theme;
    const figure::Rect help{right - 32, 10, 32, 32}, contrast{right - 72, 10, 32, 32};
    for (const figure::Rect& area : {help, contrast})
        picture.scene.add(
            figure::RectItem{.area = area, .fill = theme.raise, .stroke = theme.line2, .radius = 6});
    add_text(picture.scene, {help.x + 16, figure::baseline_for(26, 14)}, "?", figure::Font::ui_semibold, 14,
             theme.ink, figure::Align::center);
    const figure::Point center{contrast.x + 16, 26};
    figure::PolygonItem disc, half;
    constexpr int corners = 32;
    for (int i = 0; i < corners; ++i) {
        const float angle = 6.2831853F * static_cast<float>(i) / corners;
        disc.points.push_back({center.x + 7 * std::cos(angle), center.y + 7 * std::sin(angle)});
    }
    for (int i = 0; i <= corners / 2; ++i) {
        const float angle = 1.5707963F + 3.1415927F * static_cast<float>(i) / (corners / 2.0F);
        half.points.push_back({center.x + 5.5F * std::cos(angle), center.y + 5.5F * std::sin(angle)});
    }
    disc.fill = theme.ink;
    half.fill = theme.raise;
    picture.scene.add(std::move(disc));
    picture.scene.add(std::move(half));
    picture.add_hotspot(contrast, "theme", SetDark{!state.view.dark},
                        state.view.dark ? tr("toolbar.light_theme", "Light theme")
                                        : tr("toolbar.dark_theme", "Dark theme"));
    picture.add_hotspot(help, "help", OpenContextHelp{},
                        tr("toolbar.again_list_keys", "{}; again: the list of keys",
                           with_key(tr("common.manual", "Manual"), "help")));
}

} // namespace

void add_icon_buttons(const AppState& state, Picture& picture, const ViewTools& tools, float right) {
    icon_buttons(state, picture, tools, right);
}

void view_toolbar(const AppState& state, const figure::Rect& area, const ViewTools& tools) {
    const ImVec2 origin = ImGui::GetWindowPos();
    const Theme& theme = tools.theme;
    Picture picture;
    picture.scene.add(figure::RectItem{.area = area, .fill = theme.panel});
    picture.scene.add(
        figure::LineItem{{0, area.bottom() - 0.5F}, {area.w, area.bottom() - 0.5F}, theme.line, 1});
    icon_buttons(state, picture, tools, area.w - 16);
    show_picture(picture, origin.x, origin.y, tools, nullptr);
    const float badge = view_engine_badge(state, area.w - 16 - 80, tools);

    // Fields that do not fit move into one list, starting with the last one.
    std::vector<Field> fields{preset_field(state)};
    if (auto attention = attention_field(state))
        fields.push_back(std::move(*attention));
    fields.push_back(mask_field(state));
    fields.push_back(heads_field(state));
    fields.push_back(variant_field(state));
    float right = area.w - 16 - 80 - badge - 16;
    const DrawContext context = draw_context(state, tools, area.w, area.h);
    const std::vector<Segment> screens = flow_segments(state);
    constexpr float roomy = 1000;
    if (area.w >= roomy) {
        right -= segmented_width(context, screens);
        Picture screen_switch;
        draw_segmented(screen_switch, context, right, 12, screens);
        show_picture(screen_switch, origin.x, origin.y, tools, nullptr);
        right -= 12;
    }
    const float start = 16 + view_file_button(state, {16, 10}, tools) + 8;
    const bool two = shows_two_sentences(state);
    const float smallest = two ? 2 * smallest_of_two + fields_gap : smallest_sentence;
    const auto wanted = [&](const std::string& text) {
        return tools.measure(text, figure::Font::ui, 14.5F) > 340 ? long_sentence : usual_sentence;
    };
    const float largest = two ? 2 * std::max(wanted(state.sentence), wanted(state.kv_sentence)) + fields_gap
                              : wanted(state.sentence);
    const auto fields_width = [&](std::size_t count) {
        float width = 0;
        for (std::size_t i = 0; i < count; ++i)
            width += combo_width(tr(fields[i].caption), fields[i].value, tools) + 8;
        return width +
               (count < fields.size() ? combo_width("", tr("toolbar.more", "more"), tools) + 8 : 0.0F);
    };
    std::size_t count = fields.size();
    while (count > 0 && start + smallest + 12 + fields_width(count) > right)
        --count;
    // If all fields are in the list, the sentence shrinks, as long as a word stays readable.
    const float least = count > 0 ? smallest : std::min(smallest, two ? 200.0F : 110.0F);
    const float sentence = std::clamp(right - start - 12 - fields_width(count), least, largest);
    view_sentence_fields(state, {start, 10, sentence, 32}, usual_field_size, tools);
    // Draws a ring for a moment around what "show me" has just changed.
    figure::Scene rings;
    const auto ring = [&](std::string_view caption, const figure::Rect& place) {
        if (state.course.highlighted_controls.contains(std::string(caption)) &&
            state.course.highlight_strength > 0)
            rings.add(figure::RectItem{
                .area = {place.x - 4, place.y - 4, place.w + 8, place.h + 8},
                .stroke = figure::with_alpha(
                    theme.ink,
                    static_cast<std::uint32_t>(255 * std::min(1.0F, 2 * state.course.highlight_strength))),
                .stroke_width = 2.5F,
                .radius = 9});
    };
    ring("sentence", {start, 10, sentence, 32});
    float x = start + sentence + 12;
    for (std::size_t i = 0; i < count; ++i) {
        const float width = combo_width(tr(fields[i].caption), fields[i].value, tools);
        combo(tr(fields[i].caption), fields[i].value, {x, 10, width, 32}, fields[i].choices, tools);
        ring(fields[i].caption.english, {x, 10, width, 32});
        x += width + 8;
    }
    if (count < fields.size()) {
        const auto rest = [&] {
            std::vector<Choice> all;
            for (std::size_t i = count; i < fields.size(); ++i)
                for (Choice& choice : fields[i].choices()) {
                    choice.label = tr(fields[i].caption) + "  " + choice.label;
                    all.push_back(std::move(choice));
                }
            return all;
        };
        const figure::Rect more{x, 10, combo_width("", tr("toolbar.more", "more"), tools), 32};
        combo("", tr("toolbar.more", "more"), more, rest, tools);
        for (std::size_t i = count; i < fields.size(); ++i)
            ring(fields[i].caption.english, more);
    }
    paint_here(rings, tools);
}

} // namespace headscope::app
