#include "app/shell/control/open_question.h"

#include "app/draw/kit/format.h"
#include "app/shell/program.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/base/parse.h"

#include <algorithm>
#include <sstream>

namespace headscope::app {

namespace {

/// One row of the table of questions. `look` returns nothing while the question is not open.
struct QuestionRow {
    QuestionKind info;
    std::optional<OpenQuestion> (*look)(const AppState& state);
};

QuestionChoice offered_answer(std::string_view id, Action does) {
    return {id, {std::move(does)}};
}

std::optional<OpenQuestion> unsaved_work_question(const AppState& state) {
    if (!state.files.question)
        return std::nullopt;
    return OpenQuestion{.text = state.files.question->loss,
                        .choices = {offered_answer("save", AnswerUnsaved{UnsavedAnswer::save}),
                                    offered_answer("discard", AnswerUnsaved{UnsavedAnswer::discard}),
                                    offered_answer("cancel", AnswerUnsaved{UnsavedAnswer::cancel})},
                        .blocks = true};
}

std::optional<OpenQuestion> damaged_project_question(const AppState& state) {
    if (!state.files.damaged)
        return std::nullopt;
    std::vector<std::string> sentences{state.files.damaged->error};
    sentences.insert(sentences.end(), state.files.damaged->losses.begin(), state.files.damaged->losses.end());
    return OpenQuestion{.text = joined(sentences, {}, " "),
                        .choices = {offered_answer("open", AnswerDamaged{true}),
                                    offered_answer("cancel", AnswerDamaged{false})},
                        .blocks = true};
}

void take_path(Program& program, const std::string& text) {
    const std::string path = std::filesystem::absolute(text).lexically_normal().string();
    FileChooser& chooser = program.state().files.chooser->chooser;
    if (!chooser.options().saving)
        return program.act(ChosenPath{path});
    chooser.type(path); // adds the ending, and checks the folder
    std::optional<std::string> named = chooser.accept();
    if (!named)
        named = chooser.replace();
    if (named)
        return program.act(ChosenPath{*named});
    if (!chooser.error().empty())
        fail_input(chooser.error());
}

void replace_file(Program& program, const std::string&) {
    if (const std::optional<std::string> path = program.state().files.chooser->chooser.replace())
        program.act(ChosenPath{*path});
}

std::optional<OpenQuestion> replace_file_question(const AppState& state) {
    if (!state.files.chooser || state.files.chooser->chooser.replacing().empty())
        return std::nullopt;
    return OpenQuestion{.text = state.files.chooser->chooser.replacing(),
                        .choices = {{"replace", {}}, offered_answer("cancel", CloseChooser{})},
                        .take = replace_file,
                        .blocks = true};
}

std::optional<OpenQuestion> file_chooser_question(const AppState& state, bool of_model) {
    if (!state.files.chooser || (state.files.chooser->purpose == PathPurpose::find_model) != of_model)
        return std::nullopt;
    const FileChooser& open = state.files.chooser->chooser;
    return OpenQuestion{.text = open.error().empty() ? open.options().title : open.error(),
                        .choices = {offered_answer("cancel", CloseChooser{})},
                        .takes = "PATH",
                        .take = take_path,
                        .blocks = of_model};
}

/// The ids of the attentions in a file, or "attention" where they have none.
std::string attention_names(const AttentionOptions& options) {
    std::vector<std::string> names;
    for (const AttentionPart& part : options.parts)
        names.push_back(part.id.empty() ? "attention" : part.id);
    return joined(names, {}, ", ");
}

void take_model_name(Program& program, const std::string& name) {
    program.state().files.hub->name = name;
    program.act(HubAction{HubAction::Kind::edit, name});
    program.act(HubAction{HubAction::Kind::find, name});
}

std::optional<OpenQuestion> hub_question(const AppState& state, bool asks) {
    if (!state.files.hub || (state.files.hub->step == HubDialog::Step::found) != asks)
        return std::nullopt;
    const HubDialog& open = *state.files.hub;
    OpenQuestion question{.text = open.error, .choices = {}, .blocks = asks};
    if (asks) {
        question.text += (question.text.empty() ? "" : " ") +
                         tr("open_question.download", "Download {} of {} files from {} into {}?",
                            bytes_text(static_cast<std::int64_t>(open.plan.missing)), open.plan.files.size(),
                            open.server, open.cache);
        question.choices.push_back(offered_answer("download", HubAction{HubAction::Kind::download}));
    } else if (!open.is_working()) {
        question.takes = "NAME";
        question.take = take_model_name;
    }
    question.choices.push_back(offered_answer("cancel", HubAction{HubAction::Kind::close}));
    return question;
}

/// Chooses an attention, a text counted from 0, or both: "cross 2".
void take_attention(Program& program, const std::string& answer) {
    const AttentionQuestion open = *program.state().files.attention;
    SelectAttention chosen{open.part, open.text};
    std::istringstream words(answer);
    for (std::string word; words >> word;)
        if (const auto text = number_of<std::int64_t>(word))
            chosen.text = *text;
        else
            chosen.part = word;
    const bool unnamed = open.options->parts.size() == 1 && chosen.part == "attention";
    const AttentionPart* const part = open.options->find(unnamed ? std::string() : chosen.part);
    if (part == nullptr)
        fail_input(tr("open_question.no_such_attention", "the file has no attention \"{}\"; it has {}",
                      chosen.part, attention_names(*open.options)));
    if (chosen.text < 0 || chosen.text >= part->texts)
        fail_input(tr("open_question.no_such_text",
                      "there is no text {}; the texts of the file are counted from 0 to {}", chosen.text,
                      part->texts - 1));
    chosen.part = part->id;
    program.act(chosen);
    program.act(AnswerAttention{true});
}

std::optional<OpenQuestion> attention_choice_question(const AppState& state) {
    if (!state.files.attention)
        return std::nullopt;
    const AttentionQuestion& open = *state.files.attention;
    return OpenQuestion{.text = tr("open_question.which_attention",
                                   "{} has several attentions or texts: {}; {} texts", open.path,
                                   attention_names(*open.options), open.selected().texts),
                        .choices = {offered_answer("open", AnswerAttention{true}),
                                    offered_answer("cancel", AnswerAttention{false})},
                        .takes = "CHOICE",
                        .take = take_attention,
                        .blocks = true};
}

std::optional<OpenQuestion> recovery_question(const AppState& state) {
    if (state.files.recoveries.empty())
        return std::nullopt;
    const RecoveryOffer& offer = state.files.recoveries.front();
    return OpenQuestion{.text =
                            joined(std::vector<std::string>{offer.name, offer.detail, offer.when}, {}, ", "),
                        .choices = {offered_answer("recover", RecoverProject{offer.path}),
                                    offered_answer("discard", DiscardRecovery{offer.path}),
                                    offered_answer("later", LeaveRecovery{offer.path})}};
}

std::optional<OpenQuestion> settings_question(const AppState& state) {
    if (!state.settings_open)
        return std::nullopt;
    return OpenQuestion{.text = tr("settings.settings", "Settings"),
                        .choices = {offered_answer("cancel", OpenSettings{false})}};
}

void close_palette(Program& program, const std::string&) {
    program.state().palette.open = false;
}

std::optional<OpenQuestion> palette_question(const AppState& state) {
    if (!state.palette.open)
        return std::nullopt;
    return OpenQuestion{
        .text = tr("window.commands", "Commands…"), .choices = {{"cancel", {}}}, .take = close_palette};
}

std::optional<OpenQuestion> two_texts_question(const AppState& state) {
    if (!state.model.typed_pair || !state.document->is_checkpoint())
        return std::nullopt;
    return OpenQuestion{
        .text = state.model.typed_pair->first + " | " + state.model.typed_pair->second,
        .choices = {offered_answer("two", DecidePair{true}), offered_answer("one", DecidePair{false})}};
}

/// In the order in which one covers another.
const std::vector<QuestionRow>& rows() {
    static const std::vector<QuestionRow> all{
        {{"unsaved changes", "`save`, `discard`, `cancel`",
          "opening, starting over or quitting would discard work"},
         unsaved_work_question},
        {{"damaged project", "`open`, `cancel`",
          "only a part of a project could be read; `open` opens that part"},
         damaged_project_question},
        {{"replace file", "`replace`, `cancel`", "the name typed in a file chooser is that of a file"},
         replace_file_question},
        {{"find model", "a PATH, `cancel`",
          "the model that a project, a patch or an adapter was made for has to be named"},
         [](const AppState& state) { return file_chooser_question(state, true); }},
        {{"file chooser", "a PATH, `cancel`", "a file chooser is open; a file that is there is replaced"},
         [](const AppState& state) { return file_chooser_question(state, false); }},
        {{"download", "`download`, `cancel`", "a model of the Hub is not on this machine"},
         [](const AppState& state) { return hub_question(state, true); }},
        {{"hub", "a NAME, `cancel`", "the dialog *Open from the Hub*, also while it works"},
         [](const AppState& state) { return hub_question(state, false); }},
        {{"attention choice", "a CHOICE, `open`, `cancel`",
          "a file has several texts or attentions: an attention, a text counted from 0, or both (`cross 2`)"},
         attention_choice_question},
        {{"recovery", "`recover`, `discard`, `later`",
          "work of a run that ended unexpectedly; one after the other"},
         recovery_question},
        {{"settings", "`cancel`", "the settings are open"}, settings_question},
        {{"commands", "`cancel`", "the command palette is open"}, palette_question},
        {{"two texts", "`two`, `one`", "the prompt has a separator: are these two texts?"},
         two_texts_question}};
    return all;
}

} // namespace

std::optional<OpenQuestion> open_question(const AppState& state) {
    for (const QuestionRow& row : rows())
        if (std::optional<OpenQuestion> question = row.look(state)) {
            question->kind = row.info.kind;
            return question;
        }
    return std::nullopt;
}

const std::vector<QuestionKind>& question_kinds() {
    static const std::vector<QuestionKind> all = [] {
        std::vector<QuestionKind> kinds;
        std::ranges::transform(rows(), std::back_inserter(kinds), &QuestionRow::info);
        return kinds;
    }();
    return all;
}

} // namespace headscope::app
