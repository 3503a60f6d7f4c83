#include "core/checkpoint/checks/reference_check.h"
#include "core/checkpoint/run/forward.h"
#include "tests/catch.h"
#include "tests/test_data.h"
#include "tests/vulkan/support.h"

#include <algorithm>
#include <filesystem>
#include <memory>

using namespace headscope;

TEST_CASE("the Vulkan engine meets Hugging Face's numbers of encoder, decoder and cross-attention") {
    Validated validated;
    const std::unique_ptr<vulkan::VulkanBackend> backend = vulkan_backend(validated.options);
    for (const char* name : {"t5_tiny", "bart_tiny", "marian_tiny"}) {
        INFO(name);
        const std::string folder = test_data("/models/") + name;
        Progress progress;
        const auto rows = checkpoint::check_against(
            checkpoint::Model::open(folder), format::Safetensors::open(folder + "/expected.safetensors"),
            backend.get(), progress);
        CHECK(rows.size() == 13);
        for (const checkpoint::ReferenceRow& row : rows) {
            INFO(row.kind << " " << row.layer.value_or(-1));
            CHECK(row.difference < row.allowed);
        }
    }
    CHECK(validated.messages.empty());
}

TEST_CASE("the Vulkan engine meets Hugging Face's numbers of decoders that read both ways") {
    Validated validated;
    const std::unique_ptr<vulkan::VulkanBackend> backend = vulkan_backend(validated.options);
    for (const char* name : {"phi3_not_causal", "bidirectional_gemma3"}) {
        INFO(name);
        const std::string folder = test_data("/files/") + name;
        Progress progress;
        const auto rows = checkpoint::check_against(
            checkpoint::Model::open(folder), format::Safetensors::open(folder + "/reference.safetensors"),
            backend.get(), progress);
        CHECK(rows.size() == 10); // attention of 4 layers, 5 hidden states, logits
        for (const checkpoint::ReferenceRow& row : rows) {
            INFO(row.kind << " " << row.layer.value_or(-1));
            CHECK(row.difference < row.allowed);
        }
    }
    CHECK(validated.messages.empty());
}

TEST_CASE("the Vulkan engine meets Hugging Face's numbers of every family that is here") {
    const std::unique_ptr<vulkan::VulkanBackend> backend = vulkan_backend();
    for (const auto& entry : std::filesystem::directory_iterator(test_data("/models"))) {
        const std::string folder = entry.path().string();
        if (!entry.is_directory())
            continue;
        INFO(folder);
        const checkpoint::Model model = checkpoint::Model::open(folder);
        const format::Safetensors expected = format::Safetensors::open(folder + "/expected.safetensors");
        Progress progress;
        for (const checkpoint::ReferenceRow& row :
             checkpoint::check_against(model, expected, backend.get(), progress)) {
            INFO(row.kind << " " << row.layer.value_or(-1) << " " << row.difference);
            CHECK(row.agrees());
        }
        const checkpoint::ForwardResult run =
            checkpoint::run_model(model, checkpoint::read_model_inputs(expected),
                                  {.stages = StageSet().with(TensorId::weights)}, backend.get(), progress);
        const auto on_device = std::ranges::count_if(
            run.layers, [](const checkpoint::LayerRun& layer) { return layer.trace.device == "vulkan:0"; });
        const std::string& family = model.config().family;
        if (family.starts_with("deberta"))
            CHECK(on_device == 0);
        else if (family == "llama4_text") // has layers with masks of chunks and others
            CHECK((on_device > 0 && on_device < std::ssize(run.layers)));
        else
            CHECK(on_device == std::ssize(run.layers));
    }
}

TEST_CASE("of a model with gates, the layers say what the CPU computes") {
    const std::string folder = test_data("/models/qwen3_next_tiny");
    if (!std::filesystem::exists(folder))
        return; // not among the cases of a device check
    const std::unique_ptr<vulkan::VulkanBackend> backend = vulkan_backend();
    Progress progress;
    const checkpoint::ForwardResult run = checkpoint::run_model(
        checkpoint::Model::open(folder),
        checkpoint::read_model_inputs(format::Safetensors::open(folder + "/expected.safetensors")),
        {.stages = StageSet().with(TensorId::x).with(TensorId::weights).with(TensorId::output)},
        backend.get(), progress);
    REQUIRE_FALSE(run.layers.empty());
    CHECK(run.layers.front().trace.device == "vulkan:0");
    CHECK(run.layers.front().trace.left_to_cpu == StageSet().with(TensorId::output));
}
