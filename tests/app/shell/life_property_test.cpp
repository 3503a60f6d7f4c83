#include "app/shell/program.h"
#include "core/base/error.h"
#include "core/text/preset.h"
#include "tests/app/support/first_lesson_size.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

#include <array>
#include <bit>
#include <csignal>
#include <map>
#include <optional>
#include <ostream>
#include <rapidcheck.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test::first_lesson_size;
using headscope::test::TemporaryFolder;

namespace {

constexpr std::array matrices{TensorId::x, TensorId::W_Q, TensorId::W_K, TensorId::W_V, TensorId::W_O};
constexpr std::array sentences{"The cat sat down", "A dog barks", "The old man reads a paper"};

/// The expected content of the document, as plain numbers, without computing code of the program.
struct Plain {
    std::string sentence = sentences[0];
    std::map<TensorId, std::vector<float>> numbers;
    std::vector<float> gains = std::vector<float>(H, 1.0F);
    float temperature = 1.0F;
    project::MaskChoice mask = project::MaskChoice::none;
    bool operator==(const Plain&) const = default;

    static Plain built(const std::string& sentence) {
        Plain plain;
        plain.sentence = sentence;
        const Problem problem = text::build_preset("first-lesson", sentence).problem;
        for (const TensorId id : matrices) {
            const auto values = problem.input(id)->values();
            plain.numbers[id].assign(values.begin(), values.end());
        }
        return plain;
    }
};

enum class Kind : std::uint8_t {
    cell,
    not_a_number,
    zero_rows,
    copy_head,
    gain,
    no_such_head,
    temperature,
    mask,
    sentence,
    reset,
    undo,
    redo,
    save,
    load,
    kill
};

struct Act {
    Kind kind;
    std::int64_t a = 0, b = 0, c = 0;
    float value = 0;
};

[[maybe_unused]] std::ostream& operator<<(std::ostream& out, const Act& act) {
    return out << "kind " << static_cast<int>(act.kind) << " a " << act.a << " b " << act.b << " c " << act.c
               << " value " << act.value;
}

/// The history of a document: its content, the states of undo, and the files on the disk.
struct LastKnown {
    std::vector<Plain> states{Plain::built(sentences[0])};
    std::size_t position = 0;
    std::optional<Plain> clean = states.front(); ///< the state that counts as saved
    std::optional<Plain> file;

    const Plain& now() const { return states[position]; }
    bool unsaved() const { return !clean || !(*clean == now()); }

    void push(Plain next) {
        states.resize(position + 1);
        states.push_back(std::move(next));
        ++position;
    }
    /// Choosing the current value again does not add a step.
    void choose(Plain next) {
        if (!(next == now()))
            push(std::move(next));
    }
    void begin_with(const Plain& plain, bool saved) {
        states = {plain};
        position = 0;
        clean = saved ? std::optional(plain) : std::nullopt;
    }

    void take(const Act& step) {
        Plain next = now();
        switch (step.kind) {
        case Kind::cell: {
            std::vector<float>& numbers = next.numbers[matrices[static_cast<std::size_t>(step.c)]];
            numbers[static_cast<std::size_t>(step.a * D + step.b)] = step.value;
            return push(std::move(next));
        }
        case Kind::zero_rows:
            std::fill_n(next.numbers[TensorId::W_O].begin() + step.a * D, dk * D, 0.0F);
            return push(std::move(next));
        case Kind::copy_head: // copies head 0 to head 1: columns of W_Q, W_K and W_V, rows of W_O, the head
                              // gain
            for (const TensorId id : {TensorId::W_Q, TensorId::W_K, TensorId::W_V})
                for (std::int64_t row = 0; row < D; ++row)
                    std::copy_n(next.numbers[id].begin() + row * D, dk,
                                next.numbers[id].begin() + row * D + dk);
            std::copy_n(next.numbers[TensorId::W_O].begin(), dk * D,
                        next.numbers[TensorId::W_O].begin() + dk * D);
            next.gains[1] = next.gains[0];
            return push(std::move(next));
        case Kind::gain:
            next.gains[static_cast<std::size_t>(step.a % H)] = step.value;
            return choose(std::move(next));
        case Kind::temperature:
            next.temperature = 0.25F + std::abs(step.value);
            return choose(std::move(next));
        case Kind::mask:
            next.mask = static_cast<project::MaskChoice>(step.a % 4);
            return choose(std::move(next));
        case Kind::sentence:
            if (next.sentence == sentences[static_cast<std::size_t>(step.c) % sentences.size()])
                return; // the numbers of X stay as they were edited
            next.sentence = sentences[static_cast<std::size_t>(step.c) % sentences.size()];
            next.numbers[TensorId::x] = Plain::built(next.sentence).numbers[TensorId::x];
            return push(std::move(next));
        case Kind::reset: {
            const project::MaskChoice mask = next.mask;
            next = Plain::built(next.sentence);
            next.mask = mask;
            return push(std::move(next));
        }
        case Kind::undo:
            position -= position > 0 ? 1 : 0;
            return;
        case Kind::redo:
            position += position + 1 < states.size() ? 1 : 0;
            return;
        case Kind::save:
            file = clean = now();
            return;
        case Kind::load:
            if (file)
                begin_with(*file, true);
            return;
        case Kind::kill: // recovers unsaved work; without it the program opens as usual
            if (unsaved())
                begin_with(Plain(now()), false);
            else
                begin_with(Plain::built(sentences[0]), true);
            return;
        case Kind::not_a_number:
        case Kind::no_such_head:
            return; // refused
        }
    }
};

Plain plain_of(const Document& document) {
    Plain plain;
    const Problem& problem = document.problem;
    plain.sentence = document.recipe.sentence;
    for (const TensorId id : matrices) {
        const auto values = problem.input(id)->values();
        plain.numbers[id].assign(values.begin(), values.end());
    }
    for (std::int64_t h = 0; h < H; ++h)
        plain.gains[static_cast<std::size_t>(h)] = problem.gain(h);
    plain.temperature = problem.temperature;
    plain.mask = document.recipe.mask;
    return plain;
}

void drive(Program& program, const Act& step, const std::string& file, bool saved_before) {
    const auto command = [&](const Command& what) { program.act(what); };
    switch (step.kind) {
    case Kind::cell: {
        const TensorId id = matrices[static_cast<std::size_t>(step.c)];
        const Index at = id == TensorId::x ? Index{0, step.a, step.b, 0} : Index{step.a, step.b, 0, 0};
        return command(EditCell{{id, at}, step.value});
    }
    case Kind::not_a_number:
        return command(EditCell{{TensorId::W_O, {step.a, step.b, 0, 0}}, std::nanf("")});
    case Kind::zero_rows:
        return command(EditBlock{{TensorId::W_O, {step.a, 0, 0, 0}, dk, D}, Zero{}});
    case Kind::copy_head:
        return command(CopyHead{0, 1});
    case Kind::gain:
        return command(SetGain{step.a % H, step.value});
    case Kind::no_such_head:
        return command(SetGain{H + step.a, step.value});
    case Kind::temperature:
        return command(SetTemperature{0.25F + std::abs(step.value)});
    case Kind::mask:
        return command(SetMask{static_cast<project::MaskChoice>(step.a % 4)});
    case Kind::sentence:
        return command(SetSentence{sentences[static_cast<std::size_t>(step.c) % sentences.size()]});
    case Kind::reset:
        return command(ResetEdits{});
    case Kind::undo:
        return program.act(MoveInHistory{-1});
    case Kind::redo:
        return program.act(MoveInHistory{1});
    case Kind::save:
        program.act(SaveProjectAs{});
        program.act(ChosenPath{file});
        return program.settle();
    case Kind::load:
        if (!saved_before)
            return;
        program.open_path(file);
        if (program.state().files.question)
            program.act(AnswerUnsaved{UnsavedAnswer::discard});
        return program.settle();
    case Kind::kill:
        return;
    }
}

/// One run of the program, from its start to the step that kills it. Returns the number of the step after
/// which the document was not what the model says, or -1.
int live(const std::vector<Act>& steps, std::size_t first, std::size_t end, LastKnown model, bool recover,
         const TemporaryFolder& folder) {
    project::Recipe recipe;
    recipe.sentence = sentences[0];
    Program program({.recipe = recipe, .device = "cpu", .state_folder = folder.file("state")});
    const auto& offers = program.state().files.recoveries;
    if (offers.size() != (recover ? 1U : 0U))
        return static_cast<int>(first);
    if (recover)
        program.act(RecoverProject{offers.front().path});
    program.settle();
    if (!(plain_of(*program.state().document) == model.now()))
        return static_cast<int>(first);
    for (std::size_t i = first; i < end; ++i) {
        program.act(AnswerQuestion{0, 0}); // without a lesson it only ends the previous gesture
        drive(program, steps[i], folder.file("saved.headscope"), model.file.has_value());
        model.take(steps[i]);
        if (!(plain_of(*program.state().document) == model.now()))
            return static_cast<int>(i);
    }
    program.settle(); // all notes have reached the disk
    ::kill(::getpid(), SIGKILL);
    return -1;
}

Act any_act() {
    Act step{.kind = static_cast<Kind>(*rc::gen::weightedElement<int>({{6, 0},
                                                                       {1, 1},
                                                                       {2, 2},
                                                                       {2, 3},
                                                                       {3, 4},
                                                                       {1, 5},
                                                                       {2, 6},
                                                                       {2, 7},
                                                                       {2, 8},
                                                                       {1, 9},
                                                                       {6, 10},
                                                                       {4, 11},
                                                                       {3, 12},
                                                                       {2, 13},
                                                                       {2, 14}}))};
    step.c = *rc::gen::inRange<std::int64_t>(0, 5);
    step.a = *rc::gen::inRange<std::int64_t>(0, 3); // rows that every sentence and block has
    step.b = *rc::gen::inRange<std::int64_t>(0, D);
    step.value = static_cast<float>(*rc::gen::inRange(-300, 300)) / 128;
    return step;
}

} // namespace

TEST_CASE("through edits, undo, saving, loading and kills the document is what a model of it says",
          "[life]") {
    const bool held = rc::check([] {
        const auto steps = *rc::gen::container<std::vector<Act>>(
            *rc::gen::inRange(std::size_t{1}, std::size_t{40}), rc::gen::exec(any_act));
        const TemporaryFolder folder;
        LastKnown model;
        bool recover = false;
        for (std::size_t first = 0; first < steps.size();) {
            std::size_t end = first;
            while (end < steps.size() && steps[end].kind != Kind::kill)
                ++end;
            const pid_t child = ::fork();
            if (child == 0) {
                const int wrong = live(steps, first, end, model, recover, folder);
                ::_exit(wrong < 0 ? 0 : 100 + std::min(wrong, 100));
            }
            int status = 0;
            RC_ASSERT(::waitpid(child, &status, 0) == child);
            for (std::size_t i = first; i < end; ++i)
                model.take(steps[i]);
            recover = model.unsaved();
            model.take({.kind = Kind::kill});
            // A run that went well ends by the kill; any other end names the step.
            if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
                RC_FAIL("step " + std::to_string(WEXITSTATUS(status) - 100) + " left another document");
            first = end + 1;
        }
    });
    CHECK(held);
}
