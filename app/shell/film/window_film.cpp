#include "app/shell/film/window_film.h"

#include "app/shell/film/films.h"
#include "app/shell/film/writers.h"
#include "app/state/model_document.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/message.h"

namespace headscope::app {

namespace {

void settle(Program& program) {
    program.settle();
    if (!program.state().error.empty())
        fail_input(program.state().error);
}

/// Opens the checkpoint of the source at its layer and head.
void open_again(Program& program, const FilmSource& source, Progress& progress) {
    const RunSpec& part = *source.document->part();
    const ModelTexts texts{.prompt = part.prompt,
                           .target = part.two_texts() ? std::optional(part.target) : std::nullopt,
                           .pair = part.pair};
    program.open_checkpoint(open_model(part.model, texts, source.document->layer(), part.edits, progress));
    settle(program);
    const AttentionView& attention = source.view.attention;
    program.act(ShowStack{attention.stack});
    program.act(OpenHead{attention.layer, source.view.head});
    settle(program);
}

/// Copies the view settings that a film shares with the window.
void copy_view_settings(ViewState& view, const ViewState& source) {
    view.dark = source.dark;
    view.numbers = source.numbers;
    view.same_scale = source.same_scale;
    view.attention.score_scale = source.attention.score_scale;
    view.colour_map = source.colour_map;
    view.weights_view = source.weights_view;
    view.heads_view = source.heads_view;
    view.head = source.head;
    view.compared_head = source.compared_head;
    view.left_open = source.left_open;
    view.inspector_open = source.inspector_open;
    view.left_width = source.left_width;
    view.inspector_width = source.inspector_width;
}

} // namespace

const std::vector<std::string>& film_suffixes() {
    static const std::vector<std::string> all{".gif", ".mp4", ".html"};
    return all;
}

void write_film(const FilmSource& source, const FilmChoice& choice, const std::string& path,
                Progress& progress) {
    const std::string lesson = choice.of_lesson ? choice.lesson : "";
    FilmLook look{.width = choice.width, .height = choice.height, .rest = choice.rest};
    Program program(source.options);
    program.state().shows_run_time = false; // no timing on screen, which would differ between films
    if (lesson.empty() && source.document->is_checkpoint())
        open_again(program, source, progress);
    settle(program);
    copy_view_settings(program.state().view, source.view);
    const std::unique_ptr<FilmWriter> writer =
        film_writer(film_format(path),
                    {.title = film_title(program.state(), lesson),
                     .language = lesson.empty() ? std::string(language_in_use()) : source.options.language,
                     .dark = source.view.dark},
                    look);
    Recorder recorder(program, *writer, look, &progress);
    if (lesson.empty())
        film_stages(recorder);
    else
        film_lesson(recorder, lesson);
    write_file_atomically(path, writer->finish());
}

} // namespace headscope::app
