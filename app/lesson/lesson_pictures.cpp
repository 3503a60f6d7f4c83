#include "app/lesson/lesson_pictures.h"

#include "app/jobs/model_runner.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/lesson/lesson_model.h"
#include "core/trace/stage.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

namespace headscope::app {

namespace {

constexpr std::int64_t most_matrices = 8;

/// The rank of a stage as a picture: weights, then scores, then other matrices.
int picture_rank(StageGroup stage) {
    return stage == StageGroup::weights                                                                ? 2
           : stage == StageGroup::masked || stage == StageGroup::scaled || stage == StageGroup::scores ? 1
                                                                                                       : 0;
}

/// The scene whose view stands for the lesson.
lesson::StepScene picture_scene(const lesson::Lesson& lesson) {
    lesson::StepScene best = lesson.scene;
    int rank = -1;
    for (const lesson::Step& step : lesson.steps) {
        lesson::StepScene scene = lesson::combine_scenes(lesson.scene, step.scene);
        const int found = scene.screen ? -1 : picture_rank(scene.stage.value_or(StageGroup::weights));
        if (found > rank) {
            rank = found;
            best = std::move(scene);
        }
    }
    return best;
}

/// The problem of a scene. A scene with a model has the problem of its layer.
std::shared_ptr<const Problem> picture_problem(const lesson::StepScene& scene, Progress& progress) {
    if (!scene.model) {
        const project::Recipe recipe = lesson::recipe_of(scene);
        return std::make_shared<const Problem>(
            project::with_edits(project::build_recipe(recipe).problem, recipe));
    }
    const checkpoint::TextModelPtr model =
        checkpoint::open_text_model(checkpoint::model_folder(*scene.model));
    return open_model(model, {.prompt = scene.sentence.value_or("")}, scene.layer.value_or(0),
                      lesson::edits_of(scene, model->model->config()), progress)
        .base;
}

/// The colors of a row of scores end this far below its largest one, as on the canvas.
constexpr float depth_of_scores = 8;

LessonPicture::Matrix shaded(const float* values, std::int64_t rows, std::int64_t columns, std::int64_t head,
                             TensorId tensor) {
    LessonPicture::Matrix out{
        .rows = static_cast<int>(rows), .columns = static_cast<int>(columns), .head = head};
    const bool weights = tensor == TensorId::weights, scores = is_score(tensor) && !weights;
    out.diverging = !weights && !scores;
    float largest = 0;
    for (std::int64_t n = 0; n < rows * columns; ++n)
        if (std::isfinite(values[n]))
            largest = std::max(largest, std::abs(values[n]));
    for (std::int64_t i = 0; i < rows; ++i) {
        const float* const row = values + i * columns;
        const float top = *std::max_element(row, row + columns);
        for (std::int64_t j = 0; j < columns; ++j) {
            const float value = row[j];
            const float shade = weights                 ? value
                                : !std::isfinite(value) ? 0
                                : scores                ? 1 - (top - value) / depth_of_scores
                                : largest > 0           ? 0.5F + 0.5F * value / largest
                                                        : 0.5F;
            out.shades.push_back(std::clamp(shade, 0.0F, 1.0F));
        }
    }
    return out;
}

} // namespace

LessonPicture lesson_picture(const lesson::Lesson& lesson, engine::Engine& engine, Progress& progress) {
    const lesson::StepScene scene = picture_scene(lesson);
    const std::shared_ptr<const Problem> problem = picture_problem(scene, progress);
    progress.check();
    const Trace trace = engine.run(*problem);
    const StageGroup stage = scene.stage.value_or(StageGroup::weights);
    const TensorId asked = group_info(is_around(stage) ? StageGroup::weights : stage).main;
    const TensorId id = is_stage(asked) && trace.stage(asked) != nullptr ? asked : TensorId::weights;
    const Tensor& tensor = *trace.stage(id);
    const Shape& shape = tensor.shape();
    const int rank = shape.rank();
    const std::int64_t rows = shape[rank - 2], columns = shape[rank - 1], heads = rank == 4 ? shape[1] : 1;
    LessonPicture out{.matrices = {}, .heads = problem->dims.H};
    const bool one = rank != 4 || scene.head.has_value();
    const std::int64_t from = one ? std::clamp<std::int64_t>(scene.head.value_or(0), 0, heads - 1) : 0,
                       to = one ? from + 1 : std::min(heads, most_matrices);
    for (std::int64_t h = from; h < to; ++h)
        out.matrices.push_back(
            shaded(tensor.data() + h * rows * columns, rows, columns, rank == 4 ? h : -1, id));
    if (one && scene.row && scene.row->kind != lesson::TargetIndex::Kind::all)
        out.row = static_cast<int>(lesson::query_row(*scene.row, *problem));
    return out;
}

} // namespace headscope::app
