#include "app/shell/files/files.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/checkpoint/files/local_models.h"
#include "core/format/attention_file.h"
#include "core/project/case_file.h"

#include <algorithm>
#include <utility>

namespace headscope::app {

namespace {

std::string untold_heads(const std::string& name, const project::CaseHeads& heads) {
    return heads.H == 1 ? tr("files_opening.not_say_how_many",
                             "{} does not say how many heads its weights have. They are shown as one head: "
                             "choose H at the top.",
                             name)
                        : tr("files_opening.not_say_how_many_2",
                             "{} does not say how many heads its weights have. They are shown as {} heads, "
                             "the fewest that fit W_K: choose H at the top.",
                             name, heads.H);
}

/// For model weights, reports the missing config.json instead of missing attention weights.
AttentionOptionsPtr options_of_weights(const std::string& path) {
    try {
        return format::attention_options(path);
    } catch (const Error& fault) {
        if (fault.kind() == ErrorKind::input && checkpoint::lacks_config(path))
            fail_input(tr("files_opening.holds_weights_model_config",
                          "{} contains the weights of a model, but config.json is missing: put the model's "
                          "config.json into the same folder, and open the folder.",
                          file_name(path)));
        throw;
    }
}

} // namespace

void Files::load_project(const std::string& path) {
    const std::uint64_t revision = state_.document->revision + 1;
    job_.start(
        tr("common.opening", "Opening {}", file_name(path)), true,
        [this, path, revision](Progress& progress) -> FileJob::Done {
            const auto load = [&](project::OpenedProject opened) {
                progress.check();
                return LoadedDocument{make_document(opened.recipe, revision), path, std::move(opened.view),
                                      std::move(opened.notes)};
            };
            try {
                LoadedDocument loaded = load(project::open_project(path));
                return [this, loaded = std::move(loaded)] { put_in_place(loaded, true); };
            } catch (const Error& fault) {
                if (fault.kind() != ErrorKind::input)
                    throw;
                // Try to read a part of it; otherwise report the first error.
                try {
                    LoadedDocument loaded = load(project::recover_project(path));
                    return [this, loaded = std::move(loaded), error = std::string(fault.what())] {
                        files_.chooser.reset();
                        files_.damaged = DamagedOffer{file_name(loaded.path), error, loaded.notes};
                        remains_ = loaded;
                        remains_->path.clear(); // do not overwrite a damaged file without asking
                        remains_->notes.clear();
                    };
                } catch (const Error& worse) {
                    if (worse.kind() == ErrorKind::cancelled)
                        throw;
                }
                throw;
            }
        },
        [this](const std::string& sentence) { failed(sentence); });
}

void Files::load_problem(const std::string& path) {
    const std::uint64_t revision = state_.document->revision + 1;
    job_.start(
        tr("common.opening", "Opening {}", file_name(path)), true,
        [this, path, revision](Progress&) -> FileJob::Done {
            const project::CaseHeads heads = project::heads_of_case(format::Safetensors::open_lazily(path));
            project::Recipe recipe;
            recipe.base = std::make_shared<const Problem>(
                project::load_case({.path = path, .H = heads.H, .Hkv = heads.Hkv}));
            LoadedDocument loaded{make_document(recipe, revision), {}, {}, {}};
            if (!heads.from_file)
                loaded.notes.push_back(untold_heads(file_name(path), heads));
            return [this, path, loaded = std::move(loaded)] {
                put_in_place(loaded, true); // the tensors of a file: no unsaved work
                remember(path);
            };
        },
        [this](const std::string& sentence) { failed(sentence); });
}

void Files::load_attention(const std::string& path) {
    job_.start(
        tr("common.opening", "Opening {}", file_name(path)), true,
        [this, path](Progress&) -> FileJob::Done {
            const AttentionOptionsPtr options = options_of_weights(path);
            if (!options->has_choice())
                return [this, path, set = options->open({})] { show_attention(path, set); };
            return [this, path, options] {
                files_.chooser.reset();
                files_.attention = AttentionQuestion{path, options, options->parts.front().id, 0};
            };
        },
        [this](const std::string& sentence) { failed(sentence); });
}

void Files::show_attention(const std::string& path, const AttentionSetPtr& set) {
    setup_.leave_lesson();
    files_.chooser.reset();
    files_.path.clear();
    const GivenWeights* const before = state_.document->given();
    const AttentionOptionsPtr same_file = before != nullptr ? before->set->info().options : nullptr;
    const AttentionView view = state_.view.attention;
    const std::int64_t head = state_.view.head;
    workspace_.open(set); // weights from a file: no unsaved work
    remember(path);
    if (same_file == nullptr || same_file != set->info().options)
        return;
    // Another text or attention of the same file is shown as the previous one was.
    const AttentionInfo& info = set->info();
    workspace_.change_view(OpenHead{std::clamp<std::int64_t>(view.layer, 0, info.L - 1),
                                    std::clamp<std::int64_t>(head, 0, info.H - 1)});
    workspace_.change_view(SetLogColours{view.log_colours});
    if (view.screen != Screen::map)
        workspace_.change_view(ShowScreen{view.screen});
    try {
        workspace_.change_view(SetReadingOptions{view.reading});
    } catch (const Error& fault) { // for example, this text has only special tokens
        if (fault.kind() != ErrorKind::input)
            throw;
        say(fault.what());
    }
}

void Files::choose_attention() {
    const GivenWeights* const given = state_.document->given();
    if (given == nullptr || given->set->info().options == nullptr || job_.busy())
        return;
    const AttentionInfo& info = given->set->info();
    files_.attention =
        AttentionQuestion{info.source, info.options, info.choice.part, info.choice.text.value_or(0)};
}

void Files::answer_attention(bool open) {
    if (!files_.attention)
        return;
    if (open && job_.busy())
        fail_input(tr("common.not_over_yet", "{} has not finished yet", job_.label()));
    const AttentionQuestion question = *std::exchange(files_.attention, std::nullopt);
    const GivenWeights* const given = state_.document->given();
    const bool is_open = given != nullptr && given->set->info().options == question.options &&
                         given->set->info().choice == question.choice();
    if (!open || is_open)
        return;
    job_.start(
        tr("common.opening", "Opening {}", file_name(question.path)), true,
        [this, question](Progress&) -> FileJob::Done {
            return [this, path = question.path, set = question.options->open(question.choice())] {
                show_attention(path, set);
            };
        },
        [this](const std::string& sentence) { failed(sentence); });
}

void Files::save_lesson_to(const std::string& path) {
    std::error_code none;
    if (path == files_.path || std::filesystem::equivalent(path, files_.path, none))
        return failed(tr("files_opening.file_project_choose",
                         "{} is the file of your project: choose another name for the lesson's problem.",
                         file_name(path)));
    job_.start(
        tr("common.saving", "Saving {}", file_name(path)), false,
        [this, path, write = workspace_.session().save_function()](Progress&) -> FileJob::Done {
            write(path);
            return [this, path] {
                files_.chooser.reset();
                remember(path);
                say(tr("files_opening.saved_lessons_problem", "Saved the lesson's problem as {}",
                       file_name(path)));
            };
        },
        [this](const std::string& sentence) { failed(sentence); });
}

} // namespace headscope::app
