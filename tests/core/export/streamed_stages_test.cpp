#include "core/base/file.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/export/model_export.h"
#include "core/export/streamed_stages.h"
#include "core/format/safetensors.h"
#include "tests/catch.h"
#include "tests/conformance/generate.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <filesystem>
#include <map>

namespace headscope::test {

using namespace headscope::exporting;

namespace {

void check_same(const format::Safetensors& a, const format::Safetensors& b) {
    REQUIRE(a.entries().size() == b.entries().size());
    for (const auto& entry : a.entries()) {
        INFO(entry.name);
        REQUIRE(b.has(entry.name));
        if (entry.dtype != "F32")
            continue;
        const TensorPtr x = a.tensor(entry.name), y = b.tensor(entry.name);
        REQUIRE(x->shape() == y->shape());
        for (std::int64_t n = 0; n < x->count(); ++n)
            REQUIRE(x->data()[n] == Approx(y->data()[n]).margin(1e-6));
    }
}

} // namespace

TEST_CASE("stages and logits that are made while the file is written are those of a kept pass", "[model]") {
    for (const char* const name :
         {"gpt2_tiny", "llama_tiny_untied", "bert_tiny", "gemma2_tiny", "bloom_tiny"}) {
        INFO(name);
        const Model model = Model::open(test_data("/models/") + std::string(name));
        const ModelInputs inputs = first_text(name);
        for (const std::optional<std::int64_t> head :
             {std::optional<std::int64_t>(), std::optional<std::int64_t>(1)}) {
            const TraceExport wanted{.stages = StageSet()
                                                   .with(TensorId::masked)
                                                   .with(TensorId::weights)
                                                   .with(TensorId::weights_mean)
                                                   .with(TensorId::output),
                                     .head = head};
            ForwardOptions options;
            options.stages = wanted.stages;
            options.edits[1].gains = std::vector<float>(static_cast<std::size_t>(model.config().H), 0.5F);
            options.temperature = 2;
            const ForwardResult whole = run_on_cpu(model, inputs, options);
            options.stages = without_streamed(wanted.stages);
            options.keep_problems = true;
            options.logits = false;
            const ForwardResult little = run_on_cpu(model, inputs, options);
            CHECK(little.layers.front().trace.stage(TensorId::weights) == nullptr);
            const TemporaryFolder folder;
            export_model_trace(model, inputs, whole, wanted, folder.file("whole.safetensors"));
            export_model_trace(model, inputs, little, wanted, folder.file("little.safetensors"));
            check_same(format::Safetensors::open(folder.file("whole.safetensors")),
                       format::Safetensors::open(folder.file("little.safetensors")));
        }
    }
}

TEST_CASE("stages are left to the writing where they are large or do not fit into memory") {
    using enum TensorId;
    const Dims small{.B = 1, .Tq = 64, .Tk = 64, .D = 64, .H = 4},
        large{.B = 1, .Tq = 20000, .Tk = 20000, .H = 1}, mean{.B = 1, .Tq = 64, .Tk = 64, .H = 20000},
        wide{.B = 1, .Tq = 20000, .Tk = 1, .D = 4096, .H = 1};
    TraceExport wanted;
    CHECK(kept_stages(small, wanted) == wanted.stages);
    CHECK(kept_stages(large, wanted) == without_streamed(wanted.stages));
    wanted.stages = StageSet().with(scores).with(scaled).with(masked).with(weights).with(output);
    for (const TraceFormat format : {TraceFormat::safetensors, TraceFormat::npy, TraceFormat::json}) {
        wanted.format = format;
        CHECK(kept_stages(large, wanted) == StageSet().with(output));
    }
    wanted.stages = StageSet().with(weights_mean).with(q);
    CHECK(kept_stages(mean, wanted) == StageSet().with(q)); // the weights of all heads would be kept for it
    wanted.stages = StageSet().with(contributions).with(q);
    CHECK(kept_stages(wide, wanted) == StageSet().with(q));
}

TEST_CASE("a file whose disk has no room for it is refused before it is begun") {
    const Dims endless{.B = 1, .Tq = 100'000'000, .Tk = 100'000'000, .D = 64, .H = 1};
    const TraceExport wanted{.stages = StageSet().with(TensorId::weights)};
    const TemporaryFolder folder;
    for (const std::string& path : {folder.file("a.safetensors"), folder.file("new/deeper/")})
        CHECK_THROWS_WITH(require_room_for(endless, wanted, path),
                          Catch::Contains("needs at least 40000000.0 GB of disk space, and") &&
                              Catch::Contains("GB are free there"));
    for (const char* const path : {"-", "/dev/null"})
        CHECK_NOTHROW(require_room_for(endless, wanted, path));
}

namespace {

/// Returns the bytes of a file, or of the files in a folder, by name.
std::map<std::string, std::string> written(const std::string& path) {
    if (!std::filesystem::is_directory(path))
        return {{"", read_file(path)}};
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(path))
        files[entry.path().filename().string()] = read_file(entry.path().string());
    return files;
}

} // namespace

TEST_CASE("every format holds the same bytes, whether stages were kept or made while it was written") {
    constexpr Dims dims{.B = 2, .Tq = 31, .Tk = 37, .D = 12, .Dkv = 12, .H = 4, .Hkv = 2, .dk = 3, .dv = 3};
    Numbers numbers(51);
    Problem problem = generate(dims, {.biases = true, .sink = true}, numbers, true);
    problem.mask = {SlidingWindowCausalMask{2}, KeyPaddingMask{numbers.bools({2, 37}, 50)},
                    AdditiveMask{numbers.tensor({4, 31, 37}, 1)}};
    cpu::CpuEngine engine(1);
    Progress progress;
    const Trace whole = engine.run(problem),
                little = engine.run(problem, without_streamed(StageSet::all()), progress);
    CHECK(little.stage(TensorId::scores) == nullptr);
    CHECK_FALSE(whole.fully_masked.empty());
    const TemporaryFolder folder;
    for (const TraceFormat format :
         {TraceFormat::safetensors, TraceFormat::npy, TraceFormat::csv, TraceFormat::tsv, TraceFormat::json})
        for (const std::optional<std::int64_t> head :
             {std::optional<std::int64_t>(), std::optional<std::int64_t>(3)}) {
            const TraceExport wanted{.format = format, .head = head};
            export_trace(problem, whole, wanted, folder.file("whole"));
            export_trace(problem, little, wanted, folder.file("little"));
            CHECK(written(folder.file("whole")) == written(folder.file("little")));
            std::filesystem::remove_all(folder.file("whole"));
            std::filesystem::remove_all(folder.file("little"));
        }
    CHECK_THROWS_WITH(export_trace(problem, little, {.head = 4}, folder.file("a")),
                      Catch::Contains("numbered 0 to 3"));
    CHECK(folder.entries() == 0);
}

TEST_CASE("a cancelled run leaves no file and no folder, and what was there stays") {
    constexpr Dims dims{.B = 1, .Tq = 40, .Tk = 40, .D = 8, .Dkv = 8, .H = 2, .Hkv = 2, .dk = 4, .dv = 4};
    Numbers numbers(52);
    const Problem problem = generate(dims, {}, numbers);
    Progress progress;
    const Trace little = cpu::CpuEngine(1).run(problem, without_streamed(StageSet::all()), progress);
    const TemporaryFolder folder;
    write_file_atomically(folder.file("old"), "old");
    progress.cancel();
    CHECK(error_kind([&] { export_trace(problem, little, {}, folder.file("old"), progress); }) ==
          ErrorKind::cancelled);
    CHECK(error_kind([&] {
              export_trace(problem, little, {.format = TraceFormat::npy}, folder.file("new"), progress);
          }) == ErrorKind::cancelled);
    CHECK(read_file(folder.file("old")) == "old");
    CHECK(folder.entries() == 1);
}

TEST_CASE("a file whose numbers cannot be made is not there") {
    const TemporaryFolder folder;
    format::SafetensorsWriter writer;
    writer.add_generated("a", Shape{3}, [](const format::SafetensorsWriter::NumberSink& sink) {
        sink(std::vector<float>{1, 2});
    });
    const auto write = [&] {
        write_file_atomically(folder.file("a"), [&](const ByteSink& sink) { writer.write_to(sink); });
    };
    CHECK_THROWS_WITH(write(), Catch::Contains("another count of numbers"));
    CHECK(folder.entries() == 0);
}

} // namespace headscope::test
