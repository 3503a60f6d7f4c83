#include "core/base/file.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/export/model_export.h"
#include "core/export/streamed_weights.h"
#include "core/format/safetensors.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

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

TEST_CASE("weights and logits that are made while the file is written are those of a kept pass", "[model]") {
    for (const char* const name :
         {"gpt2_tiny", "llama_tiny_untied", "bert_tiny", "gemma2_tiny", "bloom_tiny"}) {
        INFO(name);
        const Model model = Model::open(test_data("/models/") + std::string(name));
        const ModelInputs inputs = first_text(name);
        for (const std::optional<std::int64_t> head :
             {std::optional<std::int64_t>(), std::optional<std::int64_t>(1)}) {
            const TraceExport wanted{.stages = StageSet().with(TensorId::weights).with(TensorId::output),
                                     .head = head};
            ForwardOptions options;
            options.stages = wanted.stages;
            options.edits[1].gains =
                std::vector<float>(static_cast<std::size_t>(model.architecture().H), 0.5F);
            options.temperature = 2;
            const ForwardResult whole = run_on_cpu(model, inputs, options);
            options.stages = without_weights(wanted.stages);
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

TEST_CASE("weights are left to the writing where they are large and the format takes them in parts") {
    const Dims small{.B = 1, .Tq = 64, .Tk = 64, .D = 64, .H = 4},
        large{.B = 1, .Tq = 20000, .Tk = 20000, .H = 1};
    const TemporaryFolder folder;
    const std::string path = folder.file("a.safetensors");
    TraceExport wanted;
    CHECK(kept_stages(small, wanted, path) == wanted.stages);
    wanted.stages = StageSet().with(TensorId::weights).with(TensorId::output);
    CHECK(kept_stages(large, wanted, path) == StageSet().with(TensorId::output));
    CHECK(kept_stages(large, wanted, "-") == wanted.stages);
    const Dims endless{.B = 1, .Tq = 100'000'000, .Tk = 100'000'000, .D = 64, .H = 1};
    CHECK(kept_stages(endless, wanted, path) == wanted.stages);
    wanted.format = TraceFormat::json;
    CHECK(kept_stages(large, wanted, path) == wanted.stages);
    wanted.format = TraceFormat::safetensors;
    wanted.stages = wanted.stages.with(TensorId::weights_mean);
    CHECK(kept_stages(large, wanted, path) == wanted.stages);
}

TEST_CASE("a file whose numbers cannot be made is not there") {
    const TemporaryFolder folder;
    format::SafetensorsWriter writer;
    writer.add_made("a", Shape{3}, [](const format::SafetensorsWriter::NumberSink& sink) {
        sink(std::vector<float>{1, 2});
    });
    const auto write = [&] {
        write_file_atomically(folder.file("a"), [&](const ByteSink& sink) { writer.write_to(sink); });
    };
    CHECK_THROWS_WITH(write(), Catch::Contains("another count of numbers"));
    CHECK(folder.entries() == 0);
}

} // namespace headscope::test
