#include "core/checkpoint/checks/reference_check.h"
#include "core/checkpoint/run/forward.h"
#include "tests/catch.h"
#include "tests/test_data.h"
#include "tests/vulkan/support.h"

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
        const std::string& family = model.config().family;
        const bool has_kernels = !family.starts_with("deberta");
        REQUIRE_FALSE(run.layers.empty());
        CHECK(run.layers.front().trace.device == (has_kernels ? "vulkan:0" : "cpu"));
    }
}
