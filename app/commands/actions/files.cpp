#include "app/commands/actions/rows.h"
#include "app/state/prompts/prompt_list.h"
#include "app/state/screens/long_map.h"

namespace headscope::app {

namespace {

std::string unless_busy(const ActionContext& now) {
    return now.files.job ? tr("common.not_over_yet", "{} has not finished yet", now.files.job->label) : "";
}
std::string needs_numbers(const ActionContext& now) {
    return now.shows_numbers ? unless_busy(now)
                             : tr("common.nothing_computed_yet", "Nothing is computed yet");
}
std::string needs_problem(const ActionContext& now) {
    return now.weights_file
               ? tr("files.attention_weights_file_shown",
                    "These attention weights come from a file; how they were computed is not known")
               : unless_busy(now);
}
std::string needs_changes(const ActionContext& now) {
    if (now.weights_file)
        return needs_problem(now);
    if (now.files.lesson) // reports how the lesson's input can be saved
        return unless_busy(now);
    if (now.checkpoint) // the questions and the current view are saved too
        return unless_busy(now);
    return !now.files.path.empty() && !now.files.unsaved
               ? tr("files.nothing_changed_since_saved", "Nothing has changed since it was saved")
               : unless_busy(now);
}
std::string needs_stages(const ActionContext& now) {
    return now.lesson ? unless_busy(now)
           : now.weights_file
               ? tr("files.attention_weights_file_no", "Attention weights from a file have no stages to film")
           : now.long_document
               ? tr("files.stages_many_tokens_too", "The stages of so many tokens are too large to be filmed")
           : now.weights_read
               ? tr("files.weights_screen_filtered_switch",
                    "The weights on screen are filtered; switch the filters off in Heads for a film")
               : needs_numbers(now);
}

std::string needs_toolbar(const ActionContext& now) {
    return now.presenting ? tr("files.file_menu_window_esc",
                               "The File menu is in the window; Esc leaves the presentation")
                          : "";
}

std::string needs_script(const ActionContext& now) {
    if (now.weights_file)
        return needs_problem(now);
    return now.weights_read
               ? tr("files.weights_screen_filtered_switch_2",
                    "The weights on screen are filtered; switch the filters off in Heads for a script")
           : now.long_document ? tr("files.numbers_many_tokens_too",
                                    "The numbers of so many tokens are too many for a script")
                               : needs_numbers(now);
}

std::string needs_own_checkpoint(const ActionContext& now) {
    return !now.checkpoint ? tr("files.compare_needs_checkpoint",
                                "Open a checkpoint first; it is then compared with another one")
           : now.lesson ? tr("files.compare_not_in_lesson", "Leave the lesson to compare your own checkpoint")
           : now.files.unsaved_edits
               ? tr("files.compare_replaces_edits",
                    "The changes of the other checkpoint would replace your edits; save or undo them first")
               : unless_busy(now);
}

bool lists_sentences(const ActionContext& now) {
    return now.view.sentences != nullptr;
}

std::string needs_text_to_list(const ActionContext& now) {
    return now.weights_file ? tr("presentation.no_sentence", "Attention weights from a file have no sentence")
                            : unless_busy(now);
}

bool has_other_weights(const ActionContext& now) {
    return now.other_weights;
}

bool in_lesson(const ActionContext& now) {
    return now.lesson;
}

bool on_checkpoint(const ActionContext& now) {
    return now.checkpoint;
}

bool lists_prompts(const ActionContext& now) {
    return now.prompts != nullptr;
}

/// Reason why there is no further usable prompt in that direction.
std::function<std::string(const ActionContext&)> needs_prompt(int by) {
    return [by](const ActionContext& now) {
        return stepped_prompt(*now.prompts, by) ? ""
               : by < 0 ? tr("files.first_prompt", "This is the first prompt of the list")
                        : tr("files.last_prompt", "This is the last prompt of the list");
    };
}

Actions flip_mean(const ActionContext& now) {
    return {ShowPromptMean{!now.prompts->mean}};
}
std::string needs_mean(const ActionContext& now) {
    const std::string& reason = now.prompts->no_mean_reason; // a sentence
    return now.prompts->mean || reason.empty() ? "" : reason.substr(0, reason.size() - 1);
}

bool on_long_map(const ActionContext& now) {
    return now.map != nullptr;
}
std::string needs_far_weights(const ActionContext& now) {
    const std::string missing = empty_spots_reason(*now.map, now.view.attention.long_map);
    return missing.empty() ? unless_busy(now) : missing;
}

} // namespace

std::vector<ActionInfo> file_actions() {
    constexpr Overlay field = Overlay::field;
    const std::string script =
        tr("files.script_computes_very_numbers", "A script that recomputes exactly these numbers");
    return {
        // clang-format off
        {"new", tr("files.new", "New"), tr("files.back_sentence_preset_program", "Back to the sentence and the preset at program start"), {ctrl('N')}, anywhere, always_send(NewProject{}), unless_busy, tr("files.new_project_open_one", "new project, open one"), field},
        {"open", tr("files.open", "Open…"), tr("files.project_problem_safetensors", "A project, a problem (.safetensors), attention weights (.npy, .npz, .safetensors, JSON of CircuitsVis), or the folder of a checkpoint"), {ctrl('O')}, anywhere, always_send(ChooseProject{}), unless_busy, "", field},
        {"open hub", tr("files.open_hub", "Open from the Hub…"), tr("files.open_hub_tip", "A model of the Hugging Face Hub by its name; it is downloaded if it is not on this machine"), {}, anywhere, always_send(HubAction{HubAction::Kind::open}), unless_busy, "", field},
        {"compare with", tr("files.compare_with", "Compare with…"), tr("files.compare_with_tip", "A second checkpoint or a LoRA adapter of the same shape: its changes become edits of this one, shown as B − A"), {}, anywhere, always_send(ChooseComparison{}), needs_own_checkpoint, "", field},
        {"save", tr("common.save", "Save"), tr("files.projects_file", "Into the project's file"), {ctrl('S')}, anywhere, always_send(SaveProject{}), needs_changes, tr("files.save_save", "save, save as"), field},
        {"save as", tr("files.save", "Save as…"), tr("files.new_file", "Into a new file"), {ctrl_shift('S')}, anywhere, always_send(SaveProjectAs{}), needs_problem, "", field},
        {"picture", tr("files.picture_view", "Picture of this view…"), tr("files.png_svg_pdf", "As PNG, SVG or PDF"), {ctrl('E')}, anywhere, always_send(ExportPicture{}), needs_numbers, tr("files.picture_view_numbers", "picture of this view, its numbers"), field},
        {"save numbers", tr("files.numbers_stage", "Numbers of this stage…"), tr("files.npy_csv_tsv_safetensors", "As .npy, .npz, .csv, .tsv or .safetensors, attention weights also for CircuitsVis; the table of a screen as .csv or .tsv"), {ctrl_shift('E')}, anywhere, always_send(ExportNumbers{}), needs_numbers, "", field},
        {"copy picture", tr("files.copy_picture", "Copy picture"), tr("files.view_png_dialog_pictures", "This view as a PNG, with the last settings of the picture dialog"), {ctrl_shift('I')}, anywhere, always_send(CopyPicture{}), needs_numbers, tr("files.copy_picture_view", "copy the picture of this view"), field},
        {"copy stage", tr("files.copy_stage_tsv", "Copy this stage as TSV"), tr("files.spreadsheet_copies_one_matrix", "For a spreadsheet; {} copies only the matrix under the mouse", chord_text(ctrl('C'))), {ctrl_shift('T')}, anywhere, always_send(CopyStage{}), needs_numbers, tr("files.copy_stage_tsv_copy", "copy this stage as TSV, copy as PyTorch"), field},
        {"copy far weights", tr("files.copy_list_far_weights", "Copy the list of far weights"), tr("files.strongest_weights_far_diagonal", "The strongest weights far from the diagonal of the map, with query and key, for a spreadsheet"), {}, on_long_map, always_send(CopyFarWeights{}), needs_far_weights, {}, field},
        {"copy script", tr("files.copy_pytorch", "Copy as PyTorch"), script, {ctrl_shift('C')}, anywhere, always_send(CopyScript{}), needs_script, "", field},
        {"save script", tr("files.save_pytorch_script", "Save PyTorch script…"), script, {}, anywhere, always_send(ExportScript{}), needs_script},
        {"copy step", tr("files.copy_step", "Copy as a step of a lesson"), tr("files.copy_step_tip", "For the author of a lesson: a step that shows this sentence, stage, head, row, edits and gains"), {}, anywhere, always_send(CopyLessonStep{}), needs_problem, {}, field},
        {"append step", tr("files.append_step", "Add this view to the lesson"), tr("files.append_step_tip", "Appends a step that shows this view to the file of the open lesson"), {}, in_lesson, always_send(AppendLessonStep{}), needs_problem, {}, field},
        {"record", tr("files.record_film", "Record a film…"), tr("files.stages_lesson_plays_gif", "The stages, or the current lesson, as GIF, MP4 or HTML page"), {}, anywhere, always_send(RecordFilm{}), needs_stages},
        {"choose attention", tr("files.choose_attention", "Another text of this file…"), tr("files.choose_attention_tip", "Shows another text, or another attention of an encoder-decoder, from the file of these weights"), {}, has_other_weights, always_send(ChooseAttention{}), unless_busy, {}, field},
        {"sentences", tr("presentation.list_of_sentences", "List of sentences…"), tr("presentation.list_of_sentences_tip", "Opens a text file with one sentence a line, to step through with {} and {}", chord_text(shift(Key::page_down)), chord_text(shift(Key::page_up))), {}, anywhere, always_send(ChooseSentences{}), needs_text_to_list},
        {"drop sentences", tr("presentation.drop_list", "Remove the list of sentences"), tr("presentation.drop_list_tip", "The sentence on screen stays"), {}, lists_sentences, always_send(DropSentences{})},
        {"prompts", tr("files.open_prompts", "Open prompts…"), tr("files.open_prompts_tip", "A list of prompts for this model: a .jsonl, .csv or .txt file with one prompt or pair a line"), {}, on_checkpoint, always_send(ChoosePrompts{}), unless_busy, {}, field},
        {"list of prompts", tr("files.list_of_prompts", "List and examples of prompts"), tr("files.list_of_prompts_tip", "The open list of prompts, and lists of known tasks that the program generates"), {alt('L')}, on_checkpoint, always_send(ShowTab{LeftTab::prompts}), {}, tr("files.list_of_prompts_keys", "list of prompts"), field},
        {"mean of prompts", tr("files.mean_of_prompts", "Mean over the list of prompts"), tr("files.mean_of_prompts_tip", "Shows the mean over the prompts on Atlas, Effects and Patching, or the open prompt again"), {alt('M')}, lists_prompts, flip_mean, needs_mean, tr("files.mean_of_prompts_keys", "mean over the list of prompts"), field},
        {"next prompt", tr("files.next_prompt", "Next prompt of the list"), tr("files.next_prompt_tip", "Opens the next prompt, in the order of the list on screen"), {alt(Key::page_down)}, lists_prompts, always_send(StepListedPrompt{1}), needs_prompt(1), tr("files.step_prompts_keys", "next prompt of the list, previous prompt"), field, true},
        {"prompt before", tr("files.prompt_before", "Previous prompt of the list"), tr("files.prompt_before_tip", "Opens the previous prompt, in the order of the list on screen"), {alt(Key::page_up)}, lists_prompts, always_send(StepListedPrompt{-1}), needs_prompt(-1), "", field, true},
        {"close prompts", tr("files.close_prompts", "Close the list of prompts"), tr("files.close_prompts_tip", "The prompt on screen stays"), {}, lists_prompts, always_send(ClosePrompts{})},
        {"ioi prompts", tr("files.ioi_prompts", "Example prompts: IOI"), tr("files.ioi_prompts_tip", "Generates a list of prompts for the name of the second person"), {}, on_checkpoint, always_send(GeneratePrompts{"ioi"})},
        {"greater-than prompts", tr("files.greater_prompts", "Example prompts: Greater-than"), tr("files.greater_prompts_tip", "Generates a list of prompts for a later year"), {}, on_checkpoint, always_send(GeneratePrompts{"greater-than"})},
        {"induction prompts", tr("files.induction_prompts", "Example prompts: Induction"), tr("files.induction_prompts_tip", "Generates a list of prompts for the next word of a repeated list"), {}, on_checkpoint, always_send(GeneratePrompts{"induction"})},
        {"check numbers", tr("files.check_numbers", "Check the numbers of the model"), tr("files.check_numbers_tip", "Compares the numbers of the checkpoint with its own computation in double precision"), {}, on_checkpoint, always_send(EngineAction{EngineAction::Kind::check}), {}, {}, field},
        {"start page", tr("files.start_page", "Start page"), tr("files.three_ways_begin_sentence", "Three ways to begin: a sentence of your own, the course, a trained model"), {alt(Key::home)}, anywhere, always_send(ShowTab{LeftTab::start}), {}, tr("files.start_page_file_menu", "the Start page, the File menu"), field},
        {"file menu", tr("files.file_menu", "File menu"), tr("common.new_open_save_export", "New, open, save and export"), {alt('F')}, anywhere, always_send(OpenFileMenu{}), needs_toolbar, "", field},
        {"quit", tr("files.quit", "Quit"), tr("files.closes_window_unsaved_work", "Closes the window; asks about unsaved work first"), {ctrl('Q')}, anywhere, always_send(QuitProgram{}), {}, {}, field},
        // clang-format on
    };
}

} // namespace headscope::app
