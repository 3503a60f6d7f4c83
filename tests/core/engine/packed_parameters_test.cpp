#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/packed_parameters.h"
#include "core/tensor/free_buffers.h"
#include "tests/catch.h"
#include "tests/conformance/generate.h"
#include "tests/support.h"
#include "tests/tensors.h"

#include <vector>

using namespace headscope;
using namespace headscope::engine;

namespace {

TensorPtr matrix(std::int64_t rows, std::int64_t cols) {
    Numbers numbers(5);
    return numbers.tensor({rows, cols}, 1);
}

} // namespace

TEST_CASE("packing fills the last panel up with zeros and touches nothing else") {
    for (const char* id : {"avx512", "avx2", "baseline"}) {
        const cpu::Kernels* const kernels = cpu::find_kernels(id);
        if (kernels == nullptr)
            continue;
        INFO(kernels->name);
        for (std::int64_t cols = 1; cols <= 2 * kernels->panel + 1; ++cols) {
            constexpr std::int64_t rows = 3;
            const TensorPtr W = matrix(rows, cols);
            const std::int64_t whole = cpu::whole_panels(*kernels, cols);
            std::vector<float> out(static_cast<std::size_t>(rows * whole + 1), 7.0F);
            kernels->pack(W->data(), cols, rows, cols, out.data());
            bool right = out.back() == 7.0F;
            for (std::int64_t r = 0; r < rows; ++r)
                for (std::int64_t c = 0; c < whole; ++c) {
                    const std::int64_t at =
                        (c / kernels->panel * rows + r) * kernels->panel + c % kernels->panel;
                    right = right && out[static_cast<std::size_t>(at)] == (c < cols ? W->at(r, c) : 0.0F);
                }
            CHECK(right);
        }
    }
}

TEST_CASE("a matrix is kept from its second use on, while it lives and the budget lasts") {
    const cpu::Kernels& kernels = cpu::best_kernels();
    constexpr std::size_t bytes = 64 * 64 * sizeof(float);
    cpu::PackedParameters kept(bytes);
    TensorPtr W = matrix(64, 64);
    const TensorPtr other = matrix(64, 64), tiny = matrix(8, 8);
    CHECK(kept.find(kernels, W).panels == nullptr);
    CHECK(kept.find(kernels, other).panels == nullptr);
    const auto place = kept.find(kernels, W);
    CHECK(place.panels != nullptr);
    CHECK(place.fill);
    CHECK(kept.find(kernels, W).panels == place.panels);
    CHECK_FALSE(kept.find(kernels, W).fill);
    CHECK(kept.find(kernels, other).panels == nullptr);
    W.reset();
    CHECK(kept.find(kernels, matrix(64, 64)).panels == nullptr);
    CHECK(kept.find(kernels, other).fill);
    for (int use = 0; use < 3; ++use)
        CHECK(kept.find(kernels, tiny).panels == nullptr);
}

TEST_CASE("panels of a matrix that is gone go when the program rests") {
    const cpu::Kernels& kernels = cpu::best_kernels();
    cpu::PackedParameters kept(64 * 64 * sizeof(float));
    TensorPtr W = matrix(64, 64);
    const TensorPtr other = matrix(64, 64);
    kept.find(kernels, other);
    kept.find(kernels, W);
    REQUIRE(kept.find(kernels, W).fill);
    release_free_buffers();
    CHECK_FALSE(kept.find(kernels, W).fill); // somebody holds it
    W.reset();
    release_free_buffers();
    CHECK(kept.find(kernels, other).fill); // there is room again
}

TEST_CASE("runs with kept weights give the bits of a first run, also after edits and for some heads") {
    Numbers numbers(17);
    const std::vector<Dims> sizes{
        {.B = 2, .Tq = 5, .Tk = 5, .D = 96, .Dkv = 96, .H = 3, .Hkv = 1, .dk = 40, .dv = 33},
        {.B = 1, .Tq = 30, .Tk = 30, .D = 128, .Dkv = 128, .H = 4, .Hkv = 4, .dk = 32, .dv = 32},
        {.B = 1, .Tq = 3, .Tk = 3, .D = 1100, .Dkv = 1100, .H = 2, .Hkv = 2, .dk = 16, .dv = 16}};
    for (const Dims& dims : sizes) {
        Problem problem = generate(dims, {.biases = true, .gains = false}, numbers, false);
        cpu::CpuEngine engine(2);
        Trace last = engine.run(problem);
        for (int step = 0; step < 4; ++step) {
            const Problem before = problem;
            TensorPtr& W = step % 2 == 0 ? problem.weights.W_K : problem.weights.W_O;
            Tensor changed(W->shape(), W->values());
            changed.data()[step * 7] += 0.25F;
            W = std::make_shared<const Tensor>(std::move(changed));
            const Trace again = engine.run(problem);
            Progress progress;
            const Trace some = engine.rerun(problem, before, last, progress);
            const Trace fresh = cpu::CpuEngine(1).run(problem);
            for (const TensorInfo& info : stages_of()) {
                INFO(info.name << ", D " << dims.D << ", step " << step);
                CHECK(same_bits(*fresh.stage(info.id), *again.stage(info.id)));
                CHECK(same_bits(*fresh.stage(info.id), *some.stage(info.id)));
            }
            last = again;
        }
    }
}
