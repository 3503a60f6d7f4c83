#include "app/cli/bench/bench_editing.h"

#include "app/shell/gl/offscreen.h"
#include "app/shell/program.h"
#include "core/text/random_numbers.h"

#include <algorithm>
#include <cmath>
#include <ctime>

namespace headscope::cli {

namespace {

std::shared_ptr<const Problem> large_problem() {
    constexpr std::int64_t T = 64, D = 512, H = 8;
    text::RandomNumbers numbers(1);
    const auto drawn = [&](const Shape& shape, float scale) {
        Tensor tensor(shape);
        std::ranges::generate(tensor.values(), [&] { return scale * numbers.uniform(); });
        return std::make_shared<const Tensor>(std::move(tensor));
    };
    const float scale = 1.0F / std::sqrt(static_cast<float>(D));
    Problem problem;
    problem.dims = {1, T, T, D, D, H, H, D / H, D / H};
    problem.x = drawn({1, T, D}, 1);
    for (TensorPtr* weight :
         {&problem.weights.W_Q, &problem.weights.W_K, &problem.weights.W_V, &problem.weights.W_O})
        *weight = drawn({D, D}, scale);
    return std::make_shared<const Problem>(std::move(problem));
}

/// The processor time of this thread alone, without the engine's threads.
double processor_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Changes one number before every frame, as dragging does.
class DraggingUi : public app::Ui {
public:
    explicit DraggingUi(app::Program& program) : program_(program) {}
    void frame(app::Surface& surface, double now) override {
        const app::CellAddress cell{TensorId::W_O, {3, 4, 0, 0}};
        const double start = processor_seconds();
        program_.act(app::Command(app::EditCell{cell, 0.01F * static_cast<float>(frames.size())}));
        program_.frame(surface, now);
        frames.push_back(processor_seconds() - start);
    }
    bool animating() const override { return program_.animating(); }
    float zoom() const override { return program_.zoom(); }
    figure::Color background() const override { return program_.background(); }
    std::string title() const override { return program_.title(); }
    bool quitting() const override { return program_.quitting(); }

    std::vector<double> frames;

private:
    app::Program& program_;
};

} // namespace

std::vector<double> editing_frames() {
    project::Recipe recipe;
    recipe.base = large_problem();
    app::Program program({.recipe = recipe, .device = "auto", .wake = {}});
    program.settle();
    program.act(app::ViewChange(app::GoTo{StageGroup::output}));
    program.act(app::ViewChange(app::Select{app::CellAddress{TensorId::W_O, {3, 4, 0, 0}}}));
    DraggingUi ui(program);
    app::render_offscreen(ui, 1600, 1000, 1.0F, {.frames = 120, .mouse = {}});
    ui.frames.erase(ui.frames.begin(), ui.frames.begin() + 10);
    return std::move(ui.frames);
}

} // namespace headscope::cli
