#include "app/draw/kit/format.h"
#include "app/shell/files/file_choosers.h"
#include "app/shell/files/files.h"
#include "app/shell/files/render_command.h"
#include "app/shell/film/window_film.h"
#include "core/base/error.h"
#include "core/base/message.h"

#include <imgui.h>

namespace headscope::app {

namespace {

/// Returns true if a checkpoint's text is that of the saved state; a patch file cannot store another text.
bool has_text(const DocumentPtr& saved, const Document& now) {
    return saved != nullptr && saved->is_checkpoint() && now.is_checkpoint() &&
           *saved->part()->inputs == *now.part()->inputs;
}

} // namespace

void Files::save() {
    if (workspace_.is_suspended())
        return failed(tr("files_writing.not_saved_lessons_problem",
                         "Not saved: this is the lesson's problem, not your project. Save as… gives it a "
                         "file of its own."));
    if (files_.path.empty() ||
        (files_.path.ends_with(patch_suffix) && !has_text(workspace_.history().saved(), *state_.document)))
        return choose(PathPurpose::save_project);
    save_to(files_.path);
}

void Files::save_path(const std::string& path) {
    workspace_.session().check(SaveProjectAs{});
    if (job_.busy())
        fail_input(tr("common.not_over_yet", "{} has not finished yet", job_.label()));
    if (!path.ends_with(project_suffix) && !(of_checkpoint() && path.ends_with(patch_suffix)))
        fail_input(tr("files_writing.should_end", "{} should end in {}", path, project_suffix));
    save_to(path);
}

void Files::save_to(const std::string& path) {
    if (job_.busy())
        return;
    if (workspace_.is_suspended())
        return save_lesson_to(path);
    job_.start(
        tr("common.saving", "Saving {}", file_name(path)), false,
        [this, path, document = state_.document, checkpoint = of_checkpoint(),
         write = workspace_.session().save_function()](Progress&) -> FileJob::Done {
            write(path);
            return [this, path, document, checkpoint] {
                if (checkpoint)
                    drop_recovered_edits();
                saved_as(document, path);
            };
        },
        [this](const std::string& sentence) {
            next_.reset();
            failed(sentence);
        });
}

void Files::saved_as(const DocumentPtr& document, const std::string& path) {
    files_.chooser.reset();
    files_.path = path;
    path_of_checkpoint_ = document->is_checkpoint();
    files_.save_error.clear();
    workspace_.mark_saved(document);
    remember(path);
    document_changed();
    say(tr("files_writing.saved", "Saved {}", file_name(path)));
    if (auto step = std::exchange(next_, std::nullopt))
        ask_first(std::move(*step)); // it may have changed during the write
}

void Files::chosen(const std::string& path) {
    if (!files_.chooser || job_.busy())
        return;
    last_folder_ = std::filesystem::path(path).parent_path();
    switch (files_.chooser->purpose) {
    case PathPurpose::open:
        return open_path(path);
    case PathPurpose::find_model:
        return model_chosen(path);
    case PathPurpose::compare:
        return compare_with(path);
    case PathPurpose::save_project:
        return save_to(path);
    case PathPurpose::sentences:
        return open_sentences(path);
    case PathPurpose::prompts:
        return open_prompts(path);
    case PathPurpose::picture:
    case PathPurpose::numbers:
    case PathPurpose::script:
    case PathPurpose::film:
        return write_view(
            {files_.chooser->purpose, path, files_.chooser->picture.choice, files_.chooser->film},
            files_.chooser->purpose == PathPurpose::picture ? preview_.screen()
                                                            : ScreenSnapshot{state_.shown, state_.view});
    }
}

void Files::write_path(const FileToWrite& file) {
    if (job_.busy())
        fail_input(tr("common.not_over_yet", "{} has not finished yet", job_.label()));
    write_view(file, file.purpose == PathPurpose::picture ? figure_screen(state_)
                                                          : ScreenSnapshot{state_.shown, state_.view});
}

void Files::write_view(const FileToWrite& file, ScreenSnapshot screen) {
    const std::string& path = file.path;
    const std::string writing = tr("files_writing.writing", "Writing {}", file_name(path));
    if (file.purpose == PathPurpose::picture) {
        files_.picture = file.picture;
        const std::string part = part_description(screen, false);
        return write_out(
            writing, path,
            [path, screen = std::move(screen), choice = file.picture](Progress&) {
                write_picture(screen, choice, path);
            },
            part);
    }
    if (file.purpose == PathPurpose::numbers) {
        const std::string part = part_description(screen, true);
        return write_out(
            writing, path, [path, screen = std::move(screen)](Progress&) { write_numbers(screen, path); },
            part);
    }
    if (file.purpose == PathPurpose::script)
        return write_out(writing, path, [path, screen = std::move(screen)](Progress& progress) {
            write_script(screen, path, progress);
        });
    FilmSource source{setup_.film, state_.document, state_.view};
    source.options.recipe = state_.document->recipe;
    write_out(tr("files_writing.filming", "Filming {}", file_name(path)), path,
              [path, source = std::move(source), film = file.film](Progress& progress) {
                  write_film(source, film, path, progress);
              });
}

void Files::write_out(const std::string& label, const std::string& path, std::function<void(Progress&)> write,
                      const std::string& part) {
    job_.start(
        label, false,
        [this, path, part, write = std::move(write)](Progress& progress) -> FileJob::Done {
            write(progress);
            return [this, path, part] {
                files_.chooser.reset();
                say(part.empty() ? tr("files_writing.wrote", "Wrote {}", path)
                                 : tr("files_writing.wrote_2", "Wrote {}: {}", path, part));
            };
        },
        [this](const std::string& sentence) { failed(sentence); });
}

void Files::copy_render_command() {
    if (!files_.chooser || files_.chooser->purpose != PathPurpose::picture)
        return;
    const FileChooser& chooser = files_.chooser->chooser;
    const std::string name = file_name(chooser.text());
    try {
        const std::string command =
            shell_command(render_words(state_, files_.chooser->picture.choice,
                                       name.ends_with(chooser.suffix()) ? name : name + chooser.suffix()));
        ImGui::SetClipboardText(command.c_str());
        say(tr("files_writing.copied_command", "Copied the command: {}", command));
    } catch (const Error& fault) {
        failed(fault.what());
    }
}

void Files::copy_picture() {
    if (!setup_.offer_picture)
        throw Error(ErrorKind::machine,
                    tr("files_writing.no_desktop_copy_picture",
                       "there is no desktop to copy a picture to; write it to a file (Ctrl E)"));
    job_.start(
        tr("files_writing.drawing_picture", "Drawing the picture"), false,
        [this, screen = figure_screen(state_), choice = files_.picture](Progress&) -> FileJob::Done {
            std::string png = picture_png(screen, choice);
            return [this, png = std::move(png)] {
                const auto bytes = static_cast<std::int64_t>(png.size());
                try {
                    setup_.offer_picture(png);
                    say(tr("files_writing.copied_picture_png", "Copied the picture, a PNG of {}.",
                           bytes_text(bytes)));
                } catch (const Error& fault) {
                    failed(fault.what());
                }
            };
        },
        [this](const std::string& sentence) { failed(sentence); });
}

} // namespace headscope::app
