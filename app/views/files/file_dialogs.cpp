#include "app/draw/kit/format.h"
#include "app/views/dialog.h"
#include "app/views/files/file_views.h"
#include "app/views/imgui_keys.h"
#include "core/base/message.h"
#include "core/text/plain_text.h"

#include <algorithm>
#include <cmath>

namespace headscope::app {

namespace {

constexpr float dialog_pad = 28, button_height = 34;

/// A card with a heading and sentences, as high as they and the buttons need. Returns the area of the
/// buttons.
figure::Rect message_card(const char* id, const std::string& heading,
                          const std::vector<std::string>& sentences, const ViewTools& tools) {
    constexpr float width = 520, line = 21;
    float height = 62 + 24 + button_height + dialog_pad;
    for (const std::string& sentence : sentences)
        height +=
            4 +
            line *
                static_cast<float>(
                    wrapped_lines(sentence, figure::Font::ui, 13.5F, width - 2 * dialog_pad, tools).size());
    const figure::Rect card = begin_dialog(id, width, height, tools);
    move_focus_with_tab(tools);
    dialog_text({card.x + dialog_pad, card.y + 44},
                fitted(heading, figure::Font::ui_semibold, 17, card.w - 2 * dialog_pad, tools),
                figure::Font::ui_semibold, 17, tools.theme.ink, tools);
    float y = card.y + 76;
    for (const std::string& sentence : sentences)
        y = dialog_paragraph({card.x + dialog_pad, y}, card.w - 2 * dialog_pad, sentence, 13.5F, line,
                             tools.theme.text, tools) +
            4;
    return {card.x + dialog_pad, card.bottom() - dialog_pad - button_height, card.w - 2 * dialog_pad,
            button_height};
}

bool plain_letter_pressed(char letter) {
    return !ImGui::GetIO().KeyCtrl && !ImGui::GetIO().KeyAlt && letter_pressed(letter);
}

/// Returns true if Enter answers with the primary button. While the focus ring is visible, Enter activates
/// the focused item instead.
bool enter_for_primary(const ViewTools& tools) {
    if (!enter_pressed())
        return false;
    if (tools.focus.visible())
        tools.focus.activate();
    return !tools.focus.visible();
}

void unsaved_question(const UnsavedQuestion& question, const ViewTools& tools) {
    const bool enter = enter_for_primary(tools);
    const figure::Rect foot = message_card(
        "unsaved changes",
        !question.name.empty()
            ? tr("file_dialogs.save_changes", "Save the changes to {}?", text::plain_text(question.name))
            : tr("file_dialogs.save_project", "Save this project?"),
        {(!question.name.empty() ? "" : tr("file_dialogs.no_file_yet", "It has no file yet.") + " ") +
         text::plain_text(question.loss)},
        tools);
    const float save = button_width(tr("common.save", "Save"), tools),
                cancel = button_width(tr("common.cancel", "Cancel"), tools),
                discard = button_width(tr("file_dialogs.dont_save", "Don't save"), tools);
    const auto answer = [&](UnsavedAnswer what) { tools.send(AnswerUnsaved{what}); };
    if (push_button(tr("file_dialogs.dont_save", "Don't save"), {foot.x, foot.y, discard, foot.h},
                    ButtonLook::plain, tools, "D") ||
        plain_letter_pressed('D'))
        answer(UnsavedAnswer::discard);
    else if (push_button(tr("common.cancel", "Cancel"),
                         {foot.right() - save - 8 - cancel, foot.y, cancel, foot.h}, ButtonLook::plain, tools,
                         "Esc") ||
             escape_pressed())
        answer(UnsavedAnswer::cancel);
    else if (push_button(tr("common.save", "Save"), {foot.right() - save, foot.y, save, foot.h},
                         ButtonLook::primary, tools, "Enter") ||
             enter)
        answer(UnsavedAnswer::save);
    end_dialog();
}

void damaged_offer(const DamagedOffer& offer, const ViewTools& tools) {
    const bool enter = enter_for_primary(tools);
    std::vector<std::string> sentences{text::plain_text(offer.error)};
    constexpr std::size_t most = 4;
    for (std::size_t i = 0; i < std::min(offer.losses.size(), most); ++i)
        sentences.push_back(text::plain_text(offer.losses[i]));
    const figure::Rect foot =
        message_card("damaged project",
                     tr("file_dialogs.open_left", "Open what is left of {}?", text::plain_text(offer.name)),
                     sentences, tools);
    const float open = button_width(tr("file_dialogs.open_left_2", "Open what is left"), tools),
                cancel = button_width(tr("common.cancel", "Cancel"), tools);
    if (push_button(tr("common.cancel", "Cancel"), {foot.right() - open - 8 - cancel, foot.y, cancel, foot.h},
                    ButtonLook::plain, tools, "Esc") ||
        escape_pressed())
        tools.send(AnswerDamaged{false});
    else if (push_button(tr("file_dialogs.open_left_2", "Open what is left"),
                         {foot.right() - open, foot.y, open, foot.h}, ButtonLook::primary, tools,
                         tr("file_dialogs.enter_damaged_file_itself",
                            "Enter; the damaged file itself stays as it is")) ||
             enter)
        tools.send(AnswerDamaged{true});
    end_dialog();
}

void recovery_panel(const std::vector<RecoveryOffer>& offers, const ViewTools& tools) {
    constexpr float row = 92;
    constexpr std::size_t most = 4;
    const std::size_t shown = std::min(offers.size(), most);
    const bool enter = enter_for_primary(tools);
    const figure::Rect card = begin_dialog(
        "recovery", 640, 116 + row * static_cast<float>(shown) + (offers.size() > most ? 34 : 8), tools);
    move_focus_with_tab(tools);
    const Theme& theme = tools.theme;
    dialog_text({card.x + dialog_pad, card.y + 46},
                tr("file_dialogs.headscope_closed_before", "Headscope was closed before this was saved"),
                figure::Font::ui_semibold, 20, theme.ink, tools);
    dialog_paragraph({card.x + dialog_pad, card.y + 76}, card.w - 2 * dialog_pad,
                     tr("file_dialogs.take_back_throw_away",
                        "Recover or discard it. Anything left for later is offered at the next start."),
                     13.5F, 21, theme.text, tools);
    float y = card.y + 102;
    for (std::size_t i = 0; i < shown; ++i) {
        const RecoveryOffer& offer = offers[i];
        figure::Scene scene;
        scene.add(figure::LineItem{{card.x + dialog_pad, y}, {card.right() - dialog_pad, y}, theme.line, 1});
        dialog_paint(scene, tools);
        const float w = card.w - 2 * dialog_pad, x = card.x + dialog_pad;
        const float when = dialog_text({x + w, y + 28}, offer.when, figure::Font::ui, 12.5F, theme.muted,
                                       tools, figure::Align::right);
        dialog_text(
            {x, y + 28},
            fitted(text::plain_text(offer.name), figure::Font::ui_semibold, 14.5F, w - when - 16, tools),
            figure::Font::ui_semibold, 14.5F, theme.ink, tools);
        const float recover = button_width(tr("file_dialogs.recover", "Recover"), tools),
                    later = button_width(tr("file_dialogs.later", "Later"), tools),
                    discard = button_width(tr("file_dialogs.discard", "Discard"), tools);
        const float buttons = recover + later + discard + 16;
        const bool bad = !offer.error.empty();
        dialog_paragraph({x, y + 56}, w - buttons - 20, text::plain_text(bad ? offer.error : offer.detail),
                         12.5F, 17, bad ? theme.bad : theme.muted, tools);
        // A number keeps the ids of equal labels apart.
        const std::string id = i == 0 ? "" : "##" + std::to_string(i);
        const float by = y + 44;
        if (push_button(tr("file_dialogs.discard", "Discard") + id,
                        {x + w - buttons, by, discard, button_height}, ButtonLook::plain, tools,
                        tr("file_dialogs.throw_away_good", "Discard it permanently")))
            tools.send(DiscardRecovery{offer.path});
        if (push_button(tr("file_dialogs.later", "Later") + id,
                        {x + w - recover - 8 - later, by, later, button_height}, ButtonLook::plain, tools,
                        tr("file_dialogs.decide_next_start", "Decide at the next start")))
            tools.send(LeaveRecovery{offer.path});
        if (push_button(tr("file_dialogs.recover", "Recover") + id,
                        {x + w - recover, by, recover, button_height}, ButtonLook::primary, tools,
                        tr("file_dialogs.open", "Open it as it was")) ||
            (enter && i == 0))
            tools.send(RecoverProject{offer.path});
        y += row;
    }
    if (offers.size() > most)
        dialog_text({card.x + dialog_pad, y + 14},
                    tr("file_dialogs.more_after", "and {} more, after these", offers.size() - most),
                    figure::Font::ui, 12.5F, theme.muted, tools);
    if (escape_pressed())
        for (const RecoveryOffer& offer : offers)
            tools.send(LeaveRecovery{offer.path});
    end_dialog();
}

void job_panel(const FileJobView& job, const ViewTools& tools) {
    const bool enter = enter_for_primary(tools);
    const Theme& theme = tools.theme;
    std::string detail = "…";
    if (job.fraction > 0.02F) {
        const double left = job.seconds / static_cast<double>(job.fraction) - job.seconds;
        detail = std::to_string(static_cast<int>(job.fraction * 100)) + " %, " +
                 (left < 1 ? tr("file_dialogs.under_1_s_left", "under 1 s left")
                           : tr("file_dialogs.about_s_left", "about {} s left", std::lround(left)));
    }
    const figure::Rect foot = message_card("file job", text::plain_text(job.label), {detail, " "}, tools);
    figure::Scene scene;
    const figure::Rect track{foot.x, foot.y - 26, foot.w, 6};
    scene.add(figure::RectItem{.area = track, .fill = theme.line, .radius = 3});
    // While the fraction is unknown, a moving segment shows that work continues.
    const float share = job.fraction > 0 ? job.fraction : 0.25F;
    const float start =
        job.fraction > 0 ? 0 : static_cast<float>(0.5 - 0.5 * std::cos(job.seconds * 2)) * (1 - share);
    scene.add(figure::RectItem{.area = {track.x + track.w * start, track.y, track.w * share, track.h},
                               .fill = theme.ink,
                               .radius = 3});
    dialog_paint(scene, tools);
    const float cancel = button_width(tr("common.cancel", "Cancel"), tools);
    if (push_button(tr("common.cancel", "Cancel"), {foot.right() - cancel, foot.y, cancel, foot.h},
                    ButtonLook::plain, tools, "Esc") ||
        escape_pressed() || enter)
        tools.send(CancelJob{});
    end_dialog();
}

} // namespace

void view_file_dialogs(const AppState& state, const ViewTools& tools) {
    const FilesState& files = state.files;
    if (files.job && files.job->seconds > FilesState::progress_delay)
        return job_panel(*files.job, tools);
    if (files.question)
        return unsaved_question(*files.question, tools);
    if (files.damaged)
        return damaged_offer(*files.damaged, tools);
    if (tools.chooser != nullptr)
        return view_file_chooser(*tools.chooser, offers_all_heads(state), tools);
    if (tools.hub != nullptr)
        return view_hub_dialog(*tools.hub, tools);
    if (files.attention)
        return view_attention_dialog(*files.attention, tools);
    if (!files.recoveries.empty() && !(files.job && files.job->blocking))
        return recovery_panel(files.recoveries, tools);
    if (files.job && files.job->blocking) {
        begin_modal_layer("file shield", tools);
        end_dialog();
    }
}

} // namespace headscope::app
