#include "app/commands/actions.h"
#include "app/draw/effects/screens.h"
#include "app/draw/kit/controls.h"
#include "app/draw/kit/format.h"
#include "app/views/files/file_views.h"
#include "app/views/imgui_keys.h"
#include "app/views/presentation/presented_bars.h"
#include "app/views/text_frame.h"
#include "app/views/views.h"
#include "core/base/message.h"
#include "core/checkpoint/model/quantized.h"

#include <algorithm>
#include <functional>

namespace headscope::app {

namespace {

constexpr float least_prompt = 160;

std::string facts_text(const checkpoint::TextModel& text) {
    const checkpoint::ModelConfig& c = text.model->config();
    std::string out = text.model->path() + "\n";
    // Translators: {} is a family of models, for example GPT-2
    if (c.encoder == nullptr)
        out += tr_n("model_bar.layer_d_h", "{}: {} layer, D {}, H {}", "{}: {} layers, D {}, H {}", c.layers,
                    c.family, grouped(c.layers), grouped(c.D), c.H);
    else
        out += tr("model_bar.encoder_layers_decoder_d", "{}: encoder of {} layers, decoder of {}, D {}, H {}",
                  c.family, c.encoder->layers, c.layers, grouped(c.D), c.H);
    if (c.Hkv != c.H)
        out += ", Hkv " + std::to_string(c.Hkv);
    out += ", dk " + std::to_string(c.dk) + ", " +
           tr("model_bar.tokens_vocabulary", "{} tokens in the vocabulary", grouped(c.vocab));
    if (c.layers_sharing > 1)
        out += "\n" + tr("model_bar.layers_share_weights",
                         "Each {} layers have the same weights in the file; an edit changes one layer only.",
                         c.layers_sharing);
    if (const std::string left_out = left_out_sentence(text.model->report().other_parts); !left_out.empty())
        out += "\n" + left_out;
    if (const std::string stored = stored_sentence(*text.model); !stored.empty())
        out += "\n" + stored;
    if (text.tokenizer == nullptr)
        out += "\n" + tr("model_bar.no_tokenizer_type_token", "No tokenizer: type token ids.") + " " +
               text.no_tokenizer;
    return out;
}

/// A text input of the checkpoint.
struct PromptField {
    const char* id;
    std::string caption; ///< name among several texts; empty: the only text
    std::string hint, tip;
    const std::string& text;
    const std::string& valid; ///< the text in the document
    bool take_keyboard;       ///< in this frame
    bool second;
    float size; ///< of the text
    std::function<ModelAction(const std::string&)> typed;
};

/// A text field with a border.
void prompt_field(const AppState& state, const PromptField& field, const figure::Rect& area,
                  const ViewTools& tools) {
    const Theme& theme = tools.theme;
    // Not every error concerns a text; if one does, the document does not contain the text.
    const bool wrong = !state.model.error.empty() && field.text != field.valid;
    FrameLook look{.size = field.size,
                   .stroke = theme.line2,
                   .invalid = wrong,
                   .id = field.id,
                   .controls = text::ControlCharacters::kept}; // a line end is a token
    constexpr float caption_size = 12;
    if (!field.caption.empty())
        look.before = 10 + tools.measure(field.caption, figure::Font::mono, caption_size) + 8;
    const TextFrame frame(area, look, field.text, tools);
    if (!field.caption.empty()) {
        figure::Scene scene;
        add_text(scene, {area.x + 10, figure::baseline_for(area.y + area.h / 2, caption_size)}, field.caption,
                 figure::Font::mono, caption_size, theme.muted);
        paint_here(scene, tools);
    }
    if (field.take_keyboard)
        focus_next_item();
    ImGui::PushAllowKeyboardFocus(false);
    std::string text = field.text;
    const TypedText typed =
        text_input(field.id, field.hint, text, 0, Caret::stays, true, look.controls, tools);
    ImGui::PopAllowKeyboardFocus();
    if (typed.removed && *typed.removed != field.valid)
        undo_retypes(field.typed(*typed.removed), tools);
    if (typed.changed)
        tools.send(field.typed(text));
    const figure::Rect on_screen = physical(area, tools);
    if (tools.focus.register_item(on_screen))
        tools.send(TypeSentence{field.second});
    if (wrong && (ImGui::IsItemActive() || ImGui::IsItemHovered()))
        show_typing_error(state.model.error, on_screen, tools);
    else if (ImGui::IsItemHovered() && !ImGui::IsItemActive())
        show_tip(field.tip, tools);
}

} // namespace

void view_prompt_fields(const AppState& state, const figure::Rect& area, float size, const ViewTools& tools) {
    const checkpoint::TextModel& model = *state.document->part()->model;
    const bool ids = model.tokenizer == nullptr, two = state.document->part()->two_texts(),
               pair = state.document->part()->offers_pair();
    const std::string ids_tip =
        tr("model_bar.token_ids_checkpoint_no", "Token ids, as this checkpoint has no tokenizer.") + " " +
        model.no_tokenizer;
    // Most prompts consist of one text, so the second field is smaller.
    constexpr float gap = 8, share_of_pair = 0.4F;
    const float both = two ? (area.w - gap) / 2 : area.w, second = pair ? (both - gap) * share_of_pair : 0,
                width = pair ? both - gap - second : both;
    prompt_field(state,
                 {.id = "##prompt",
                  .caption = two ? tr("model_bar.source", "source") : "",
                  .hint = ids ? tr("model_bar.type_token_ids", "Type token ids")
                              : tr("model_bar.type_text", "Type a text"),
                  .tip = ids   ? ids_tip
                         : two ? with_key(tr("model_bar.encoder", "Input of the encoder"), "sentence")
                               : with_key(tr("model_bar.model_reads", "Input of the model"), "sentence"),
                  .text = state.model.prompt,
                  .valid = state.document->part()->prompt,
                  .take_keyboard = state.requests.sentence,
                  .second = false,
                  .size = size,
                  .typed = [](const std::string& text) { return TypePrompt{text}; }},
                 {area.x, area.y, width, area.h}, tools);
    if (pair)
        prompt_field(state,
                     {.id = "##pair",
                      .caption = {},
                      .hint = tr("model_bar.second_text_none", "a second text, or none"),
                      .tip = tr("model_bar.second_two_texts_such",
                                "The second of two texts, such as the answer to a question. The tokenizer "
                                "joins both as the model was trained."),
                      .text = state.model.pair,
                      .valid = state.document->part()->pair,
                      .take_keyboard = state.requests.kv_sentence && !two,
                      .second = true,
                      .size = size,
                      .typed = [](const std::string& text) { return TypePair{text}; }},
                     {area.x + width + gap, area.y, second, area.h}, tools);
    if (!two)
        return;
    prompt_field(state,
                 {.id = "##target",
                  .caption = tr("model_bar.target", "target"),
                  .hint = tr("model_bar.start_token_alone", "the start token alone"),
                  .tip = ids ? ids_tip
                             : tr("model_bar.out_decoder_written_far",
                                  "Output of the decoder so far, after its start token"),
                  .text = state.model.target,
                  .valid = state.document->part()->target,
                  .take_keyboard = state.requests.kv_sentence,
                  .second = true,
                  .size = size,
                  .typed = [](const std::string& text) { return TypeTarget{text}; }},
                 {area.x + both + gap, area.y, both, area.h}, tools);
}

void view_model_toolbar(const AppState& state, const figure::Rect& area, const ViewTools& tools) {
    const ImVec2 origin = ImGui::GetWindowPos();
    const Theme& theme = tools.theme;
    const DrawContext context{state.shown, state.drawn_view(), theme, tools.measure, area.w, 0};
    const checkpoint::TextModel& text = *state.document->part()->model;
    const std::string title = shortened(text.name(), 26);
    tools.surface.need_glyphs(title);
    figure::Scene back;
    back.add(figure::RectItem{.area = area, .fill = theme.panel});
    back.add(figure::LineItem{{0, area.bottom() - 0.5F}, {area.w, area.bottom() - 0.5F}, theme.line, 1});
    paint_here(back, tools);
    Picture picture;
    constexpr float gap = 8;
    const float file = view_file_button(state, {16, 10}, tools);
    add_icon_buttons(state, picture, tools, area.w - 16);
    const float badge = view_engine_badge(state, area.w - 16 - 80, tools);
    const float right = area.w - 16 - 80 - badge - gap;
    const float name_width = tools.measure(title, figure::Font::ui_medium, 13.5F) + 24;
    const std::vector<Segment> screens = screen_segments(*state.document, state.shown, state.view);
    const auto chosen = std::ranges::find(screens, true, &Segment::on);
    const std::string screen = chosen == screens.end() ? "" : chosen->label;
    const float spread = segmented_width(context, screens), folded = combo_width("", screen, tools);
    // If the prompt would have too little space, the screens collapse into a list, then the name is dropped.
    const float between = right - (16 + file + gap) - 2 * gap;
    const bool fold = between - name_width - spread < least_prompt;
    const bool named = !fold || between - name_width - folded >= least_prompt;
    const float screens_at = right - (fold ? folded : spread);
    float left = 16 + file + gap;
    if (named) {
        const figure::Rect name{left, 10, name_width, 32};
        picture.scene.add(figure::RectItem{.area = name, .stroke = theme.line2, .radius = 6});
        draw_text(picture, context, name.x + 12, figure::baseline_for(26, 13.5F), title,
                  figure::Font::ui_medium, 13.5F, theme.ink);
        picture.tips.push_back({name, facts_text(text)});
        left = name.right() + gap;
    }
    if (fold) {
        const auto choices = [&] {
            std::vector<Choice> all;
            for (const Segment& segment : screens)
                all.push_back({segment.label, segment.action, segment.on, segment.tip});
            return all;
        };
        combo("", screen, {screens_at, 10, folded, 32}, choices, tools);
    } else {
        draw_segmented(picture, context, screens_at, 12, screens);
    }
    float end = screens_at - gap;
    constexpr float grid_button_width = 108, wide = 1400;
    if (area.w >= wide && screen_of(state.shown, state.view) == Screen::stages) {
        const bool grid_open = state.view.attention.head_grid_open;
        end -= grid_button_width;
        draw_button(picture, context, {end, 10, grid_button_width, 32},
                    grid_open ? tr("common.hide_board", "Hide grid") : tr("common.show_board", "Show grid"),
                    ShowHeadGrid{!grid_open}, false,
                    tr("model_bar.heads_all_layers_change",
                       "The heads of all layers ({}); {} and {} change the layer, comma and period the head",
                       key_hint("board beside stages"), key_hint("layer before"), key_hint("next layer")));
        end -= gap;
    }
    show_picture(picture, origin.x, origin.y, tools, nullptr);
    const float room = end - left;
    view_prompt_fields(state, {left, 10, std::min(room, 860.0F), 32}, usual_field_size, tools);
}

} // namespace headscope::app
