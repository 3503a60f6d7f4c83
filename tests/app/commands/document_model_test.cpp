// Random commands against a simple model of the document: plain numbers, changed by the definition of each
// command. HEADSCOPE_RANDOM_COMMANDS commands (default 2000) from HEADSCOPE_RANDOM_SEED (default 1) on.
#include "app/commands/command.h"
#include "app/commands/history.h"
#include "core/base/error.h"
#include "core/project/project_file.h"
#include "tests/app/support/first_lesson_size.h"
#include "tests/catch.h"

#include <array>
#include <cstdlib>
#include <random>

using namespace headscope;
using namespace headscope::app;
using namespace headscope::test::first_lesson_size;

namespace {

constexpr std::array tensors{TensorId::x, TensorId::W_Q, TensorId::W_K, TensorId::W_V, TensorId::W_O};

struct Edited {
    std::array<std::vector<float>, tensors.size()> of; ///< rows of D numbers
    std::array<float, H> gains{1, 1};
    float temperature = 1;
    std::array<bool, static_cast<std::size_t>(H* T* T)> allowed{};
    bool operator==(const Edited&) const = default;

    float& at(std::size_t tensor, std::int64_t row, std::int64_t col) {
        return of[tensor][static_cast<std::size_t>(row * D + col)];
    }
    std::int64_t rows(std::size_t tensor) const { return std::ssize(of[tensor]) / D; }
    bool holds(std::size_t tensor, std::int64_t row, std::int64_t col, std::int64_t height,
               std::int64_t breadth) const {
        return row >= 0 && col >= 0 && height >= 1 && breadth >= 1 && row + height <= rows(tensor) &&
               col + breadth <= D;
    }
};

Edited numbers_of(const Problem& problem) {
    Edited out;
    for (std::size_t t = 0; t < tensors.size(); ++t)
        out.of[t] = {problem.input(tensors[t])->values().begin(), problem.input(tensors[t])->values().end()};
    const MaskRows mask(problem.mask, problem.dims);
    std::size_t next = 0;
    for (std::int64_t h = 0; h < H; ++h) {
        out.gains[static_cast<std::size_t>(h)] = problem.gain(h);
        for (std::int64_t i = 0; i < T; ++i)
            for (std::int64_t j = 0; j < T; ++j)
                out.allowed[next++] = mask.allows(0, h, i, j);
    }
    out.temperature = problem.temperature;
    return out;
}

/// Head `from` of `source` in place of head `to`.
void put_head(Edited& numbers, std::int64_t to, const Edited& source, std::int64_t from) {
    Edited other = source;
    for (std::int64_t n = 0; n < dk; ++n)
        for (std::int64_t d = 0; d < D; ++d) {
            for (std::size_t t = 1; t <= 3; ++t) // W_Q, W_K, W_V
                numbers.at(t, d, to * dk + n) = other.at(t, d, from * dk + n);
            numbers.at(4, to * dk + n, d) = other.at(4, from * dk + n, d);
        }
    numbers.gains[static_cast<std::size_t>(to)] = source.gains[static_cast<std::size_t>(from)];
}

/// A command, and the numbers after it; nothing where it has to be refused.
struct Step {
    Command command;
    std::optional<Edited> after;
};

class Commander {
public:
    Commander(std::uint32_t seed, Edited first) : random_(seed), first_(std::move(first)) {}

    std::int64_t any(std::int64_t from, std::int64_t to) {
        return from + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(to - from + 1));
    }

    Step step(const Edited& now) {
        switch (any(0, 11)) {
        case 0:
            return gain(now);
        case 1:
            return temperature(now);
        case 2:
        case 3:
            return paint(now);
        case 4:
            return any(0, 9) == 0 ? whole_mask(now) : paint(now);
        case 5:
            return any(0, 9) == 0 ? Step{ResetEdits{}, first_} : paste(now);
        case 6:
            return pair(now);
        case 7:
            return reset_head(now);
        default:
            return block(now);
        }
    }

private:
    float number() { return static_cast<float>(any(-400, 400)) / 100; }

    Step gain(Edited now) {
        const std::int64_t h = any(-1, H);
        const float gain = static_cast<float>(any(0, 8)) / 4;
        const Command command = SetGain{h, gain};
        if (h < 0 || h >= H)
            return {command, std::nullopt};
        now.gains[static_cast<std::size_t>(h)] = gain;
        return {command, now};
    }

    Step temperature(Edited now) {
        now.temperature = static_cast<float>(any(-1, 8)) / 4;
        return {SetTemperature{now.temperature}, now.temperature > 0 ? std::optional(now) : std::nullopt};
    }

    Step paint(Edited now) {
        const std::int64_t head = any(-2, H), i = any(-1, T), j = any(-1, T);
        const bool allowed = any(0, 1) == 1;
        const Command command = PaintMask{0, head, i, j, allowed};
        if (head < -1 || head >= H || i < 0 || i >= T || j < 0 || j >= T)
            return {command, std::nullopt};
        for (std::int64_t h = 0; h < H; ++h)
            if (head < 0 || h == head)
                now.allowed[static_cast<std::size_t>((h * T + i) * T + j)] = allowed;
        return {command, now};
    }

    Step whole_mask(Edited now) const {
        now.allowed = first_.allowed;
        return {ResetMask{}, now};
    }

    Step pair(const Edited& now) {
        const std::int64_t a = any(-1, H), b = any(-1, H);
        const bool swap = any(0, 1) == 1;
        const Command command = swap ? Command(SwapHeads{a, b}) : Command(CopyHead{a, b});
        if (a == b || std::min(a, b) < 0 || std::max(a, b) >= H)
            return {command, std::nullopt};
        Edited after = now;
        put_head(after, b, now, a);
        if (swap)
            put_head(after, a, now, b);
        return {command, after};
    }

    Step reset_head(Edited now) {
        const std::int64_t h = any(-1, H);
        if (h < 0 || h >= H)
            return {ResetHead{h}, std::nullopt};
        put_head(now, h, first_, h);
        return {ResetHead{h}, now};
    }

    struct Place {
        std::size_t tensor;
        std::int64_t row, col;
        CellAddress cell() const {
            return tensor == 0 ? CellAddress{tensors[tensor], {0, row, col, 0}}
                               : CellAddress{tensors[tensor], {row, col, 0, 0}};
        }
    };
    Place place() { return {static_cast<std::size_t>(any(0, 4)), any(-1, D), any(-1, D)}; }

    Step paste(Edited now) {
        const Place at = place();
        std::vector<float> values(4);
        std::ranges::generate(values, [&] { return number(); });
        const Command command = PasteBlock{at.cell(), {2, 2, values}};
        if (!now.holds(at.tensor, at.row, at.col, 2, 2))
            return {command, std::nullopt};
        for (std::int64_t n = 0; n < 4; ++n)
            now.at(at.tensor, at.row + n / 2, at.col + n % 2) = values[static_cast<std::size_t>(n)];
        return {command, now};
    }

    Step block(Edited now) {
        const Place at = place();
        const std::int64_t height = any(0, 3), breadth = any(0, 3), kind = any(0, 4);
        const float value = number();
        const Command command = kind == 0
                                    ? Command(EditCell{at.cell(), value})
                                    : Command(EditBlock{{at.cell().tensor, at.cell().at, height, breadth},
                                                        operation(kind, value)});
        const std::int64_t rows = kind == 0 ? 1 : height, cols = kind == 0 ? 1 : breadth;
        if (!now.holds(at.tensor, at.row, at.col, rows, cols))
            return {command, std::nullopt};
        for (std::int64_t row = 0; row < rows; ++row)
            for (std::int64_t col = 0; col < cols; ++col) {
                float& one = now.at(at.tensor, at.row + row, at.col + col);
                one = kind <= 1   ? value
                      : kind == 2 ? one * value / 4
                      : kind == 3 ? 0
                                  : static_cast<float>(row == col);
            }
        return {command, now};
    }

    static BlockOperation operation(std::int64_t kind, float value) {
        switch (kind) {
        case 1:
            return SetTo{value};
        case 2:
            return ScaleBy{value / 4};
        case 3:
            return Zero{};
        default:
            return MakeIdentity{};
        }
    }

    std::mt19937 random_;
    const Edited first_;
};

std::uint32_t number_of(const char* variable, std::uint32_t otherwise) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? otherwise : static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
}

DocumentPtr saved_and_opened(const Document& document) {
    const std::string bytes = project::project_bytes(document.recipe, document.problem);
    return make_document(project::parse_project(bytes, "p").recipe, document.revision + 1);
}

} // namespace

TEST_CASE("random commands, undone, redone, saved and opened, do what a simple model does", "[commands]") {
    const std::uint32_t count = number_of("HEADSCOPE_RANDOM_COMMANDS", 2000);
    project::Recipe recipe;
    recipe.sentence = "The cat sat down";
    DocumentPtr document = make_document(recipe, 1);
    History history(document, 1'000'000); // so that old states are dropped
    std::vector<Edited> model{numbers_of(document->problem)};
    std::size_t position = 0, dropped = 0;
    Commander commander(number_of("HEADSCOPE_RANDOM_SEED", 1), model.front());
    for (std::uint32_t n = 0; n < count; ++n) {
        CAPTURE(n);
        const std::int64_t turn = commander.any(0, 19);
        if (turn < 4) { // undo or redo
            const std::int64_t by = commander.any(-4, 4);
            document = history.move(by);
            position = static_cast<std::size_t>(
                std::clamp<std::int64_t>(static_cast<std::int64_t>(position) + by, 0, std::ssize(model) - 1));
        } else {
            Step step{ResetMask{}, model[position]};
            if (turn > 4)
                step = commander.step(model[position]);
            DocumentPtr next;
            try {
                next = turn == 4 ? saved_and_opened(*document) : app::apply(document, step.command);
            } catch (const Error& fault) {
                CAPTURE(fault.what());
                REQUIRE(fault.kind() == ErrorKind::input);
            }
            REQUIRE((next != nullptr) == step.after.has_value());
            if (next != nullptr) {
                document = next;
                history.push({document, "a step", {}, {}, n + 1});
                model.resize(position + 1);
                model.push_back(*step.after);
                const auto gone = static_cast<std::ptrdiff_t>(history.dropped() - dropped);
                model.erase(model.begin(), model.begin() + gone);
                dropped = history.dropped();
                position = model.size() - 1;
            }
        }
        REQUIRE(history.states().size() == model.size());
        REQUIRE(history.position() == position);
        REQUIRE(numbers_of(document->problem) == model[position]);
    }
}
