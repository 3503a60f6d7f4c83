#include "app/commands/actions/rows.h"
#include "app/state/screens/long_map.h"

namespace headscope::app {

namespace {

std::string unless_busy(const Situation& now) {
    return now.files.job ? tr("{} is not over yet", now.files.job->label) : "";
}
std::string needs_numbers(const Situation& now) {
    return now.pictured ? unless_busy(now) : tr("Nothing is computed yet");
}
std::string needs_problem(const Situation& now) {
    return now.weights_file ? tr("Attention weights of a file are shown; what computed them is not known")
                            : unless_busy(now);
}
std::string needs_changes(const Situation& now) {
    if (now.weights_file)
        return needs_problem(now);
    if (now.files.lesson) // reports how the lesson's input can be saved
        return unless_busy(now);
    if (now.checkpoint) // the questions and the current view are saved too
        return unless_busy(now);
    return !now.files.path.empty() && !now.files.unsaved ? tr("Nothing has changed since it was saved")
                                                         : unless_busy(now);
}
std::string needs_stages(const Situation& now) {
    return now.lesson          ? unless_busy(now)
           : now.weights_file  ? tr("Attention weights of a file have no stages to film")
           : now.long_document ? tr("The stages of so many tokens are too large to be filmed")
           : now.weights_read
               ? tr("The weights on screen are filtered; switch the filters off in Heads for a film")
               : needs_numbers(now);
}

std::string needs_toolbar(const Situation& now) {
    return now.presenting ? tr("The File menu is in the window; Esc leaves the presentation") : "";
}

std::string needs_script(const Situation& now) {
    if (now.weights_file)
        return needs_problem(now);
    return now.weights_read
               ? tr("The weights on screen are filtered; switch the filters off in Heads for a script")
           : now.long_document ? tr("The numbers of so many tokens are too many for a script")
                               : needs_numbers(now);
}

bool on_long_map(const Situation& now) {
    return now.map != nullptr;
}
std::string needs_far_weights(const Situation& now) {
    const std::string missing = why_no_spots(*now.map, now.view.attention.long_map);
    return missing.empty() ? unless_busy(now) : missing;
}

} // namespace

std::vector<ActionInfo> file_actions() {
    constexpr Over field = Over::field;
    const std::string script = tr("A script that computes these very numbers again");
    return {
        // clang-format off
        {"new", tr("New"), tr("Back to the sentence and the preset that the program began with"), {ctrl('N')}, anywhere, just(NewProject{}), unless_busy, tr("new project, open one"), field},
        {"open", tr("Open…"), tr("A project, a problem (.safetensors), attention weights (.npy, .safetensors), or the folder of a checkpoint"), {ctrl('O')}, anywhere, just(ChooseProject{}), unless_busy, "", field},
        {"save", tr("Save"), tr("Into the project's file"), {ctrl('S')}, anywhere, just(SaveProject{}), needs_changes, tr("save, save as"), field},
        {"save as", tr("Save as…"), tr("Into a new file"), {ctrl_shift('S')}, anywhere, just(SaveProjectAs{}), needs_problem, "", field},
        {"picture", tr("Picture of this view…"), tr("As PNG, SVG or PDF"), {ctrl('E')}, anywhere, just(ExportPicture{}), needs_numbers, tr("picture of this view, its numbers"), field},
        {"save numbers", tr("Numbers of this stage…"), tr("As .npy, .csv, .tsv or .safetensors; the table of a screen as .csv or .tsv"), {ctrl_shift('E')}, anywhere, just(ExportNumbers{}), needs_numbers, "", field},
        {"copy picture", tr("Copy picture"), tr("This view as a PNG, as the dialog for pictures was set last"), {ctrl_shift('I')}, anywhere, just(CopyPicture{}), needs_numbers, tr("copy the picture of this view"), field},
        {"copy stage", tr("Copy this stage as TSV"), tr("For a spreadsheet; {} copies the one matrix under the mouse", chord_text(ctrl('C'))), {ctrl_shift('T')}, anywhere, just(CopyStage{}), needs_numbers, tr("copy this stage as TSV, copy as PyTorch"), field},
        {"copy far weights", tr("Copy the list of far weights"), tr("The strongest weights far from the diagonal of the map, with query and key, for a spreadsheet"), {}, on_long_map, just(CopyFarWeights{}), needs_far_weights, {}, field},
        {"copy script", tr("Copy as PyTorch"), script, {ctrl_shift('C')}, anywhere, just(CopyScript{}), needs_script, "", field},
        {"save script", tr("Save PyTorch script…"), script, {}, anywhere, just(ExportScript{}), needs_script},
        {"record", tr("Record a film…"), tr("The stages, or the lesson that plays, as GIF, MP4 or a page of HTML"), {}, anywhere, just(RecordFilm{}), needs_stages},
        {"start page", tr("Start page"), tr("Three ways to begin: a sentence of your own, the course, a trained model"), {alt(Key::home)}, anywhere, just(ShowTab{LeftTab::start}), {}, tr("the Start page, the File menu"), field},
        {"file menu", tr("File menu"), tr("New, open, save and export"), {alt('F')}, anywhere, just(OpenFileMenu{}), needs_toolbar, "", field},
        {"quit", tr("Quit"), tr("Closes the window; unsaved work is asked about first"), {ctrl('Q')}, anywhere, just(QuitProgram{}), {}, {}, field},
        // clang-format on
    };
}

} // namespace headscope::app
